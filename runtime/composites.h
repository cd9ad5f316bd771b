/// \file
/// What each composite is made of: a composition of primitive ops with the same value. Second
/// derivatives go through it, and so does fusion.
#pragma once

#include <span>
#include <vector>

#include "runtime/tensor.h"

namespace sinter {

/// Whether decompose knows the op: the composites of ops.def, linear and attention, and the
/// gradient nodes of all of these.
bool has_decomposition(Op op);

/// Records what `node` computes from `inputs` (its own inputs, or others of their shapes and
/// dtypes) as primitive ops: one tensor for each of the results of the node.
///
/// f16 and bf16 are converted on entry, computed in f32 and rounded once on exit; where the kernel
/// computes in f64 inside (layer_norm, small products and attention), the parts do not. The
/// operations are those that the headers in kernels/ spell out, in their order, so that values of
/// the ordered class agree bit for bit.
std::vector<Tensor> decompose(const Node& node, std::span<const Tensor> inputs, Where where);

}  // namespace sinter
