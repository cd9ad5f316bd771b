/// \file
/// Map: one body over lists of tensors, as one kernel runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "jit/decompose.h"
#include "runtime/foreach_body.h"

namespace sinter::jit {

/// A foreach_map, with those whose results it reads.
struct Map {
  /// Where a number of the body comes from: a slot of a primitive.
  struct Number {
    PrimitiveId primitive;
    std::uint32_t slot;
  };
  /// What a result of the body is: at each position one of the results of a primitive.
  struct Result {
    PrimitiveId primitive;
    std::vector<std::uint32_t> index;
  };

  PrimitiveId primitive = 0;  ///< the last of the foreach_maps
  std::shared_ptr<const ForeachTrace> body;
  std::size_t length = 0;         ///< the positions
  std::vector<Operand> operands;  ///< of the lists, one list after the other, then the shared ones
  std::vector<Number> numbers;
  std::vector<Result> results;

  std::size_t lists() const { return static_cast<std::size_t>(body->lists); }
  Operand operand(std::size_t list, std::size_t position) const {
    return operands[list * length + position];
  }
};

/// The shape of the results at a position: of its lists that have axes, or of a number.
Shape shape_at(const Trace& trace, const Primitives& primitives, const Map& map,
               std::size_t position);

/// The maps of a trace.
struct Maps {
  static constexpr std::uint32_t none = UINT32_MAX;

  std::vector<Map> maps;
  /// For each foreach_map that is in one the map that gives its results at each position, or `none`
  /// where nothing reads them. Those whose data can make them fail, or that have more operands than
  /// a kernel can have, are in no map.
  std::map<PrimitiveId, std::vector<std::uint32_t>> given_by;
};

}  // namespace sinter::jit
