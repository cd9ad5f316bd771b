#include "jit/plan_values.h"

namespace sinter::jit {

std::vector<Operand> operands_of(const Plan& plan, const Primitives& primitives,
                                 const Operation& operation) {
  if (operation.map != Operation::no_map) return plan.maps[operation.map].map.operands;
  if (operation.group == Operation::no_group) {
    const auto operands = primitives.operands_of(operation.primitive);
    return {operands.begin(), operands.end()};
  }
  std::vector<Operand> read;
  for (const LoopOperand& operand : plan.groups[operation.group].schedule.operands)
    if (operand.kind == LoopOperand::Kind::read) read.push_back(operand.value);
  return read;
}

}  // namespace sinter::jit
