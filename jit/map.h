/// \file
/// Map: one body over lists of tensors, as one kernel runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "jit/decompose.h"
#include "runtime/foreach_body.h"

namespace sinter::jit {

/// A foreach_map whose data cannot make it fail.
struct Map {
  /// Where a number of the body comes from: a slot of a primitive.
  struct Number {
    PrimitiveId primitive;
    std::uint32_t slot;
  };
  /// What a result of the body is, by position: results of a primitive from `first` on.
  struct Result {
    PrimitiveId primitive;
    std::uint32_t first;
  };

  std::shared_ptr<const ForeachTrace> body;
  std::size_t length = 0;         ///< the positions
  std::vector<Operand> operands;  ///< of the lists, one list after the other, then the shared ones
  std::vector<Number> numbers;
  std::vector<Result> results;

  Operand operand(std::size_t list, std::size_t position) const {
    return operands[list * length + position];
  }
};

}  // namespace sinter::jit
