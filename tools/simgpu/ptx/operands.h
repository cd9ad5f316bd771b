/// \file
/// Operands of instructions. Source: PTX ISA, chapter 6.
#pragma once

#include "tools/simgpu/ptx/words.h"

namespace simgpu::ptx {

Operand parse_operand(Words& words);

}  // namespace simgpu::ptx
