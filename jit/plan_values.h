/// \file
/// Which values the operations of a Plan read and give.
#pragma once

#include <string>
#include <vector>

#include "jit/plan.h"

namespace sinter::jit {

inline std::uint32_t result_count_of(const Plan& plan, PrimitiveId i) {
  const std::uint32_t end =
      i + 1 < plan.first_value.size() ? plan.first_value[i + 1] : plan.value_count;
  return end - plan.first_value[i];
}

/// What an operation with generated kernels is called: the name of the first loop, of a fold that
/// of the last.
const std::string& name_of(const Plan& plan, const Operation& operation);

/// The operands of an operation, in order; one that is read in several ways comes several times.
std::vector<Operand> operands_of(const Plan& plan, const Primitives& primitives,
                                 const Operation& operation);

/// body(i, r) for each value the operation gives, which is result r of primitive i. What nobody
/// reads of a map it does not give.
template <class Body>
void for_given(const Plan& plan, const Operation& operation, Body body) {
  if (operation.kind == Operation::Kind::group) {
    for (const PrimitiveId i : stored_by(plan.groups[operation.number].schedule)) body(i, 0u);
  } else if (operation.kind == Operation::Kind::map) {
    const PlannedMap& planned = plan.maps[operation.number];
    for (std::size_t r = 0; r < planned.map.results.size(); ++r)
      if (planned.wanted[r])
        for (const std::uint32_t index : planned.map.results[r].index)
          body(planned.map.results[r].primitive, index);
  } else {
    const std::uint32_t count = result_count_of(plan, operation.primitive);
    for (std::uint32_t r = 0; r < count; ++r) body(operation.primitive, r);
  }
}

}  // namespace sinter::jit
