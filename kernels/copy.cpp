#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "kernels/elementwise.h"
#include "kernels/tile_access.h"
#include "kernels/transpose.h"
#include "runtime/cpu/pool.h"

namespace sinter::kernels {
namespace {

constexpr std::int64_t bytes_per_task = 128 * 1024;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

void copy_contiguous(const std::byte* from, std::byte* to, std::int64_t bytes) {
  cpu::parallel_for(ceil_div(bytes, bytes_per_task), [&](std::int64_t task) {
    const std::int64_t begin = task * bytes_per_task;
    std::memcpy(to + begin, from + begin,
                static_cast<std::size_t>(std::min(bytes_per_task, bytes - begin)));
  });
}

/// Another dtype: through tiles of the compute type of the source, which holds it exactly.
void convert(const ConstView& in, const View& out, std::int64_t count) {
  const DType compute = compute_dtype(in.dtype);
  const TileReader reader(in, compute, tiles());
  const TileWriter writer(out, compute, tiles());
  constexpr std::int64_t each = 32 * tile_size;
  cpu::parallel_for(ceil_div(count, each), [&](std::int64_t task) {
    alignas(64) std::array<std::byte, 8 * tile_size> buffer;
    const std::int64_t end = std::min(count, (task + 1) * each);
    for (std::int64_t first = task * each; first < end; first += tile_size) {
      const std::int64_t size = std::min(tile_size, end - first);
      if (void* const in_place = writer.direct(first)) {
        reader.load_into(first, size, in_place);
        continue;
      }
      auto [data, step] = reader.load(first, size, buffer.data());
      if (step == 0) reader.load_into(first, size, buffer.data()), data = buffer.data();
      writer.store(data, first, size);
    }
  });
}

/// One axis of a strided copy, its strides in bytes.
struct Axis {
  std::int64_t size, from, to;
};

/// Rows of `bytes` contiguous bytes each. Short ones are worth a loop of their own: a call of
/// memcpy for each would cost more than the copy.
void copy_rows(const std::byte* from, std::byte* to, const Axis& row, std::int64_t rows,
               std::int64_t bytes) {
  constexpr std::int64_t chunk = 32;
  if (bytes > 16 * chunk || bytes % chunk != 0) {
    for (std::int64_t r = 0; r < rows; ++r, from += row.from, to += row.to)
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  for (std::int64_t r = 0; r < rows; ++r, from += row.from, to += row.to)
    for (std::int64_t i = 0; i < bytes; i += chunk) std::memcpy(to + i, from + i, chunk);
}

/// A strided copy as planes of rows: the last two axes are the rows and columns of a plane, the
/// others walk over planes.
class StridedCopy {
 public:
  StridedCopy(const ConstView& in, const View& out)
      : from_(static_cast<const std::byte*>(in.data)),
        to_(static_cast<std::byte*>(out.data)),
        item_(static_cast<std::int64_t>(item_size(in.dtype))) {
    merge_axes(in, out);
    choose_plane();
  }

  void run() const {
    std::int64_t planes = 1;
    for (std::size_t i = 0; i + 2 < rank_; ++i) planes *= axes_[i].size;
    // A unit is a band of rows of one plane; a task takes as many units as make it worth while.
    const std::int64_t row_bytes = column().size * item_;
    const std::int64_t worth = std::max<std::int64_t>(1, bytes_per_task / row_bytes);
    const std::int64_t band =
        std::min(row().size, ceil_div(worth, transpose_block) * transpose_block);
    const std::int64_t bands = ceil_div(row().size, band), units = planes * bands;
    const std::int64_t each = std::max<std::int64_t>(1, bytes_per_task / (band * row_bytes));
    cpu::parallel_for(ceil_div(units, each), [&](std::int64_t task) {
      const std::int64_t end = std::min(units, (task + 1) * each);
      for (std::int64_t unit = task * each; unit < end; ++unit)
        copy_band(unit / bands, unit % bands * band, band);
    });
  }

 private:
  const Axis& row() const { return axes_[rank_ - 2]; }
  const Axis& column() const { return axes_[rank_ - 1]; }

  void merge_axes(const ConstView& in, const View& out) {
    axes_[rank_++] = {1, 0, 0};  // at least two axes
    for (int i = 0; i < in.shape.rank(); ++i) {
      if (in.shape[i] == 1) continue;
      const Axis axis{in.shape[i], in.strides[i] * item_, out.strides[i] * item_};
      Axis& previous = axes_[rank_ - 1];
      if (rank_ > 1 && previous.from == axis.size * axis.from && previous.to == axis.size * axis.to)
        previous = {previous.size * axis.size, axis.from, axis.to};
      else axes_[rank_++] = axis;
    }
    if (rank_ == 1) axes_[rank_++] = {1, item_, item_};
  }

  /// Columns are contiguous in the destination where any axis is, and rows in the source where
  /// columns are not: then a plane is transposed.
  void choose_plane() {
    const auto bring = [&](std::size_t place, std::int64_t Axis::*stride) {
      for (std::size_t i = 0; i <= place; ++i)
        if (axes_[i].*stride == item_) return std::swap(axes_[i], axes_[place]);
    };
    bring(rank_ - 1, &Axis::to);
    if (column().from != item_ && column().from != 0) bring(rank_ - 2, &Axis::from);
    transposed_ =
        column().to == item_ && column().from != item_ && column().from != 0 && row().from == item_;
  }

  void copy_band(std::int64_t plane, std::int64_t first_row, std::int64_t band) const {
    std::int64_t from = 0, to = 0;
    for (std::size_t i = rank_ - 2; i-- > 0;) {
      const std::int64_t index = plane % axes_[i].size;
      plane /= axes_[i].size;
      from += index * axes_[i].from;
      to += index * axes_[i].to;
    }
    const std::byte* source = from_ + from + first_row * row().from;
    std::byte* target = to_ + to + first_row * row().to;
    const std::int64_t rows = std::min(band, row().size - first_row);
    if (transposed_) {
      transpose(source, column().from / item_, target, row().to / item_, rows, column().size,
                static_cast<std::size_t>(item_));
      return;
    }
    if (column().from == item_ && column().to == item_)
      return copy_rows(source, target, row(), rows, column().size * item_);
    for (std::int64_t r = 0; r < rows; ++r) {
      copy_run(source, column().from / item_, target, column().to / item_, column().size,
               static_cast<std::size_t>(item_));
      source += row().from;
      target += row().to;
    }
  }

  const std::byte* from_;
  std::byte* to_;
  std::int64_t item_;
  std::array<Axis, max_rank + 1> axes_{};
  std::size_t rank_ = 0;
  bool transposed_ = false;
};

}  // namespace

void copy(const ConstView& in, const View& out) {
  const std::int64_t count = element_count(out.shape);
  if (count == 0) return;
  if (in.dtype != out.dtype) return convert(in, out, count);
  if (is_contiguous(in.shape, in.strides) && is_contiguous(out.shape, out.strides))
    return copy_contiguous(static_cast<const std::byte*>(in.data),
                           static_cast<std::byte*>(out.data),
                           count * static_cast<std::int64_t>(item_size(in.dtype)));
  StridedCopy(in, out).run();
}

}  // namespace sinter::kernels
