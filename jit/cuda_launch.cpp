#include "jit/cuda_launch.h"

#include <algorithm>

#include "kernels/sum_blocks.h"

namespace sinter::jit {
namespace {

/// Threads of a block; of those with one team of very many columns, twice as many.
constexpr int block_threads = 256, wide_block_threads = 512;
/// Columns up to which a warp walks a row, and up to which a block of the usual size does.
constexpr std::int64_t warp_columns = 1024, block_columns = 16384;
/// Columns of a unit where rows need not be walked as a whole: four for each thread of a block;
/// where rows are summed, one for each lane.
constexpr std::int64_t piece_columns = 1024, summed_piece_columns = 32;

int team_threads(std::int64_t unit_columns, bool pieces) {
  if (pieces && unit_columns == piece_columns) return block_threads;
  if (unit_columns <= warp_columns) return 32;
  return unit_columns <= block_columns ? block_threads : wide_block_threads;
}

std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

CudaLaunch cuda_launch(const Loop& loop, std::int64_t rows, std::int64_t columns) {
  const bool sums = loop.adds_rows(), whole = loop.whole_rows();
  CudaLaunch launch{};
  const std::int64_t piece = sums ? summed_piece_columns : piece_columns;
  launch.unit_columns = std::max<std::int64_t>(whole ? columns : std::min(columns, piece), 1);
  launch.unit_rows = sums ? kernels::column_block : 1;
  launch.pieces_of_row = quotient_up(std::max<std::int64_t>(columns, 1), launch.unit_columns);
  launch.units = quotient_up(rows, launch.unit_rows) * launch.pieces_of_row;
  launch.team_threads = team_threads(launch.unit_columns, launch.pieces_of_row > 1);
  launch.teams = launch.team_threads == 32 ? block_threads / 32 : 1;
  launch.blocks = quotient_up(launch.units, launch.teams);

  launch.buffer_bytes = quotient_up(launch.unit_columns * 8, 16) * 16;
  const std::int64_t bytes = launch.buffer_bytes * loop.row_buffers * launch.teams;
  if (bytes <= cuda_shared_bytes) launch.shared_bytes = bytes;
  else launch.global_bytes = bytes * launch.blocks;
  return launch;
}

}  // namespace sinter::jit
