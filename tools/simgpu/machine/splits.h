/// \file
/// Where the lanes of a warp are. Lanes that have diverged are in splits, each with a program
/// counter of its own; the one that is furthest behind runs first, and splits that come to the same
/// place reconverge. Deeper calls count as further behind: the caller's code can only be met
/// after them. Source: the order is that of "stackless" reconvergence by the least program counter
/// (Collange, "Stack-less SIMT reconvergence at low cost", 2011).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simgpu {

/// Lanes that run together.
struct Split {
  enum class Wait : std::uint8_t { none, members, barrier };

  std::uint32_t pc = 0;
  std::uint32_t lanes = 0;
  std::uint32_t caller = 0;  ///< the call it is in: a number of a Frame; 0 outside of calls
  std::uint32_t depth = 0;   ///< of calls
  Wait wait = Wait::none;
  std::uint32_t awaited = 0;  ///< lanes of the warp, or the number of the barrier

  /// Behind what it has waited for.
  void go_on() {
    wait = Wait::none;
    ++pc;
  }
};

class Splits {
 public:
  void start(std::uint32_t lanes);
  bool empty() const { return splits_.empty(); }
  std::size_t size() const { return splits_.size(); }
  Split& operator[](std::size_t index) { return splits_[index]; }
  auto begin() { return splits_.begin(); }
  auto end() { return splits_.end(); }

  /// The one to run: reconverged with those at its place. `none` where all wait. With `in_turn`
  /// another than the hindmost, each time a different one: lanes may wait for what others do.
  static constexpr std::size_t none = SIZE_MAX;
  std::size_t choose(bool in_turn);
  /// Where the split would come to the next one on its way through the code; UINT32_MAX where there
  /// is none.
  std::uint32_t reconvergence_pc(std::size_t index) const;

  /// Reconverges it with the others at its place for which the test holds: the number that it has
  /// then.
  template <class Test>
  std::size_t reconverge(std::size_t index, Test test) {
    for (std::size_t k = splits_.size(); k-- > 0;) {
      const Split other = splits_[k];
      Split& split = splits_[index];
      if (k == index || other.pc != split.pc || other.caller != split.caller || !test(other))
        continue;
      split.lanes |= other.lanes;
      erase(k);
      if (k < index) --index;
    }
    return index;
  }
  /// Lanes go on elsewhere, in a split of their own.
  void diverge(std::size_t index, std::uint32_t lanes, std::uint32_t pc);
  void erase(std::size_t index);
  void call(std::size_t index, std::uint32_t pc);
  /// Back to the caller; false where there is none.
  bool ret(std::size_t index);

 private:
  struct Frame {
    std::uint32_t caller, back_to;
    bool operator==(const Frame&) const = default;
  };
  static constexpr Frame free_frame{UINT32_MAX, UINT32_MAX};
  void free_frames();
  static bool is_behind(const Split& a, const Split& b);

  std::vector<Split> splits_;
  std::vector<Frame> frames_;  // of calls, from 1; splits that take the same way have the same
  std::size_t most_frames_ = least_frames;
  std::size_t turn_ = 0;
  static constexpr std::size_t least_frames = 64;
};

}  // namespace simgpu
