/// \file
/// A concatenation whose elements are sums of whole tensors: the norms of a list of gradients.
#pragma once

#include <vector>

#include "runtime/dtype.h"
#include "runtime/op.h"

namespace sinter::jit {

/// What becomes of each tensor of the list: `before` is applied to each element, the results are
/// summed and rounded to `sum`, and `after` is applied to that.
struct ListFold {
  /// An elementwise op of one operand, or a cast.
  struct Step {
    Op op;
    DType dtype;    ///< of the result
    DType compute;  ///< the type the arithmetic is done in
    friend bool operator==(const Step&, const Step&) = default;
  };

  DType read;  ///< the tensors' dtype
  std::vector<Step> before;
  DType sum;
  std::vector<Step> after;

  friend bool operator==(const ListFold&, const ListFold&) = default;
};

}  // namespace sinter::jit
