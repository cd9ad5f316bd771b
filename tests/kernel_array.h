/// \file
/// Arrays for tests of kernels: any dtype and layout, surrounded by bytes that must not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/view.h"

namespace sinter::tests {

enum class Layout : std::uint8_t {
  contiguous,
  unaligned,   ///< as contiguous, one element after an aligned address
  padded,      ///< rows with a gap between them
  strided,     ///< every second element
  flipped,     ///< all strides negative
  transposed,  ///< the axes in reverse order in memory
};

inline constexpr Layout all_layouts[] = {Layout::contiguous, Layout::unaligned, Layout::padded,
                                         Layout::strided,    Layout::flipped,   Layout::transposed};

inline constexpr DType all_dtypes[] = {boolean, u8, i32, i64, f16, bf16, f32, f64};

/// An array of its own memory; positions count elements in row-major order.
class KernelArray {
 public:
  KernelArray(DType dtype, const Shape& shape, Layout layout = Layout::contiguous)
      : dtype_(dtype), shape_(shape), item_(item_size(dtype)) {
    std::int64_t extent = 1;
    strides_ = Strides::filled(shape.rank(), 0);
    const std::int64_t step = layout == Layout::strided ? 2 : 1;
    for (int i = 0; i < shape.rank(); ++i) {
      const int axis = layout == Layout::transposed ? i : shape.rank() - 1 - i;
      strides_[axis] = extent * step;
      extent *= shape[axis];
      if (layout == Layout::padded && i == 0) extent += 3;
    }
    extent = extent * step;
    first_ = layout == Layout::unaligned ? guard + 1 : guard;
    if (layout == Layout::flipped && element_count(shape) > 0) {
      for (int axis = 0; axis < shape.rank(); ++axis) {
        first_ += strides_[axis] * (shape[axis] - 1);
        strides_[axis] = -strides_[axis];
      }
    }
    bytes_.assign(static_cast<std::size_t>(extent + 2 * guard + 1) * item_ + 64, std::byte{0xa5});
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t size() const { return element_count(shape_); }

  kernels::View view() { return {at(0), dtype_, shape_, strides_}; }
  kernels::ConstView const_view() const {
    return {const_cast<KernelArray*>(this)->at(0), dtype_, shape_, strides_};
  }
  /// As read by a kernel whose other operands have `shape`: size 1 and missing axes have stride 0.
  kernels::ConstView expanded(const Shape& shape) const {
    kernels::ConstView view{const_view().data, dtype_, shape, Strides::filled(shape.rank(), 0)};
    for (int i = 1; i <= shape_.rank(); ++i)
      if (shape_[shape_.rank() - i] != 1)
        view.strides[shape.rank() - i] = strides_[shape_.rank() - i];
    return view;
  }

  template <typename T>
  T get(std::int64_t position) const {
    return with_storage_type(dtype_, [&]<typename S>(S) {
      S stored;
      std::memcpy(static_cast<void*>(&stored), address(position), item_);
      if constexpr (std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>)
        return static_cast<T>(static_cast<float>(stored));
      else return static_cast<T>(stored);
    });
  }
  /// The bits of one element, zeros above.
  std::uint64_t bits(std::int64_t position) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, address(position), item_);
    return bits;
  }
  template <typename T>
  void set(std::int64_t position, T value) {
    with_storage_type(dtype_, [&]<typename S>(S) {
      S stored;
      if constexpr (std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>)
        stored = S(static_cast<float>(value));
      else stored = static_cast<S>(value);
      std::memcpy(const_cast<std::byte*>(address(position)), &stored, item_);
    });
  }
  /// Element i is value(i).
  template <typename Value>
  KernelArray& fill(Value value) {
    for (std::int64_t i = 0; i < size(); ++i) set(i, value(i));
    return *this;
  }
  template <typename T>
  std::vector<T> values() const {
    std::vector<T> all;
    for (std::int64_t i = 0; i < size(); ++i) all.push_back(get<T>(i));
    return all;
  }

  /// Whether every byte that is no element's is as it was.
  bool surroundings_intact() const {
    std::vector<bool> element(bytes_.size(), false);
    for (std::int64_t i = 0; i < size(); ++i) {
      const auto first = static_cast<std::size_t>(address(i) - bytes_.data());
      for (std::size_t b = 0; b < item_; ++b) element[first + b] = true;
    }
    for (std::size_t b = 0; b < bytes_.size(); ++b)
      if (!element[b] && bytes_[b] != std::byte{0xa5}) return false;
    return true;
  }

 private:
  static constexpr std::int64_t guard = 40;

  std::byte* at(std::int64_t offset) {
    return bytes_.data() + static_cast<std::size_t>(first_ + offset) * item_;
  }
  const std::byte* address(std::int64_t position) const {
    std::int64_t offset = 0;
    for (int axis = shape_.rank() - 1; axis >= 0; --axis) {
      offset += position % shape_[axis] * strides_[axis];
      position /= shape_[axis];
    }
    return const_cast<KernelArray*>(this)->at(offset);
  }

  DType dtype_;
  Shape shape_;
  Strides strides_;
  std::size_t item_;
  std::int64_t first_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace sinter::tests
