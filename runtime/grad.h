/// \file
/// Reverse-mode differentiation. Derivatives are recorded as ordinary nodes, so they fuse, are
/// differentiated again and are evaluated like everything else.
#pragma once

#include <functional>
#include <vector>

#include "tensor.h"
#include "variable.h"

namespace sinter {

struct GradOptions {
  /// Record the derivative so that it can be differentiated itself. Without it the history that
  /// was walked is let go when the values are evaluated.
  bool create_graph = false;
};

/// d loss / d wrt[i] for each i, of wrt[i]'s shape and dtype; not defined (Tensor{}) where `loss`
/// does not depend on it. `loss` has one floating element.
/// `wrt` are Variables (their current value) or any tensors on the way to `loss`.
/// \throws UsageError for another loss, and where the way was cut because a value was evaluated
/// that no trainable Variable reaches.
std::vector<Tensor> grad(const Tensor& loss, const std::vector<Tensor>& wrt,
                         const GradOptions& options = {}, Where at = Where::current());
std::vector<Tensor> grad(const Tensor& loss, const std::vector<Variable>& wrt,
                         const GradOptions& options = {}, Where at = Where::current());

/// The vector-Jacobian product: as grad for outputs of any shape, each with the gradient that
/// arrives at it (of its shape and dtype).
std::vector<Tensor> vjp(const std::vector<Tensor>& outputs, const std::vector<Tensor>& cotangents,
                        const std::vector<Tensor>& wrt, const GradOptions& options = {},
                        Where at = Where::current());

/// Calls `forward(inputs)`, whose one result gets `backward(inputs, result, g)` as its derivative:
/// one tensor for each input, of its shape, or not defined. Nothing recorded inside forward is
/// differentiated.
Tensor custom_gradient(
    const std::function<Tensor(const std::vector<Tensor>&)>& forward,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs, const Tensor& result,
                                            const Tensor& g)>& backward,
    const std::vector<Tensor>& inputs, Where at = Where::current());

}  // namespace sinter
