/// \file
/// A few axes, one after the other.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "runtime/shape.h"

namespace sinter::jit {

/// Up to max_rank axes held inline: passes make and compare lists of them by the thousand.
class Axes {
 public:
  void push_back(int axis) {
    invariant(count_ < max_rank, "more axes than a shape can have");
    axes_[count_++] = static_cast<std::int8_t>(axis);
  }

  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  int operator[](std::size_t i) const { return axes_[i]; }
  int back() const { return axes_[count_ - 1u]; }
  const std::int8_t* begin() const { return axes_.data(); }
  const std::int8_t* end() const { return axes_.data() + count_; }

  /// Whether the axes are those from `first` up to before `last`.
  bool is_range(int first, int last) const {
    if (static_cast<int>(count_) != last - first) return false;
    for (int i = first; i < last; ++i)
      if (axes_[static_cast<std::size_t>(i - first)] != i) return false;
    return true;
  }

  friend auto operator<=>(const Axes&, const Axes&) = default;  // what is not used is 0

 private:
  std::array<std::int8_t, max_rank> axes_{};
  std::uint8_t count_ = 0;
};

}  // namespace sinter::jit
