#include "jit/report_memory.h"

#include <algorithm>
#include <set>

#include "jit/value_memory.h"
#include "runtime/results.h"

namespace sinter::jit {
namespace {

/// Which memory values hold, while operations go by.
class Account {
 public:
  explicit Account(std::uint32_t values) : memory_of_(values, none) {}

  void begin() { now_ = {}; }
  /// An operand, by a number that is its own among all.
  void read(std::uint32_t operand, std::int64_t bytes) {
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
  std::set<std::uint32_t> read_;
  ProgramMemory result_;
};

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
    account.read(s.key(), byte_count({trace.node(s).dtype, trace.node(s).shape}));
  for (std::uint32_t r = 0; r < step.value_count; ++r)
    account.make(step.first_value + r, byte_count(result_of(node, r)));
}

}  // namespace

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
