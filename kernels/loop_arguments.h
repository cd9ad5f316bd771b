/// \file
/// The arguments of a generated kernel: everything that is not in its source. Plain data, for the
/// kernel is compiled apart, for the CPU or for a GPU.
#pragma once

#include <cstdint>

namespace sinter::kernels {

/// Axes that rows can have.
inline constexpr int loop_max_axes = 8;

/// Element [i0, i1, .., column] lies at base + origin + i0 * row_strides[0] + .. + column *
/// column_stride, counted in elements. Of an access without memory that number is the value. Where
/// it is fetched by an index, index * index_stride is added; indices are below index_extent.
struct LoopAccess {
  void* base;
  std::int64_t origin;
  std::int64_t column_stride;
  std::int64_t index_stride;
  std::int64_t index_extent;
  std::int64_t row_strides[loop_max_axes];
  /// Whether it has one row for each unit's rows, row_strides[0] apart, for sums of them.
  bool sums_rows;
};

/// A number of the user's: real where its compute type is floating.
union LoopNumber {
  double real;
  std::int64_t integer;
};

/// Accesses that a kernel can have.
inline constexpr int loop_max_accesses = 32;

/// Row buffers that a kernel can have.
inline constexpr int loop_max_row_buffers = 16;

/// A row, or a piece of one, and where its elements are.
struct LoopRow {
  std::int64_t offset[loop_max_accesses];  ///< of the piece's first column, for each access
  std::int64_t columns;                    ///< of the piece
  std::int64_t index[loop_max_axes];       ///< along the axes of the rows
};

struct LoopArguments;

/// A draw of random numbers (kernels/philox.h).
struct LoopDraw {
  std::int64_t seed, ordinal;
};

/// What kernels on the CPU call and need not be compiled with each of them.
struct LoopHost {
  /// Sets `row` to the first of a unit and gives the number of its rows.
  std::int64_t (*begin_unit)(const LoopArguments& arguments, std::int64_t unit, LoopRow& row);
  /// Moves on to the next row of the unit.
  void (*next_row)(const LoopArguments& arguments, LoopRow& row);
  /// Told of an index out of its extent; 0 is taken in its place.
  void (*refuse_index)(const LoopArguments& arguments, std::int64_t access, std::int64_t index);
  void* faults;  ///< for refuse_index
  /// Writes `count` elements of a draw, `stride` apart.
  void (*draw_uniform)(const LoopDraw& draw, std::int64_t first, std::int64_t stride,
                       std::int64_t count, float* out);
  /// Memory that stays this thread's until its next call with the same slot.
  void* (*scratch)(int slot, std::int64_t bytes);
};

/// What kernels on a GPU need beside. All memory is the device's; rows, units and the columns of a
/// unit are fewer than 2^31.
struct LoopDevice {
  std::int64_t pieces_of_row;  ///< units beside each other
  /// For the row buffers of all teams of the grid; null where they lie in shared memory, each
  /// team's after the other's.
  char* buffers;
  std::int64_t buffer_bytes;  ///< of one row buffer of one team, a multiple of 16
  std::int64_t buffer_count;
  /// Two words, 0 before: an access whose index was out of its extent, plus one, and the index.
  std::int64_t* fault;
};

struct LoopArguments {
  const LoopAccess* accesses;
  const LoopNumber* numbers;
  std::int64_t access_count;
  std::int64_t axes;  ///< of the rows: 0 for one row
  std::int64_t extents[loop_max_axes];
  std::int64_t rows, columns;
  /// A unit of work is that many rows by that many columns; where rows are summed, 64 rows.
  std::int64_t unit_rows, unit_columns;
  const LoopHost* host;  ///< null on a GPU
  LoopDevice device;     ///< not used on the CPU
};

using LoopFunction = void (*)(const LoopArguments* arguments, std::int64_t first_unit,
                              std::int64_t last_unit);

}  // namespace sinter::kernels
