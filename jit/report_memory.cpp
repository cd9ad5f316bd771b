#include "jit/report_memory.h"

#include <algorithm>
#include <set>

#include "jit/group_launch.h"
#include "jit/plan_values.h"
#include "runtime/results.h"

namespace sinter::jit {
namespace {

std::int64_t bytes_of(DType dtype, const Shape& shape) {
  return element_count(shape) * static_cast<std::int64_t>(item_size(dtype));
}
std::int64_t bytes_of(const Node& node) { return bytes_of(node.dtype, node.shape); }

/// Which memory values hold, while operations go by.
class Account {
 public:
  explicit Account(std::uint32_t values) : memory_of_(values, none) {}

  void begin() { now_ = {}; }
  /// An operand, by a number that is its own among all.
  void read(std::uint64_t operand, std::int64_t bytes) {
    if (read_.insert(operand).second) now_.reads += bytes;
  }
  void make(std::uint32_t value, std::int64_t bytes) {
    now_.writes += bytes;
    memory_of_[value] = static_cast<std::uint32_t>(bytes_.size());
    bytes_.push_back(bytes);
    users_.push_back(1);
    held_ += bytes;
  }
  void show(std::uint32_t value, std::uint32_t of) {
    memory_of_[value] = memory_of_[of];
    if (memory_of_[of] != none) ++users_[memory_of_[of]];
  }
  void end(const std::vector<std::uint32_t>& dying) {
    now_.held = held_;
    result_.peak = std::max(result_.peak, now_.held);
    result_.operations.push_back(now_);
    read_.clear();
    for (const std::uint32_t value : dying) {
      const std::uint32_t memory = memory_of_[value];
      if (memory != none && --users_[memory] == 0) held_ -= bytes_[memory];
    }
  }
  ProgramMemory result() { return std::move(result_); }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  std::vector<std::uint32_t> memory_of_;  // of each value
  std::vector<std::int64_t> bytes_;       // of each memory
  std::vector<std::uint32_t> users_;
  std::int64_t held_ = 0;
  OperationMemory now_;
  std::set<std::uint64_t> read_;
  ProgramMemory result_;
};

std::uint64_t number_of(Source source) { return std::uint64_t{source.index} << 1 | source.leaf; }

/// The sums of blocks of rows, which are written and read within the operation.
std::int64_t block_sum_bytes(const LiveValues& values, const ScheduledGroup& group) {
  std::int64_t bytes = 0;
  const std::int64_t blocks = row_blocks(group, wide_sizes(values.shape(group.widest)));
  for (std::size_t k = 0; k < group.operands.size(); ++k)
    if (group.operands[k].kind == LoopOperand::Kind::block_sums)
      bytes +=
          blocks * bytes_of(group.loop.accesses[k].dtype, values.shape(group.operands[k].value));
  return bytes;
}

OperationMemory moved_by(const LiveValues& values, const Operation& operation) {
  OperationMemory moved;
  if (is_view(operation)) return moved;
  std::set<std::uint64_t> read;
  for (const Operand o : operands_of(values.plan(), values.primitives(), operation))
    if (read.insert(number_of(o)).second) moved.reads += bytes_of(values.node(o));
  for_given(values.plan(), operation, [&](PrimitiveId i, std::uint32_t r) {
    const Result result = values.result(i, r);
    moved.writes += bytes_of(result.dtype, result.shape);
  });
  if (operation.group == Operation::no_group) return moved;
  const std::int64_t sums = block_sum_bytes(values, values.plan().groups[operation.group].schedule);
  return {moved.reads + sums, moved.writes + sums, 0};
}

void add_step(Account& account, const Program& program, const Trace& trace, std::size_t i) {
  const Node& node = *trace.steps[i];
  const ProgramStep& step = program.steps[i];
  const auto sources = trace.sources_of(i);
  if (!step.kernel.run) {
    if (sources[0].leaf) return;
    const std::uint32_t picked =
        node.op == Op::pick ? static_cast<std::uint32_t>(node.fixed()[0]) : 0;
    return account.show(step.first_value, program.steps[sources[0].index].first_value + picked);
  }
  for (const Source s : sources)
    account.read(number_of(s), bytes_of(*(s.leaf ? trace.leaves : trace.steps)[s.index]));
  for (std::uint32_t r = 0; r < step.value_count; ++r) {
    const Result result = result_of(node, r);
    account.make(step.first_value + r, bytes_of(result.dtype, result.shape));
  }
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

ProgramMemory memory_of(const Program& program, const Trace& trace) {
  Account account(program.value_count);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    account.begin();
    add_step(account, program, trace, i);
    account.end(program.steps[i].dying);
  }
  return account.result();
}

}  // namespace sinter::jit
