/// \file
/// Transposition of raw elements.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinter::kernels {

/// Rows a block of transpose has: with as many columns, each cache line it meets is used whole.
inline constexpr std::int64_t transpose_block = 16;

/// to[r, c] = from[c, r] for `rows` x `columns` elements of `item` bytes: `from` is at
/// c * from_stride + r, `to` at r * to_stride + c, in elements.
void transpose(const std::byte* from, std::int64_t from_stride, std::byte* to,
               std::int64_t to_stride, std::int64_t rows, std::int64_t columns, std::size_t item);

}  // namespace sinter::kernels
