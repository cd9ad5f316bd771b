#include "jit/plan_values.h"

#include "runtime/error.h"

namespace sinter::jit {

const std::string& name_of(const Plan& plan, const Operation& operation) {
  switch (operation.kind) {
    case Operation::Kind::group: return plan.groups[operation.number].schedule.loop.name;
    case Operation::Kind::map: return plan.maps[operation.number].loops.front().name;
    case Operation::Kind::fold: return plan.folds[operation.number].loops.finish.name;
    default: internal_error("a name is asked for of an operation without generated kernels");
  }
}

std::vector<Operand> operands_of(const Plan& plan, const Primitives& primitives,
                                 const Operation& operation) {
  if (operation.kind == Operation::Kind::map) return plan.maps[operation.number].map.operands;
  if (operation.kind != Operation::Kind::group) {
    const auto operands = primitives.operands_of(operation.primitive);
    return {operands.begin(), operands.end()};
  }
  std::vector<Operand> read;
  for (const LoopOperand& operand : plan.groups[operation.number].schedule.operands)
    if (operand.kind == LoopOperand::Kind::read) read.push_back(operand.value);
  return read;
}

}  // namespace sinter::jit
