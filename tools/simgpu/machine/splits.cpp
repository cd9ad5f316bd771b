#include "tools/simgpu/machine/splits.h"

#include <algorithm>

namespace simgpu {

void Splits::start(std::uint32_t lanes) {
  splits_.assign(1, Split{0, lanes});
  frames_.assign(1, Frame{});
  most_frames_ = least_frames;
  turn_ = 0;
}

bool Splits::is_behind(const Split& a, const Split& b) {
  return a.depth != b.depth ? a.depth > b.depth : a.pc < b.pc;
}

std::size_t Splits::choose(bool in_turn) {
  std::size_t chosen = none;
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    if (splits_[i].wait != Split::Wait::none) continue;
    if (chosen == none || is_behind(splits_[i], splits_[chosen])) chosen = i;
  }
  if (chosen == none) return none;
  if (in_turn) {
    do ++turn_;
    while (splits_[turn_ % splits_.size()].wait != Split::Wait::none);
    chosen = turn_ % splits_.size();
  }
  return reconverge(chosen, [](const Split& other) { return other.wait == Split::Wait::none; });
}

std::uint32_t Splits::reconvergence_pc(std::size_t index) const {
  const Split& split = splits_[index];
  std::uint32_t reconvergence = UINT32_MAX;
  for (const Split& other : splits_)
    if (other.wait == Split::Wait::none && other.caller == split.caller && other.pc > split.pc)
      reconvergence = std::min(reconvergence, other.pc);
  return reconvergence;
}

void Splits::diverge(std::size_t index, std::uint32_t lanes, std::uint32_t pc) {
  Split apart = splits_[index];
  splits_[index].lanes &= ~lanes;
  apart.lanes = lanes;
  apart.pc = pc;
  splits_.push_back(apart);
}

void Splits::erase(std::size_t index) {
  splits_.erase(splits_.begin() + static_cast<std::ptrdiff_t>(index));
}

void Splits::call(std::size_t index, std::uint32_t pc) {
  Split& split = splits_[index];
  const Frame frame{split.caller, split.pc + 1};
  std::size_t number = 0, unused = 0;
  for (std::size_t k = 1; k < frames_.size() && number == 0; ++k)
    if (frames_[k] == frame) number = k;
    else if (frames_[k] == free_frame) unused = k;
  if (number == 0 && unused == 0) {
    if (frames_.size() >= most_frames_) free_frames();
    unused = frames_.size();
    frames_.push_back(frame);
  }
  if (number == 0) frames_[number = unused] = frame;
  split.caller = static_cast<std::uint32_t>(number);
  ++split.depth;
  split.pc = pc;
}

/// Of functions that call themselves there may be ever new ones: those that no split is in go.
void Splits::free_frames() {
  std::vector<bool> used(frames_.size());
  for (const Split& split : splits_)
    for (std::uint32_t k = split.caller; k != 0 && !used[k]; k = frames_[k].caller) used[k] = true;
  for (std::size_t k = 1; k < frames_.size(); ++k)
    if (!used[k]) frames_[k] = free_frame;
  const auto in_use = static_cast<std::size_t>(std::count(used.begin(), used.end(), true));
  most_frames_ = std::max(least_frames, 2 * in_use);
}

bool Splits::ret(std::size_t index) {
  Split& split = splits_[index];
  if (split.depth == 0) return false;
  const Frame& frame = frames_[split.caller];
  split.pc = frame.back_to;
  split.caller = frame.caller;
  --split.depth;
  return true;
}

}  // namespace simgpu
