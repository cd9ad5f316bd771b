/// \file
/// What arithmetic of PTX gives, by its opcode, worked out with exact integers.
#pragma once

#include "tests/simgpu/lane_cases.h"

namespace simgpu {

/// The result of add, sub, mul, fma, mad, div, rcp, sqrt, abs, neg, min, max or copysign with its
/// modifiers on `count` numbers of a format; a NaN is the canonical one.
std::uint64_t expected_number(const OpcodeName& name, const exact::Layout& layout, Operands values,
                              std::size_t count);

}  // namespace simgpu
