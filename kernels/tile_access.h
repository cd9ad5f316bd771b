/// \file
/// The edges of tiles: strided elements of any storage type as runs in a compute type, and back.
///
/// Positions count the elements of a view in row-major order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/tiles.h"
#include "kernels/view.h"

namespace sinter::kernels {

/// The sizes and strides of a view with neighbouring axes merged wherever one stride walks both.
class Walk {
 public:
  Walk(const Shape& shape, const Strides& strides);

  /// Elements in a row that one stride reaches: the extent of the last axis.
  std::int64_t run() const { return sizes_[last()]; }
  std::int64_t run_stride() const { return strides_[last()]; }
  /// Whether one stride reaches all elements.
  bool single() const { return rank_ == 1; }

  /// Offset of the element at `position`, and how many are left in its run.
  struct Place {
    std::int64_t offset;
    std::int64_t left;
  };
  Place place(std::int64_t position) const;

  /// Calls body(offset of the first, count) for each run of the elements [first, first + count).
  template <typename Body>
  void for_runs(std::int64_t first, std::int64_t count, Body body) const;

 private:
  std::size_t last() const { return static_cast<std::size_t>(rank_ - 1); }

  int rank_ = 1;
  std::array<std::int64_t, max_rank> sizes_{1};
  std::array<std::int64_t, max_rank> strides_{1};
};

/// Reads a view in a compute type. Does not change after construction: threads share it.
class TileReader {
 public:
  TileReader(const ConstView& view, DType compute, const Tiles& tiles);

  struct Tile {
    const void* data;
    std::int64_t step;  ///< 1; 0 where `data` holds one element tile_vector times
  };
  /// The elements [first, first + count): in place where they lie as a tile needs them, else in
  /// `buffer`, which has room for max(count, tile_vector) elements of the compute type.
  Tile load(std::int64_t first, std::int64_t count, void* buffer) const;

  /// The same, always copied to `to`.
  void load_into(std::int64_t first, std::int64_t count, void* to) const;

  /// The address of the element at `first`, where the elements are contiguous as the compute type
  /// all through; else null.
  const void* in_place(std::int64_t first) const {
    return direct_ && walk_.single() ? at(first) : nullptr;
  }
  /// Whether all elements are one.
  bool uniform() const { return uniform_; }
  /// Whether load uses at most tile_vector elements of its buffer within one run.
  bool direct() const { return direct_ || uniform_ || walk_.run_stride() == 0; }
  /// Length of the pieces, counted from position 0, that load serves best; a huge number for
  /// "any".
  std::int64_t run() const { return walk_.single() ? INT64_MAX : walk_.run(); }

 private:
  const std::byte* at(std::int64_t offset) const {
    return data_ + offset * static_cast<std::int64_t>(item_);
  }
  void gather(std::int64_t first, std::int64_t count, std::byte* to) const;
  void fill(const std::byte* element, void* to, std::int64_t count) const;

  const std::byte* data_;
  std::size_t item_;          // bytes of a stored element
  std::size_t compute_item_;  // bytes of an element of the compute type
  ConvertFunction convert_;   // null where storage and compute type are the same
  Walk walk_;
  bool direct_;   // runs can be used in place
  bool uniform_;  // all elements are one, kept in splat_
  alignas(64) std::array<std::byte, 8 * tile_vector> splat_;
};

/// Writes elements of a compute type to a view.
class TileWriter {
 public:
  TileWriter(const View& view, DType compute, const Tiles& tiles);

  /// Where the elements from `first` can be written in place; null where they need store().
  void* direct(std::int64_t first) const {
    return direct_ ? data_ + first * static_cast<std::int64_t>(item_) : nullptr;
  }
  bool direct() const { return direct_; }
  void store(const void* from, std::int64_t first, std::int64_t count) const;
  std::int64_t run() const { return walk_.single() ? INT64_MAX : walk_.run(); }

 private:
  std::byte* data_;
  std::size_t item_;
  std::size_t compute_item_;
  ConvertFunction convert_;
  Walk walk_;
  bool direct_;
};

/// Copies `count` elements of `item` bytes between strided places; strides count elements.
void copy_run(const std::byte* from, std::int64_t from_stride, std::byte* to,
              std::int64_t to_stride, std::int64_t count, std::size_t item);

template <typename Body>
void Walk::for_runs(std::int64_t first, std::int64_t count, Body body) const {
  std::array<std::int64_t, max_rank> index;
  std::int64_t offset = 0, rest = first;
  for (int axis = rank_ - 1; axis >= 0; --axis) {
    const auto i = static_cast<std::size_t>(axis);
    index[i] = axis == 0 ? rest : rest % sizes_[i];
    if (axis != 0) rest /= sizes_[i];
    offset += index[i] * strides_[i];
  }
  const std::size_t inner = last();
  while (true) {
    const std::int64_t left = sizes_[inner] - index[inner], run = count < left ? count : left;
    body(offset, run);
    count -= run;
    if (count == 0) return;
    offset -= index[inner] * strides_[inner];
    index[inner] = 0;
    for (std::size_t i = inner; i-- > 0;) {
      offset += strides_[i];
      if (++index[i] < sizes_[i]) break;
      offset -= sizes_[i] * strides_[i];
      index[i] = 0;
    }
  }
}

}  // namespace sinter::kernels
