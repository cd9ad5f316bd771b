#include "kernels/index.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/lines.h"
#include "runtime/cpu/pool.h"

namespace sinter::kernels {
namespace {

/// Elements a task should have at least, so that handing it out costs less than doing it.
constexpr std::int64_t task_elements = 16384;

template <typename Body>
void with_item(DType dtype, Body&& body) {
  switch (item_size(dtype)) {
    case 1: return body(std::uint8_t{});
    case 2: return body(std::uint16_t{});
    case 4: return body(std::uint32_t{});
    default: return body(std::uint64_t{});
  }
}

template <typename Body>
void with_index(DType dtype, Body&& body) {
  if (dtype == DType::i32) {
    body(std::int32_t{});
  } else {
    body(std::int64_t{});
  }
}

bool in_range(std::int64_t index, std::int64_t extent) { return index >= 0 && index < extent; }

View box(const View& whole, const Shape& shape, const Dims& starts, const Dims& steps) {
  View part = whole;
  part.shape = shape;
  std::int64_t offset = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    offset += starts[i] * whole.strides[i];
    part.strides[i] = steps[i] * whole.strides[i];
  }
  part.data = static_cast<std::byte*>(whole.data) +
              offset * static_cast<std::int64_t>(item_size(whole.dtype));
  return part;
}

/// All indices in row-major order; bad ones are reported and become -1.
std::vector<std::int64_t> checked_indices(const ConstView& indices, std::int64_t extent,
                                          Fault& fault) {
  std::vector<std::int64_t> values =
      offsets(indices.shape, indices.strides, 0, indices.shape.rank());
  with_index(indices.dtype, [&]<typename I>(I) {
    const I* data = static_cast<const I*>(indices.data);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t index = data[values[i]];
      values[i] = in_range(index, extent) ? index : -1;
      if (values[i] < 0)
        fault.report(FaultKind::index_out_of_range, static_cast<std::int64_t>(i), index, extent);
    }
  });
  return values;
}

}  // namespace

void concatenate(std::span<const ConstView> parts, int axis, const View& out) {
  Dims starts = Dims::filled(out.shape.rank(), 0);
  const Dims steps = Dims::filled(out.shape.rank(), 1);
  for (const ConstView& part : parts) {
    if (element_count(part.shape) > 0) copy(part, box(out, part.shape, starts, steps));
    starts[axis] += part.shape[axis];
  }
}

void pad(const ConstView& in, const void* value, const Dims& before, const View& out) {
  const std::int64_t count = element_count(out.shape);
  with_item(out.dtype, [&]<typename Item>(Item) {
    Item item;
    std::memcpy(&item, value, sizeof(Item));
    std::fill_n(static_cast<Item*>(out.data), count, item);
  });
  if (element_count(in.shape) > 0)
    copy(in, box(out, in.shape, before, Dims::filled(out.shape.rank(), 1)));
}

void slice_update(const ConstView& a, const ConstView& update, const Dims& starts,
                  const Dims& steps, const View& out) {
  copy(a, out);
  if (element_count(update.shape) > 0) copy(update, box(out, update.shape, starts, steps));
}

void take(const ConstView& a, const ConstView& indices, int axis, const View& out, Fault& fault) {
  if (element_count(out.shape) == 0) return;
  const Lines from = lines(a, axis);
  const std::vector<std::int64_t> places = checked_indices(indices, from.extent, fault);
  const std::int64_t count = static_cast<std::int64_t>(places.size());
  const std::int64_t width = from.inner_count(), rows = from.outer_count() * count;
  const std::int64_t rows_a_task = std::max<std::int64_t>(1, task_elements / width);
  with_item(a.dtype, [&]<typename Item>(Item) {
    const Item* data = static_cast<const Item*>(a.data);
    const auto row = [&](std::int64_t r) {
      Item* to = static_cast<Item*>(out.data) + r * width;
      const std::int64_t place = places[static_cast<std::size_t>(r % count)];
      if (place < 0) {
        std::fill_n(to, width, Item{});
        return;
      }
      const Item* start =
          data + from.outer[static_cast<std::size_t>(r / count)] + place * from.stride;
      if (from.dense) {
        std::memcpy(to, start, static_cast<std::size_t>(width) * sizeof(Item));
      } else {
        for (std::int64_t c = 0; c < width; ++c)
          to[c] = start[from.inner[static_cast<std::size_t>(c)]];
      }
    };
    cpu::parallel_for((rows + rows_a_task - 1) / rows_a_task, [&](std::int64_t task) {
      const std::int64_t end = std::min(rows, (task + 1) * rows_a_task);
      for (std::int64_t r = task * rows_a_task; r < end; ++r) row(r);
    });
  });
}

void gather(const ConstView& a, const ConstView& indices, int axis, const View& out, Fault& fault) {
  if (element_count(out.shape) == 0) return;
  // Off the axis only the first places of `a` are read.
  ConstView seen = a;
  for (int i = 0; i < a.shape.rank(); ++i)
    if (i != axis) seen.shape[i] = indices.shape[i];
  const Lines from = lines(seen, axis), by = lines(indices, axis);
  const std::int64_t width = by.inner_count();
  with_item(a.dtype, [&]<typename Item>(Item) {
    with_index(indices.dtype, [&]<typename I>(I) {
      const auto row = [&](std::int64_t r) {
        const std::int64_t o = r / by.extent, j = r % by.extent;
        Item* to = static_cast<Item*>(out.data) + r * width;
        for (std::int64_t c = 0; c < width; ++c) {
          const std::int64_t index =
              static_cast<const I*>(indices.data)[by.at(o, c) + j * by.stride];
          const bool good = in_range(index, from.extent);
          if (!good) fault.report(FaultKind::index_out_of_range, r * width + c, index, from.extent);
          to[c] =
              good ? static_cast<const Item*>(a.data)[from.at(o, c) + index * from.stride] : Item{};
        }
      };
      const std::int64_t rows = by.outer_count() * by.extent;
      const std::int64_t rows_a_task = std::max<std::int64_t>(1, task_elements / width);
      cpu::parallel_for((rows + rows_a_task - 1) / rows_a_task, [&](std::int64_t task) {
        const std::int64_t end = std::min(rows, (task + 1) * rows_a_task);
        for (std::int64_t r = task * rows_a_task; r < end; ++r) row(r);
      });
    });
  });
}

}  // namespace sinter::kernels
