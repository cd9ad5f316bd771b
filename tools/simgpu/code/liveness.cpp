// How many registers live at once: backwards over the blocks of each function until nothing
// changes. Source: Aho, Lam, Sethi and Ullman, "Compilers", 9.2.5.
#include <algorithm>
#include <unordered_map>

#include "tools/simgpu/code/function_code.h"
#include "tools/simgpu/code/registers.h"

namespace simgpu {
namespace {

using Bits = std::vector<std::uint64_t>;

/// Above it, functions are too large for a look at each block: then every register counts.
constexpr std::size_t most_work = std::size_t{1} << 27;

struct BasicBlock {
  std::uint32_t first = 0, last = 0;
  std::vector<std::size_t> next;
  Bits read, written, live_in;  ///< `read` before it is written in the block
};

class Liveness {
 public:
  Liveness(const Kernel& kernel, const FunctionCode& function, const RegisterFile& registers,
           const std::vector<int>& callees)
      : kernel_(kernel), function_(function), callees_(callees) {
    for (const RegisterUse& use : function.uses)
      if (index_.try_emplace(use.offset, words_.size()).second)
        words_.push_back(registers.words(use.offset));
    first_use_.resize(function.last - function.first + 1);
    for (const RegisterUse& use : function.uses) ++first_use_[use.instruction - function.first + 1];
    for (std::size_t k = 1; k < first_use_.size(); ++k) first_use_[k] += first_use_[k - 1];
  }

  int most() {
    const std::size_t row = (words_.size() + 63) / 64;
    int all = 0;
    for (const int words : words_) all += words;
    if (row * jumps() > most_work / 8) return all + deepest_call();
    make_blocks();
    if (3 * row * blocks_.size() > most_work / 8) return all + deepest_call();
    for (BasicBlock& block : blocks_) summarise(block, row);
    std::size_t work = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t k = blocks_.size(); k-- > 0;) {
        const Bits before = blocks_[k].live_in;
        flow(blocks_[k], row);
        changed |= before != blocks_[k].live_in;
      }
      work += 3 * row * blocks_.size();
      if (work > most_work) return all + deepest_call();
    }
    int most = 0;
    for (const BasicBlock& block : blocks_) most = std::max(most, most_in(block, row));
    return most;
  }

 private:
  static bool has(const Bits& bits, std::size_t k) { return (bits[k / 64] >> (k % 64) & 1) != 0; }
  static void set(Bits& bits, std::size_t k) { bits[k / 64] |= std::uint64_t{1} << (k % 64); }
  static void clear(Bits& bits, std::size_t k) { bits[k / 64] &= ~(std::uint64_t{1} << (k % 64)); }

  int deepest_call() const {
    int most = 0;
    for (const FunctionCode::Call& call : function_.calls)
      most = std::max(most, callees_[call.callee]);
    return most;
  }

  /// Calls body(register, written) for those of an instruction.
  template <class Body>
  void each_use(std::uint32_t instruction, Body body) const {
    const std::uint32_t k = instruction - function_.first;
    for (std::size_t use = first_use_[k]; use < first_use_[k + 1]; ++use)
      body(index_.at(function_.uses[use].offset), function_.uses[use].written);
  }

  static bool ends_block(const Instruction& i) {
    return i.control == Control::branch || i.control == Control::select ||
           i.control == Control::give_back || i.control == Control::exit;
  }

  /// Calls body(target) for each place that a jump leads to.
  template <class Body>
  void each_target(const Instruction& i, Body body) const {
    if (i.control == Control::branch) body(i.target);
    if (i.control == Control::select)
      for (const std::uint32_t target : kernel_.targets[i.target]) body(target);
  }

  /// Many may share a list of many targets.
  std::size_t jumps() const {
    std::size_t count = 0;
    for (std::uint32_t pc = function_.first; pc < function_.last; ++pc) {
      const Instruction& i = kernel_.code[pc];
      if (i.control == Control::select) count += kernel_.targets[i.target].size();
    }
    return count;
  }

  void make_blocks() {
    std::vector<bool> starts(function_.last - function_.first + 1);
    starts[0] = true;
    for (std::uint32_t pc = function_.first; pc < function_.last; ++pc) {
      const Instruction& i = kernel_.code[pc];
      if (ends_block(i)) starts[pc + 1 - function_.first] = true;
      each_target(i, [&](std::uint32_t target) { starts[target - function_.first] = true; });
    }
    std::unordered_map<std::uint32_t, std::size_t> block_at;
    for (std::uint32_t pc = function_.first; pc < function_.last; ++pc) {
      if (starts[pc - function_.first]) {
        block_at[pc] = blocks_.size();
        blocks_.emplace_back();
        blocks_.back().first = pc;
      }
      blocks_.back().last = pc + 1;
    }
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      const Instruction& last = kernel_.code[blocks_[k].last - 1];
      each_target(last, [&](std::uint32_t target) { blocks_[k].next.push_back(block_at[target]); });
      const bool leaves = ends_block(last) && last.guard == true_predicate;
      if (!leaves && k + 1 < blocks_.size()) blocks_[k].next.push_back(k + 1);
    }
  }

  void summarise(BasicBlock& block, std::size_t row) const {
    block.read.resize(row);
    block.written.resize(row);
    block.live_in.resize(row);
    for (std::uint32_t pc = block.first; pc < block.last; ++pc) {
      each_use(pc, [&](std::size_t k, bool written) {
        if (!written && !has(block.written, k)) set(block.read, k);
      });
      if (kernel_.code[pc].guard != true_predicate) continue;  // some lanes keep what they had
      each_use(pc, [&](std::size_t k, bool written) {
        if (written) set(block.written, k);
      });
    }
    block.live_in = block.read;
  }

  Bits live_out(const BasicBlock& block, std::size_t row) const {
    Bits live(row);
    for (const std::size_t next : block.next)
      for (std::size_t k = 0; k < row; ++k) live[k] |= blocks_[next].live_in[k];
    return live;
  }

  void flow(BasicBlock& block, std::size_t row) const {
    const Bits out = live_out(block, row);
    for (std::size_t k = 0; k < row; ++k)
      block.live_in[k] = block.read[k] | (out[k] & ~block.written[k]);
  }

  int most_in(const BasicBlock& block, std::size_t row) const {
    Bits live = live_out(block, row);
    int now = 0, most = 0;
    for (std::size_t k = 0; k < words_.size(); ++k) now += has(live, k) ? words_[k] : 0;
    for (std::uint32_t pc = block.last; pc-- > block.first;) {
      int dead = 0;  // results that nobody reads
      const auto change = [&](std::size_t k, bool wanted) {
        if (has(live, k) == wanted) return false;
        now += wanted ? words_[k] : -words_[k];
        wanted ? set(live, k) : clear(live, k);
        return true;
      };
      const bool whole = kernel_.code[pc].guard == true_predicate;
      each_use(pc, [&](std::size_t k, bool written) {
        if (written && !has(live, k)) dead += words_[k];
      });
      most = std::max(most, now + dead + callee_at(pc));
      each_use(pc, [&](std::size_t k, bool written) {
        if (written && whole) change(k, false);
      });
      each_use(pc, [&](std::size_t k, bool written) {
        if (!written) change(k, true);
      });
      most = std::max(most, now);
    }
    return most;
  }

  int callee_at(std::uint32_t pc) const {
    if (kernel_.code[pc].control != Control::call) return 0;
    const auto found = std::lower_bound(
        function_.calls.begin(), function_.calls.end(), pc,
        [](const FunctionCode::Call& call, std::uint32_t at) { return call.instruction < at; });
    return callees_[found->callee];
  }

  const Kernel& kernel_;
  const FunctionCode& function_;
  const std::vector<int>& callees_;
  std::unordered_map<std::uint32_t, std::size_t> index_;  ///< of a register, by its offset
  std::vector<int> words_;
  std::vector<std::size_t> first_use_;  ///< of each instruction, in FunctionCode::uses
  std::vector<BasicBlock> blocks_;
};

}  // namespace

int most_live_registers(const Kernel& kernel, const std::vector<FunctionCode>& functions,
                        const RegisterFile& registers) {
  std::vector<int> most(functions.size());
  for (std::size_t k = functions.size(); k-- > 0;)
    most[k] = Liveness(kernel, functions[k], registers, most).most();
  return most.front();
}

}  // namespace simgpu
