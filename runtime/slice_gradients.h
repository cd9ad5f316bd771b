/// \file
/// The gradients of slices of one tensor, gathered until they can be put together.
#pragma once

#include <vector>

#include "runtime/graph.h"
#include "runtime/tensor.h"

namespace sinter {

class SliceGradients {
 public:
  bool empty() const { return slices_.empty(); }

  /// `slice` is a slice of the tensor and `gradient` its gradient.
  void add(const NodeRef& slice, const Tensor& gradient) { slices_.push_back({slice, gradient}); }

  /// Gradients of the tensor, which is of `shape`, to be added, and forgets the slices. Where the
  /// slices lie side by side and cover the tensor (queries, keys and values of one product) that is
  /// one concatenation, else for each slice its gradient among zeros.
  std::vector<Tensor> take(const Shape& shape);

 private:
  struct SliceGradient {
    NodeRef slice;
    Tensor gradient;
  };

  std::vector<SliceGradient> slices_;
};

}  // namespace sinter
