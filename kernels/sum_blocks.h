/// \file
/// The blocks in which rows and columns are combined: the order of reduce.h.
#pragma once

#include <cstdint>

namespace sinter::kernels {

/// Elements of a block of a row, and its lanes.
inline constexpr std::int64_t row_block = 4096, row_lanes = 64;
/// Rows of a block of columns.
inline constexpr std::int64_t column_block = 64;

}  // namespace sinter::kernels
