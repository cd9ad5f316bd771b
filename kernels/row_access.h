/// \file
/// Rows of a view as contiguous elements in a compute type, and back; memory to work in.
#pragma once

#include <cstdint>

#include "kernels/tile_access.h"
#include "kernels/view.h"

namespace sinter::kernels {

/// At least `bytes` bytes, aligned to a cache line, that stay this thread's until its next call
/// with the same `slot`.
inline constexpr int scratch_slots = 16;
void* scratch_bytes(int slot, std::int64_t bytes);

template <class C>
C* scratch(int slot, std::int64_t count) {
  return static_cast<C*>(scratch_bytes(slot, count * static_cast<std::int64_t>(sizeof(C))));
}

/// Reads elements, counted in row-major order. Threads share it.
template <class C>
class RowReader {
 public:
  explicit RowReader(const ConstView& view)
      : direct_(view.dtype == dtype_of<C> && is_contiguous(view.shape, view.strides)
                    ? static_cast<const C*>(view.data)
                    : nullptr),
        reader_(view, dtype_of<C>, tiles()) {}

  /// Whether rows lie in memory as load gives them.
  bool direct() const { return direct_ != nullptr; }
  /// The elements [first, first + count): in place, or in `buffer`.
  const C* load(std::int64_t first, std::int64_t count, C* buffer) const {
    if (direct_ != nullptr) return direct_ + first;
    if (count > 0) reader_.load_into(first, count, buffer);
    return buffer;
  }

 private:
  const C* direct_;
  TileReader reader_;
};

/// Writes elements likewise.
template <class C>
class RowWriter {
 public:
  explicit RowWriter(const View& view) : writer_(view, dtype_of<C>, tiles()) {}

  bool direct() const { return writer_.direct(); }
  /// Where to put the elements from `first` on before store: their place, or `buffer`.
  C* place(std::int64_t first, C* buffer) const {
    void* const direct = writer_.direct(first);
    return direct != nullptr ? static_cast<C*>(direct) : buffer;
  }
  void store(const C* from, std::int64_t first, std::int64_t count) const {
    if (!writer_.direct() && count > 0) writer_.store(from, first, count);
  }

 private:
  TileWriter writer_;
};

}  // namespace sinter::kernels
