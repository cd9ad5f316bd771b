/// \file
/// The inner loops of elementwise kernels, compiled for each instruction set: functions over tiles,
/// short runs of elements in a compute type (float, double or std::int64_t). Storage types and
/// strides are dealt with at the edges of a tile, so they do not multiply the loops.
///
/// Which instruction set runs changes no bit of a result.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/dtype.h"
#include "runtime/op.h"

namespace sinter::kernels {

/// Elements a tile has at most where it goes through a buffer: 4 buffers of 8-byte elements stay in
/// the first-level cache.
inline constexpr std::int64_t tile_size = 1024;

/// Elements in the vectors of the inner loops. An operand with step 0 is an array of so many equal
/// elements, which every vector of the tile reads.
inline constexpr std::int64_t tile_vector = 16;

inline constexpr std::size_t compute_type_count = 3;

/// The position of a compute type in the tables.
constexpr std::size_t compute_index(DType compute) {
  return compute == DType::f32 ? 0 : compute == DType::f64 ? 1 : 2;
}

/// Operands of one tile. `out` may be exactly one of the inputs.
struct TileArguments {
  const void* in[3];
  std::int64_t step[3];  ///< 1, or 0 for a broadcast operand
  void* out;
  std::int64_t count;
};

using TileFunction = void (*)(const TileArguments&);
using ConvertFunction = void (*)(const void* from, void* to, std::int64_t count);

/// The elementwise ops come first in the enumeration.
inline constexpr std::size_t elementwise_count = 0
#define SINTER_UNARY(...) +1
#define SINTER_BINARY(...) +1
#define SINTER_TERNARY(...) +1
#include "runtime/ops.def"
    ;

/// Everything one instruction set provides; op functions are null where the op does not take the
/// compute type. Conversions are those that runtime/elementwise.h documents for `cast`.
struct Tiles {
  const TileFunction* op[compute_type_count];              ///< by Op
  ConvertFunction load[dtype_count][compute_type_count];   ///< storage type to compute type
  ConvertFunction store[compute_type_count][dtype_count];  ///< compute type to storage type
};

/// Those of the instruction set in use.
const Tiles& tiles();

inline TileFunction tile_function(const Tiles& from, Op op, DType compute) {
  return from.op[compute_index(compute)][static_cast<std::size_t>(op)];
}
inline ConvertFunction load_function(const Tiles& from, DType storage, DType compute) {
  return from.load[static_cast<std::size_t>(storage)][compute_index(compute)];
}
inline ConvertFunction store_function(const Tiles& from, DType compute, DType storage) {
  return from.store[compute_index(compute)][static_cast<std::size_t>(storage)];
}

}  // namespace sinter::kernels
