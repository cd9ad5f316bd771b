/// \file
/// The composites by subject, for composites.cpp.
#pragma once

#include <span>
#include <vector>

#include "runtime/tensor.h"

namespace sinter {

/// What a decomposition works from.
struct CompositeContext {
  const Node& node;
  std::span<const Tensor> inputs;
  Where where;

  /// Input `i` in the type the node computes in.
  Tensor wide(std::size_t i) const;
  /// `a` rounded to the dtype of the node.
  Tensor narrow(const Tensor& a) const;
  std::int64_t fixed(std::size_t i) const { return node.fixed()[i]; }
  double real(std::size_t i) const { return node.slots()[i].real; }
  std::int64_t integer(std::size_t i) const { return node.slots()[i].integer; }
  /// The uniform draw that the slots from `slot` on name, of this shape.
  Tensor draw(std::size_t slot, const Shape& shape) const;
};

using Composite = std::vector<Tensor> (*)(const CompositeContext&);

// Each gives the decomposition of an op, or null where the op is not its subject.
Composite reduction_composite(Op op);  ///< composites_reduce.cpp: mean var logsumexp norm, softmax
Composite norm_composite(Op op);       ///< composites_norm.cpp: layer_norm, rms_norm
Composite loss_composite(Op op);       ///< composites_loss.cpp: cross_entropy, dropout
Composite product_composite(Op op);    ///< composites_attention.cpp: linear, attention

/// `a` with its gradient cut, and with 0 where it is infinite or NaN: what exponents are shifted
/// by.
Tensor shift_of(const Tensor& a, Where at);

/// The parts of an attention gradient, in the compute type and shape [batch, heads, queries, keys]:
/// the gradient of the scores after scaling (and so of an additive mask).
Tensor attention_score_gradient(const CompositeContext& context);

}  // namespace sinter
