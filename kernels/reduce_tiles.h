/// \file
/// The inner loops of reductions, compiled for each instruction set: blocks of rows and columns in
/// the order that reduce.h lays down, so that no bit depends on the instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/sum_blocks.h"
#include "kernels/tiles.h"

namespace sinter::kernels {

/// How two elements become one. Of amax and amin, NaN wins.
enum class Combine : std::uint8_t { sum, prod, amax, amin };
inline constexpr std::size_t combine_count = 4;

/// out[r] = the `extent` elements (1 to row_block) from `from + r * extent` combined.
using RowsFunction = void (*)(const void* from, std::int64_t rows, std::int64_t extent, void* out);

/// out[i] = from[i], from[i + stride], ... (`rows` of them) combined in order, i below `width`;
/// unless `first`, beginning with what is in out.
using ColumnsFunction = void (*)(const void* from, std::int64_t stride, std::int64_t rows,
                                 std::int64_t width, void* out, bool first);

struct ReduceTiles {
  RowsFunction rows[compute_type_count][combine_count];
  ColumnsFunction columns[compute_type_count][combine_count];
};

/// Those of the instruction set in use.
const ReduceTiles& reduce_tiles();

}  // namespace sinter::kernels
