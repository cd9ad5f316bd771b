// Additions at indexed places. The lines along the axis are independent of each other, so they are
// what tasks divide; along a line one thread adds in the order of the source.
#include <algorithm>
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/index.h"
#include "kernels/lines.h"
#include "runtime/cpu/pool.h"

namespace sinter::kernels {
namespace {

/// Lines a task has, where there are that many: whole cache lines, a few vectors.
constexpr std::int64_t columns_a_task = 128;
/// Additions below which one task does everything.
constexpr std::int64_t small = 16384;

struct Places {
  ConstView indices;
  Lines by;
  std::int64_t extent;
  /// Whether all lines have the same indices, as in index_add.
  bool shared;
};

/// The columns `first` to `last` of the lines at `o`.
struct Block {
  std::int64_t o, first, last;
  std::int64_t width() const { return last - first; }
};

std::int64_t index_at(const Places& places, std::int64_t o, std::int64_t c, std::int64_t j) {
  const std::int64_t offset = places.by.at(o, c) + j * places.by.stride;
  return places.indices.dtype == DType::i32
             ? static_cast<const std::int32_t*>(places.indices.data)[offset]
             : static_cast<const std::int64_t*>(places.indices.data)[offset];
}

template <typename C, typename T>
void add_row(C* __restrict to, const T* __restrict from, std::int64_t width) {
  constexpr std::int64_t lanes = 16;
  std::int64_t c = 0;
  for (; c + lanes <= width; c += lanes)
    for (std::int64_t k = 0; k < lanes; ++k)
      to[c + k] = static_cast<C>(to[c + k] + static_cast<C>(from[c + k]));
  for (; c < width; ++c) to[c] = static_cast<C>(to[c] + static_cast<C>(from[c]));
}

/// Adds the block's sources to `to`, whose row for place p starts at `to + p * row_stride`.
template <typename C, typename T>
void add_block(const Places& places, const T* source, const Lines& from, const Block& block, C* to,
               std::int64_t row_stride, Fault& fault) {
  const std::int64_t width = places.by.inner_count();
  for (std::int64_t j = 0; j < places.by.extent; ++j) {
    for (std::int64_t c = block.first; c < block.last; ++c) {
      const std::int64_t index = index_at(places, block.o, c, j);
      if (index < 0 || index >= places.extent) {
        const std::int64_t row = block.o * places.by.extent + j;
        fault.report(FaultKind::index_out_of_range, places.shared ? j : row * width + c, index,
                     places.extent);
        if (places.shared) break;
        continue;
      }
      C* const row = to + index * row_stride;
      const T* const first = source + from.at(block.o, c) + j * from.stride;
      if (places.shared && from.dense) {
        add_row(row, first, block.width());
        break;
      }
      C& sum = row[c - block.first];
      sum = static_cast<C>(sum + static_cast<C>(*first));
    }
  }
}

/// For each place, whether the block adds anything there.
std::vector<bool> reached_places(const Places& places, const Block& block) {
  std::vector<bool> reached(static_cast<std::size_t>(places.extent));
  for (std::int64_t j = 0; j < places.by.extent; ++j) {
    for (std::int64_t c = block.first; c < block.last; ++c) {
      const std::int64_t index = index_at(places, block.o, c, j);
      if (index >= 0 && index < places.extent) reached[static_cast<std::size_t>(index)] = true;
      if (places.shared) break;
    }
  }
  return reached;
}

/// The block in a scratch of the compute type, rounded to `out` at the end.
template <typename C, typename T>
void add_block_widened(const Places& places, const T* source, const Lines& from, const Block& block,
                       T* out, std::int64_t row_stride, Fault& fault) {
  const std::int64_t width = block.width();
  const std::vector<bool> reached = reached_places(places, block);
  std::vector<C> sums(static_cast<std::size_t>(places.extent * width));
  const auto for_each_reached = [&](auto body) {
    for (std::int64_t p = 0; p < places.extent; ++p)
      for (std::int64_t c = 0; reached[static_cast<std::size_t>(p)] && c < width; ++c)
        body(out[p * row_stride + c], sums[static_cast<std::size_t>(p * width + c)]);
  };
  for_each_reached([](const T& element, C& sum) { sum = static_cast<C>(element); });
  add_block(places, source, from, block, sums.data(), width, fault);
  for_each_reached([](T& element, const C& sum) { element = static_cast<T>(sum); });
}

template <typename T>
void add_all(const Places& places, const ConstView& source, int axis, const View& out,
             Fault& fault) {
  const Lines from = lines(source, axis);
  // `out` may be larger off the axis than the source: only its first places take part.
  View reached = out;
  for (int i = 0; i < out.shape.rank(); ++i)
    if (i != axis) reached.shape[i] = source.shape[i];
  const Lines to = lines(reached, axis);
  const std::int64_t columns = from.inner_count();
  // A block is contiguous in `out`: the columns of one task, or all where `out` is larger.
  const std::int64_t width = !to.dense ? 1
                             : element_count(source.shape) <= small
                                 ? std::max<std::int64_t>(columns, 1)
                                 : std::min(columns, columns_a_task);
  const std::int64_t blocks = columns == 0 ? 0 : (columns + width - 1) / width;
  const std::int64_t all = from.outer_count() * blocks;
  const std::int64_t blocks_a_task =
      std::max<std::int64_t>(1, small / std::max<std::int64_t>(1, from.extent * width));
  const auto add_one = [&](std::int64_t number) {
    const std::int64_t o = number / blocks, first = number % blocks * width;
    const Block block{o, first, std::min(columns, first + width)};
    T* const start = static_cast<T*>(out.data) + to.at(o, first);
    const T* const data = static_cast<const T*>(source.data);
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      add_block_widened<float>(places, data, from, block, start, to.stride, fault);
    } else if constexpr (std::is_same_v<T, bool>) {
      add_block_widened<std::int64_t>(places, data, from, block, start, to.stride, fault);
    } else {
      // Narrow integers wrap to the same bits whether cut at every step or at the end.
      add_block(places, data, from, block, start, to.stride, fault);
    }
  };
  cpu::parallel_for((all + blocks_a_task - 1) / blocks_a_task, [&](std::int64_t task) {
    const std::int64_t end = std::min(all, (task + 1) * blocks_a_task);
    for (std::int64_t number = task * blocks_a_task; number < end; ++number) add_one(number);
  });
}

void add(const Places& places, const ConstView& a, const ConstView& source, int axis,
         const View& out, Fault& fault) {
  copy(a, out);
  with_storage_type(out.dtype,
                    [&]<typename T>(T) { add_all<T>(places, source, axis, out, fault); });
}

}  // namespace

void index_add(const ConstView& a, const ConstView& indices, const ConstView& source, int axis,
               const View& out, Fault& fault) {
  // The same indices on every line: strides of 0 off the axis.
  ConstView spread{indices.data, indices.dtype, source.shape,
                   Strides::filled(source.shape.rank(), 0)};
  spread.strides[axis] = indices.strides[0];
  add({spread, lines(spread, axis), a.shape[axis], true}, a, source, axis, out, fault);
}

void scatter_add(const ConstView& a, const ConstView& indices, const ConstView& source, int axis,
                 const View& out, Fault& fault) {
  add({indices, lines(indices, axis), a.shape[axis], false}, a, source, axis, out, fault);
}

}  // namespace sinter::kernels
