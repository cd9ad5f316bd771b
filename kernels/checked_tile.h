/// \file
/// Tiles of integer ops that the data can make fail.
#pragma once

#include "kernels/fault.h"
#include "kernels/tiles.h"

namespace sinter::kernels {

/// Whether `op` in the compute type needs run_checked_tile.
bool is_checked(Op op, DType compute);

/// Runs a tile of at most tile_size elements of floor_divide, remainder, fmod or pow on integers.
/// Where the second operand is 0 (negative, of pow) it writes 0 and reports a fault, element 0 of
/// the tile being at position `first`.
void run_checked_tile(Op op, TileFunction function, const TileArguments& tile, std::int64_t first,
                      Fault& fault);

}  // namespace sinter::kernels
