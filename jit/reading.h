/// \file
/// What primitives read, seen through views that cost nothing.
#pragma once

#include <vector>

#include "jit/axes.h"
#include "jit/decompose.h"

namespace sinter::jit {

/// How the elements that a primitive reads lie: through views that add or drop axes of size 1 or
/// broadcast, which cost nothing.
struct Reading {
  Operand from;
  /// For each axis of `from` whose size is not 1 the number of the reader's axis it lies along,
  /// counted among those whose size is not 1. None for a constant.
  Axes axes;
  std::vector<DType> casts = {};  ///< what it is converted to on the way, one after the other
};

/// What a reader of this shape reads from operand `o`, whose axes are counted from the end.
Reading read_through(const Trace& trace, const Primitives& primitives, const Shape& reader,
                     Operand o);

/// Whose axes the readings of a primitive count: of a reduction and of gather those of what is
/// read.
const Shape& reader_shape(const Trace& trace, const Primitives& primitives, PrimitiveId i);

/// What the primitive reads, operand by operand. Of a reduction and of gather the axes are those of
/// what is reduced or picked from. The table of a take along its first axis has no entry for that
/// one: an index says where along it a slice lies.
std::vector<Reading> readings_of(const Trace& trace, const Primitives& primitives, PrimitiveId i);

/// For each primitive what has its elements, seen through such views: itself, where it is none.
std::vector<Operand> find_bases(const Trace& trace, const Primitives& primitives);

const Shape& shape_of(const Trace& trace, const Primitives& primitives, Operand o);
DType dtype_of(const Trace& trace, const Primitives& primitives, Operand o);

/// The sizes of a shape but those of 1.
Dims wide_sizes(const Shape& shape);

/// Whether a value is made anew by whoever reads it: one number, or a range of integers.
bool is_inlined(const Node& node);

}  // namespace sinter::jit
