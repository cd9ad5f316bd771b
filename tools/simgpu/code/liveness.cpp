// Which values live where: backwards over the blocks of a function until nothing changes. Source:
// Aho, Lam, Sethi and Ullman, "Compilers", 9.2.5.
#include "tools/simgpu/code/liveness.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "tools/simgpu/code/call_targets.h"

namespace simgpu {
namespace {

using Bits = std::vector<bool>;

/// Above it, functions are too large for a look at each block: then nothing counts.
constexpr std::size_t most_work = std::size_t{1} << 27;

/// What it writes is read from memory or comes from other lanes; multiplied matrices count as such.
bool reads_outside(std::string_view opcode) {
  for (const std::string_view constant : {"ld.param", "ld.const"})
    if (opcode.starts_with(constant)) return false;
  for (const std::string_view word :
       {"ld", "ldu", "ldmatrix", "atom", "shfl", "vote", "match", "redux", "mma", "wmma", "call"})
    if (opcode.substr(0, opcode.find('.')) == word) return true;
  return false;
}

/// Instructions behind which a thread goes on one after the other, but for the last.
struct CodeBlock {
  std::uint32_t first = 0, last = 0;
  std::vector<std::size_t> next;
  Bits live_in;
};

class Liveness {
 public:
  Liveness(const Kernel& kernel, const FunctionCode& function, const RegisterFile& registers)
      : kernel_(kernel), function_(function) {
    first_use_.resize(function.last - function.first + 1);
    std::unordered_map<std::uint32_t, std::size_t> known;
    for (const RegisterUse& use : function.uses) {
      const auto [value, is_new] = known.try_emplace(use.offset, values_.size());
      if (is_new) values_.push_back({registers.bytes(use.offset), 0, no_source});
      used_.push_back(value->second);
      values_[used_.back()].definitions += use.written;
      ++first_use_[use.instruction - function.first + 1];
    }
    for (std::size_t k = 1; k < first_use_.size(); ++k) first_use_[k] += first_use_[k - 1];
  }

  int least_registers() {
    if (!spend(targets()) || !make_blocks() || !find_sources() || !find_live()) return 0;
    for (std::uint32_t pc = function_.first; pc < function_.last; ++pc) count_operands(pc);
    for (const CodeBlock& block : blocks_) count(live_in(block));
    return (most_bytes_ + 3) / 4;
  }

 private:
  static constexpr std::size_t no_source = ~std::size_t{0};

  /// What a register holds.
  struct Value {
    int bytes = 0;
    int definitions = 0;
    std::size_t source = no_source;  ///< the value that it stands for
  };

  bool spend(std::size_t work) {
    work_ += work;
    return work_ <= most_work;
  }
  std::size_t instructions() const { return function_.last - function_.first; }

  /// Calls body(value, written) for those of an instruction.
  template <class Body>
  void each_use(std::uint32_t instruction, Body body) const {
    const std::uint32_t k = instruction - function_.first;
    for (std::size_t use = first_use_[k]; use < first_use_[k + 1]; ++use)
      body(used_[use], function_.uses[use].written);
  }

  bool ends_block(std::uint32_t pc) const {
    const Instruction& i = kernel_.code[pc];
    return i.jumps() || i.control == Control::call || i.control == Control::barrier ||
           kernel_.origins[pc].opcode.starts_with("st.volatile");
  }

  /// Calls body(target) for each place that a jump leads to.
  template <class Body>
  void each_target(const Instruction& i, Body body) const {
    if (i.control == Control::branch) body(i.target);
    if (i.control == Control::select)
      for (const std::uint32_t target : kernel_.targets[i.target])
        if (target != no_target) body(target);
  }

  /// Many jumps may share a list of many targets.
  std::size_t targets() const {
    std::size_t count = 0;
    for (std::uint32_t pc = function_.first; pc < function_.last; ++pc)
      if (kernel_.code[pc].control == Control::select)
        count += kernel_.targets[kernel_.code[pc].target].size();
    return count;
  }

  bool make_blocks() {
    std::vector<bool> starts(function_.last - function_.first + 1);
    starts[0] = true;
    for (std::uint32_t pc = function_.first; pc < function_.last; ++pc) {
      const Instruction& i = kernel_.code[pc];
      if (ends_block(pc)) starts[pc + 1 - function_.first] = true;
      each_target(i, [&](std::uint32_t target) { starts[target - function_.first] = true; });
    }
    std::unordered_map<std::uint32_t, std::size_t> block_at;
    for (std::uint32_t pc = function_.first; pc < function_.last; ++pc) {
      if (starts[pc - function_.first]) {
        block_at[pc] = blocks_.size();
        blocks_.push_back({pc, pc, {}, {}});
      }
      blocks_.back().last = pc + 1;
    }
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      const Instruction& last = kernel_.code[blocks_[k].last - 1];
      each_target(last, [&](std::uint32_t target) { blocks_[k].next.push_back(block_at[target]); });
      const bool leaves = last.jumps() && last.guard == true_predicate;
      if (!leaves && k + 1 < blocks_.size()) blocks_[k].next.push_back(k + 1);
    }
    for (const CodeBlock& block : blocks_) edges_ += block.next.size();
    return spend(values_.size() * blocks_.size());
  }

  /// From front to back, until nothing changes: a loop reads what it writes later. Registers of no
  /// bytes are special ones that differ between the lanes.
  bool find_sources() {
    for (std::size_t k = 0; k < values_.size(); ++k)
      if (values_[k].bytes == 0) values_[k].source = k;
    for (bool changed = true; changed;) {
      if (!spend(instructions())) return false;
      changed = false;
      for (std::uint32_t pc = function_.first; pc < function_.last; ++pc) {
        const bool outside = reads_outside(kernel_.origins[pc].opcode);
        std::size_t read = no_source;
        each_use(pc, [&](std::size_t k, bool written) {
          if (!written && values_[k].source != no_source) read = values_[k].source;
        });
        each_use(pc, [&](std::size_t k, bool written) {
          Value& value = values_[k];
          if (!written || value.source != no_source || (!outside && read == no_source)) return;
          value.source = outside || value.definitions > 1 ? k : read;
          changed = true;
        });
      }
    }
    return true;
  }

  bool find_live() {
    for (CodeBlock& block : blocks_) block.live_in.resize(values_.size());
    for (bool changed = true; changed;) {
      if (!spend(values_.size() * (blocks_.size() + edges_) + instructions())) return false;
      changed = false;
      for (std::size_t k = blocks_.size(); k-- > 0;) {
        Bits live = live_in(blocks_[k]);
        changed |= live != blocks_[k].live_in;
        blocks_[k].live_in = std::move(live);
      }
    }
    return true;
  }

  Bits live_in(const CodeBlock& block) const {
    Bits live(values_.size());
    for (const std::size_t next : block.next)
      for (std::size_t k = 0; k < live.size(); ++k)
        if (blocks_[next].live_in[k]) live[k] = true;
    for (std::uint32_t pc = block.last; pc-- > block.first;) {
      if (kernel_.code[pc].guard == true_predicate)  // else some lanes keep what they had
        each_use(pc, [&](std::size_t k, bool written) {
          if (written) live[k] = false;
        });
      each_use(pc, [&](std::size_t k, bool written) {
        if (!written) live[k] = true;
      });
    }
    return live;
  }

  /// What an instruction reads and writes lies in registers as it runs.
  void count_operands(std::uint32_t pc) {
    int read = 0, written = 0;
    each_use(pc, [&](std::size_t k, bool writes) {
      if (values_[k].source != no_source) (writes ? written : read) += values_[k].bytes;
    });
    most_bytes_ = std::max({most_bytes_, read, written});
  }

  void count(const Bits& live) {
    std::vector<int> counted(values_.size());  // bytes of each source
    int bytes = 0;
    for (std::size_t k = 0; k < live.size(); ++k) {
      if (!live[k] || values_[k].source == no_source) continue;
      const Value& source = values_[values_[k].source];
      int& so_far = counted[values_[k].source];
      const int more = std::min(values_[k].bytes, source.bytes - so_far);
      so_far += more;
      bytes += more;
    }
    most_bytes_ = std::max(most_bytes_, bytes);
  }

  const Kernel& kernel_;
  const FunctionCode& function_;
  std::vector<Value> values_;
  std::vector<std::size_t> used_;       ///< the value of each of FunctionCode::uses
  std::vector<std::size_t> first_use_;  ///< of each instruction, in FunctionCode::uses
  std::vector<CodeBlock> blocks_;
  std::size_t edges_ = 0;
  std::size_t work_ = 0;
  int most_bytes_ = 0;
};

}  // namespace

int least_registers(const Kernel& kernel, const FunctionCode& function,
                    const RegisterFile& registers) {
  return Liveness(kernel, function, registers).least_registers();
}

}  // namespace simgpu
