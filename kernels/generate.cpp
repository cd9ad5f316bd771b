#include "kernels/generate.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/elementwise.h"
#include "kernels/random_tiles.h"
#include "kernels/tile_access.h"
#include "runtime/cpu/pool.h"

namespace sinter::kernels {
namespace {

constexpr std::int64_t tiles_per_task = 16;

/// Has make(first, count, buffer) write each tile in the type C, then stores it.
template <typename C, typename Make>
void by_tiles(const View& out, Make make) {
  const std::int64_t count = element_count(out.shape), each = tiles_per_task * tile_size;
  if (count == 0) return;
  const TileWriter writer(out, dtype_of<C>, tiles());
  cpu::parallel_for((count + each - 1) / each, [&](std::int64_t task) {
    alignas(64) std::array<C, tile_size> buffer;
    const std::int64_t last = std::min(count, (task + 1) * each);
    for (std::int64_t first = task * each; first < last; first += tile_size) {
      const std::int64_t size = std::min(tile_size, last - first);
      void* const in_place = writer.direct(first);
      C* const at = in_place != nullptr ? static_cast<C*>(in_place) : buffer.data();
      make(first, size, at);
      if (in_place == nullptr) writer.store(at, first, size);
    }
  });
}

/// Every element is the same.
template <typename C>
void fill_with(C value, const View& out) {
  alignas(8) std::array<std::byte, 8> element;
  store_function(tiles(), dtype_of<C>, out.dtype)(&value, element.data(), 1);
  copy({element.data(), out.dtype, out.shape, Strides::filled(out.shape.rank(), 0)}, out);
}

template <typename C>
void arange_of(C start, C step, const View& out) {
  by_tiles<C>(out, [&](std::int64_t first, std::int64_t count, C* to) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = start + static_cast<C>(first + i) * step;
  });
}

}  // namespace

void fill(double value, const View& out) { fill_with(value, out); }

void fill_integer(std::int64_t value, const View& out) { fill_with(value, out); }

void arange(double start, double step, const View& out) {
  if (compute_dtype(out.dtype) == f32)
    arange_of(static_cast<float>(start), static_cast<float>(step), out);
  else arange_of(start, step, out);
}

void arange_integer(std::int64_t start, std::int64_t step, const View& out) {
  arange_of(start, step, out);
}

void random(Op op, std::uint64_t seed, std::uint64_t ordinal, const View& out) {
  const RandomTiles& make = random_tiles();
  if (op == Op::random_bits) {
    return by_tiles<std::int64_t>(out,
                                  [&](std::int64_t first, std::int64_t count, std::int64_t* to) {
                                    make.bits(seed, ordinal, first, count, to);
                                  });
  }
  const auto function = op == Op::random_uniform ? make.uniform : make.normal;
  by_tiles<float>(out, [&](std::int64_t first, std::int64_t count, float* to) {
    function(seed, ordinal, first, count, to);
  });
}

}  // namespace sinter::kernels
