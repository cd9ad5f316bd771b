#include "jit/report_memory.h"

#include <algorithm>
#include <set>

#include "jit/launch.h"
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
  /// Memory that is read and written within the operation.
  void pass_through(std::int64_t bytes) {
    now_.reads += bytes;
    now_.writes += bytes;
    passing_ += bytes;
  }
  void show(std::uint32_t value, std::uint32_t of) {
    memory_of_[value] = memory_of_[of];
    if (memory_of_[of] != none) ++users_[memory_of_[of]];
  }
  void end(const std::vector<std::uint32_t>& dying) {
    now_.held = held_ + passing_;
    result_.peak = std::max(result_.peak, now_.held);
    result_.operations.push_back(now_);
    read_.clear();
    passing_ = 0;
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
  std::int64_t held_ = 0, passing_ = 0;
  OperationMemory now_;
  std::set<std::uint64_t> read_;
  ProgramMemory result_;
};

std::uint64_t number_of(Source source) { return std::uint64_t{source.index} << 1 | source.leaf; }

void add_group(Account& account, const LiveValues& values, const ScheduledGroup& group) {
  Shape rows;
  const Dims space = wide_sizes(values.shape(group.widest));
  for (int axis = 0; axis < group.rows; ++axis) rows.push_back(space[axis]);
  for (std::size_t k = 0; k < group.operands.size(); ++k) {
    const LoopOperand& operand = group.operands[k];
    if (operand.kind == LoopOperand::Kind::coordinate) continue;
    const Node& node = values.node(operand.value);
    if (operand.kind == LoopOperand::Kind::read) {
      account.read(number_of(operand.value), bytes_of(node));
      continue;
    }
    if (operand.kind == LoopOperand::Kind::block_sums)
      account.pass_through(row_block_count(rows) *
                           bytes_of(group.loop.accesses[k].dtype, node.shape));
  }
  for (const PrimitiveId i : stored_by(group))
    account.make(values.plan().first_value[i], bytes_of(values.node(i)));
}

void add_primitive(Account& account, const LiveValues& values, const Operation& operation) {
  const PrimitiveId i = operation.primitive;
  const auto operands = values.primitives().operands_of(i);
  const std::uint32_t first = values.plan().first_value[i];
  if (!operation.kernel.run) {
    const Source base = values.base_of(operands[0]);
    if (!base.leaf) account.show(first, base.index);
    return;
  }
  for (const Operand o : operands) account.read(number_of(o), bytes_of(values.node(o)));
  for (std::uint32_t r = 0; r < values.result_count_of(i); ++r) {
    const Result result = values.result(i, r);
    account.make(first + r, bytes_of(result.dtype, result.shape));
  }
}

void add_map(Account& account, const LiveValues& values, const PlannedMap& planned) {
  for (const Operand o : planned.map.operands) account.read(number_of(o), bytes_of(values.node(o)));
  for (std::size_t r = 0; r < planned.map.results.size(); ++r) {
    if (!planned.wanted[r]) continue;
    const Map::Result& from = planned.map.results[r];
    for (const std::uint32_t index : from.index) {
      const Result result = values.result(from.primitive, index);
      account.make(values.plan().first_value[from.primitive] + index,
                   bytes_of(result.dtype, result.shape));
    }
  }
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

ProgramMemory memory_of(const LiveValues& values) {
  Account account(values.plan().value_count);
  for (const Operation& operation : values.plan().operations) {
    account.begin();
    if (operation.group != Operation::no_group)
      add_group(account, values, values.plan().groups[operation.group].schedule);
    else if (operation.map != Operation::no_map)
      add_map(account, values, values.plan().maps[operation.map]);
    else add_primitive(account, values, operation);
    account.end(operation.dying);
  }
  return account.result();
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
