#include "kernels/tile_access.h"

#include <algorithm>
#include <cstring>

namespace sinter::kernels {
namespace {

/// Raw bytes of one tile of the widest storage type.
using RawTile = std::array<std::byte, 8 * tile_size>;

ConvertFunction unless_same(ConvertFunction function, DType a, DType b) {
  return a == b ? nullptr : function;
}

template <typename T>
void copy_elements(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride,
                   std::int64_t count) {
  if (from_stride == 0) {
    const T value = *from;
    for (std::int64_t i = 0; i < count; ++i) to[i * to_stride] = value;
  } else if (to_stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * from_stride];
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
  }
}

/// memcpy whose call would cost more than the short runs it mostly copies here.
void copy_bytes(const std::byte* from, std::byte* to, std::size_t bytes) {
  if (bytes > 512) {
    std::memcpy(to, from, bytes);
    return;
  }
  std::size_t i = 0;
  for (; i + 32 <= bytes; i += 32) std::memcpy(to + i, from + i, 32);
  for (; i + 4 <= bytes; i += 4) std::memcpy(to + i, from + i, 4);
  for (; i < bytes; ++i) to[i] = from[i];
}

}  // namespace

void copy_run(const std::byte* from, std::int64_t from_stride, std::byte* to,
              std::int64_t to_stride, std::int64_t count, std::size_t item) {
  if (from_stride == 1 && to_stride == 1)
    return copy_bytes(from, to, static_cast<std::size_t>(count) * item);
  const auto run = [&]<typename T>(T) {
    copy_elements(reinterpret_cast<const T*>(from), from_stride, reinterpret_cast<T*>(to),
                  to_stride, count);
  };
  switch (item) {
    case 1: return run(std::uint8_t{});
    case 2: return run(std::uint16_t{});
    case 4: return run(std::uint32_t{});
    default: return run(std::uint64_t{});
  }
}

Walk::Walk(const Shape& shape, const Strides& strides) {
  int rank = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    const auto previous = static_cast<std::size_t>(rank - 1), next = static_cast<std::size_t>(rank);
    if (rank > 0 && strides_[previous] == shape[axis] * strides[axis]) {
      sizes_[previous] *= shape[axis];
      strides_[previous] = strides[axis];
      continue;
    }
    sizes_[next] = shape[axis];
    strides_[next] = strides[axis];
    ++rank;
  }
  rank_ = std::max(rank, 1);
}

Walk::Place Walk::place(std::int64_t position) const {
  if (rank_ == 1) return {position * strides_[0], sizes_[0] - position};
  Place place{0, 0};
  for (std::size_t i = last(); i > 0; --i) {
    const std::int64_t index = position % sizes_[i];
    position /= sizes_[i];
    place.offset += index * strides_[i];
    if (i == last()) place.left = sizes_[i] - index;
  }
  place.offset += position * strides_[0];
  return place;
}

TileReader::TileReader(const ConstView& view, DType compute, const Tiles& tiles)
    : data_(static_cast<const std::byte*>(view.data)),
      item_(item_size(view.dtype)),
      compute_item_(item_size(compute)),
      convert_(unless_same(load_function(tiles, view.dtype, compute), view.dtype, compute)),
      walk_(view.shape, view.strides),
      direct_(walk_.run_stride() == 1 && convert_ == nullptr),
      uniform_(walk_.single() && (walk_.run_stride() == 0 || walk_.run() == 1)) {
  if (uniform_ && element_count(view.shape) > 0) fill(data_, splat_.data(), tile_vector);
}

void TileReader::fill(const std::byte* element, void* to, std::int64_t count) const {
  alignas(8) std::array<std::byte, 8> value;
  if (convert_ == nullptr) std::memcpy(value.data(), element, item_);
  else convert_(element, value.data(), 1);
  copy_run(value.data(), 0, static_cast<std::byte*>(to), 1, count, compute_item_);
}

TileReader::Tile TileReader::load(std::int64_t first, std::int64_t count, void* buffer) const {
  if (uniform_) return {splat_.data(), 0};
  const Walk::Place place = walk_.place(first);
  if (place.left >= count) {
    if (direct_) return {at(place.offset), 1};
    if (walk_.run_stride() == 0) {
      fill(at(place.offset), buffer, tile_vector);
      return {buffer, 0};
    }
  }
  load_into(first, count, buffer);
  return {buffer, 1};
}

void TileReader::load_into(std::int64_t first, std::int64_t count, void* to) const {
  auto* out = static_cast<std::byte*>(to);
  if (uniform_) return copy_run(splat_.data(), 0, out, 1, count, compute_item_);
  if (convert_ == nullptr) return gather(first, count, out);
  if (walk_.run_stride() == 1) {
    return walk_.for_runs(first, count, [&](std::int64_t offset, std::int64_t run) {
      convert_(at(offset), out, run);
      out += static_cast<std::size_t>(run) * compute_item_;
    });
  }
  RawTile raw;
  for (std::int64_t done = 0; done < count; done += tile_size) {
    const std::int64_t piece = std::min(tile_size, count - done);
    gather(first + done, piece, raw.data());
    convert_(raw.data(), out + static_cast<std::size_t>(done) * compute_item_, piece);
  }
}

void TileReader::gather(std::int64_t first, std::int64_t count, std::byte* to) const {
  const std::int64_t stride = walk_.run_stride();
  walk_.for_runs(first, count, [&](std::int64_t offset, std::int64_t run) {
    copy_run(at(offset), stride, to, 1, run, item_);
    to += static_cast<std::size_t>(run) * item_;
  });
}

TileWriter::TileWriter(const View& view, DType compute, const Tiles& tiles)
    : data_(static_cast<std::byte*>(view.data)),
      item_(item_size(view.dtype)),
      compute_item_(item_size(compute)),
      convert_(unless_same(store_function(tiles, compute, view.dtype), view.dtype, compute)),
      walk_(view.shape, view.strides),
      direct_(walk_.single() && walk_.run_stride() == 1 && convert_ == nullptr) {}

void TileWriter::store(const void* from, std::int64_t first, std::int64_t count) const {
  const auto* in = static_cast<const std::byte*>(from);
  const auto at = [&](std::int64_t offset) {
    return data_ + offset * static_cast<std::int64_t>(item_);
  };
  const std::int64_t stride = walk_.run_stride();
  if (convert_ != nullptr && stride == 1) {
    return walk_.for_runs(first, count, [&](std::int64_t offset, std::int64_t run) {
      convert_(in, at(offset), run);
      in += static_cast<std::size_t>(run) * compute_item_;
    });
  }
  RawTile raw;
  for (std::int64_t done = 0; done < count; done += tile_size) {
    const std::int64_t piece = std::min(tile_size, count - done);
    const std::byte* stored = in + static_cast<std::size_t>(done) * compute_item_;
    if (convert_ != nullptr) {
      convert_(stored, raw.data(), piece);
      stored = raw.data();
    }
    walk_.for_runs(first + done, piece, [&](std::int64_t offset, std::int64_t run) {
      copy_run(stored, 1, at(offset), stride, run, item_);
      stored += static_cast<std::size_t>(run) * item_;
    });
  }
}

}  // namespace sinter::kernels
