#include "kernels/transpose.h"

#include <algorithm>
#include <cstring>

namespace sinter::kernels {
namespace {

using U32x4 [[gnu::vector_size(16)]] = std::uint32_t;

U32x4 load(const std::uint32_t* from) {
  U32x4 v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

void store(U32x4 v, std::uint32_t* to) { std::memcpy(to, &v, sizeof v); }

/// Four by four elements in registers.
void transpose_4x4(const std::uint32_t* from, std::int64_t from_stride, std::uint32_t* to,
                   std::int64_t to_stride) {
  const U32x4 a = load(from), b = load(from + from_stride), c = load(from + 2 * from_stride),
              d = load(from + 3 * from_stride);
  const U32x4 ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const U32x4 ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const U32x4 cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const U32x4 cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store(__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5), to);
  store(__builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7), to + to_stride);
  store(__builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5), to + 2 * to_stride);
  store(__builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7), to + 3 * to_stride);
}

template <typename T>
void transpose_rest(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride,
                    std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) to[r * to_stride + c] = from[c * from_stride + r];
}

template <typename T>
void transpose_block_of(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride,
                        std::int64_t rows, std::int64_t columns) {
  if constexpr (sizeof(T) == 4) {
    const std::int64_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
    for (std::int64_t r = 0; r < whole_rows; r += 4)
      for (std::int64_t c = 0; c < whole_columns; c += 4)
        transpose_4x4(from + c * from_stride + r, from_stride, to + r * to_stride + c, to_stride);
    transpose_rest(from + whole_columns * from_stride, from_stride, to + whole_columns, to_stride,
                   whole_rows, columns - whole_columns);
    transpose_rest(from + whole_rows, from_stride, to + whole_rows * to_stride, to_stride,
                   rows - whole_rows, columns);
  } else {
    transpose_rest(from, from_stride, to, to_stride, rows, columns);
  }
}

template <typename T>
void transpose_typed(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride,
                     std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; r += transpose_block)
    for (std::int64_t c = 0; c < columns; c += transpose_block)
      transpose_block_of(from + c * from_stride + r, from_stride, to + r * to_stride + c, to_stride,
                         std::min(transpose_block, rows - r),
                         std::min(transpose_block, columns - c));
}

}  // namespace

void transpose(const std::byte* from, std::int64_t from_stride, std::byte* to,
               std::int64_t to_stride, std::int64_t rows, std::int64_t columns, std::size_t item) {
  const auto run = [&]<typename T>(T) {
    transpose_typed(reinterpret_cast<const T*>(from), from_stride, reinterpret_cast<T*>(to),
                    to_stride, rows, columns);
  };
  switch (item) {
    case 1: return run(std::uint8_t{});
    case 2: return run(std::uint16_t{});
    case 4: return run(std::uint32_t{});
    default: return run(std::uint64_t{});
  }
}

}  // namespace sinter::kernels
