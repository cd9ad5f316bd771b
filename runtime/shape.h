/// \file
/// Shapes, strides, and the rules by which shapes combine. Sizes and strides count elements.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "error.h"

namespace sinter {

inline constexpr int max_rank = 8;

/// Up to eight integers held inline: the sizes or the strides of a tensor.
class Dims {
 public:
  Dims() = default;
  /// \throws UsageError for more than `max_rank` values.
  Dims(std::initializer_list<std::int64_t> values, Where where = Where::current());
  explicit Dims(std::span<const std::int64_t> values, Where where = Where::current());
  static Dims filled(int rank, std::int64_t value);

  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  std::int64_t& operator[](int axis) { return values_[static_cast<std::size_t>(axis)]; }
  std::int64_t operator[](int axis) const { return values_[static_cast<std::size_t>(axis)]; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + rank_; }
  std::int64_t back() const { return values_[static_cast<std::size_t>(rank_ - 1)]; }
  void push_back(std::int64_t value);

  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  std::array<std::int64_t, max_rank> values_{};
  int rank_ = 0;
};

using Shape = Dims;
using Strides = Dims;

/// `[8, 32]`; `[]` for a scalar.
std::string to_string(const Dims& dims);

/// The product of the sizes; 1 for rank 0.
std::int64_t element_count(const Shape& shape);

/// Refuses negative sizes, and element counts whose bytes (of 8 each) do not fit 63 bits.
void check_shape(std::string_view op, const Shape& shape, Where where);

/// The shape both broadcast to by NumPy's rule, or nothing where sizes differ and neither is 1.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

/// Strides of row-major elements without gaps.
Strides contiguous_strides(const Shape& shape);

/// Whether `strides` address the elements in row-major order without gaps; strides of axes of size
/// 1, and all strides of an empty tensor, do not matter.
bool is_contiguous(const Shape& shape, const Strides& strides);

/// `axis` counted from the end when negative. \throws UsageError where it is out of range.
int normalize_axis(std::string_view op, std::int64_t axis, int rank, Where where);

}  // namespace sinter
