#include "jit/traffic.h"

#include <algorithm>
#include <set>

#include "jit/group_launch.h"
#include "jit/plan_values.h"
#include "runtime/results.h"

namespace sinter::jit {
namespace {

/// The sums of blocks of rows, which are written and read within the operation.
std::int64_t block_sum_bytes(const LiveValues& values, const ScheduledGroup& group) {
  std::int64_t bytes = 0;
  const std::int64_t blocks = row_blocks(group, wide_sizes(values.shape(group.widest)));
  for (std::size_t k = 0; k < group.operands.size(); ++k)
    if (group.operands[k].kind == LoopOperand::Kind::block_sums)
      bytes += blocks *
               byte_count({group.loop.accesses[k].dtype, values.shape(group.operands[k].value)});
  return bytes;
}

OperationMemory moved_by(const LiveValues& values, const Operation& operation) {
  OperationMemory moved;
  if (operation.kind == Operation::Kind::view) return moved;
  std::set<std::uint32_t> read;
  for (const Operand o : operands_of(values.plan(), values.primitives(), operation))
    if (read.insert(o.key()).second) moved.reads += byte_count({values.dtype(o), values.shape(o)});
  for_given(values.plan(), operation, [&](PrimitiveId i, std::uint32_t r) {
    moved.writes += byte_count(values.result(i, r));
  });
  if (operation.kind != Operation::Kind::group) return moved;
  const std::int64_t sums =
      block_sum_bytes(values, values.plan().groups[operation.number].schedule);
  return {moved.reads + sums, moved.writes + sums, 0};
}

template <class Part>
std::int64_t sum_of(const std::vector<OperationMemory>& operations, Part part) {
  std::int64_t sum = 0;
  for (const OperationMemory& operation : operations) sum += operation.*part;
  return sum;
}

}  // namespace

std::int64_t ProgramMemory::reads() const { return sum_of(operations, &OperationMemory::reads); }
std::int64_t ProgramMemory::writes() const { return sum_of(operations, &OperationMemory::writes); }

ProgramMemory memory_of(const LiveValues& values, const MemoryPlan& memory) {
  ProgramMemory result;
  for (std::size_t at = 0; at < values.plan().operations.size(); ++at) {
    result.operations.push_back(moved_by(values, values.plan().operations[at]));
    result.operations.back().held = memory.held[at];
    result.peak = std::max(result.peak, memory.held[at]);
  }
  return result;
}

}  // namespace sinter::jit
