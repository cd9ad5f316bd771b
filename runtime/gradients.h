/// \file
/// The derivative of each op: a rule that turns the gradients of a node's results into gradients of
/// its inputs, written in ordinary ops.
#pragma once

#include <span>
#include <vector>

#include "runtime/graph.h"
#include "runtime/tensor.h"

namespace sinter {

struct GradientContext {
  const Node& node;
  std::span<const Tensor> inputs;
  std::span<const Tensor> gradients;  ///< one for each result; not defined where none arrives
  std::span<const bool> wanted;       ///< for each input, whether its gradient is asked for
  Tensor result;                      ///< the node itself; result 0 where it has several
  Where where;

  const Tensor& g() const { return gradients[0]; }
};

/// Returns a tensor for each input; not defined where there is no derivative or it is not wanted.
/// Broadcasting of elementwise operands and dtypes of inputs are undone by the caller.
using GradientRule = std::vector<Tensor> (*)(const GradientContext& context);

/// The rule of an op, or null where it has no derivative.
GradientRule gradient_rule(Op op);

// The rules, by subject.
GradientRule elementwise_gradient_rule(Op op);  ///< gradients_elementwise.cpp: rows of ops.def
GradientRule structure_gradient_rule(Op op);    ///< gradients_structure.cpp: views, reductions
GradientRule index_gradient_rule(Op op);        ///< gradients_index.cpp: movement by index
GradientRule nn_gradient_rule(Op op);           ///< gradients_nn.cpp: matrix products, composites

/// The rule of custom_gradient, in custom_gradient.cpp: what the user gave.
std::vector<Tensor> differentiate_custom(const GradientContext& context);

/// `g` summed to `shape`, from which it was broadcast.
Tensor sum_to(const Tensor& g, const Shape& shape, Where at);

}  // namespace sinter
