/// \file
/// The parts of the interpreter, by subject.
#pragma once

#include <vector>

#include "jit/step.h"

namespace sinter::jit {

// interpret_elementwise.cpp
void interpret_elementwise(const Step& step);
void interpret_cast(const Step& step);
void interpret_foreach_map(const Step& step);
// interpret_generate.cpp
void interpret_constant(const Step& step);
void interpret_arange(const Step& step);
void interpret_random(const Step& step);
void interpret_dropout(const Step& step);
// interpret_view.cpp
void interpret_copy(const Step& step);
void interpret_permute(const Step& step);
void interpret_expand(const Step& step);
void interpret_slice(const Step& step);
// interpret_reduce.cpp
void interpret_reduce(const Step& step);
void interpret_arg_reduce(const Step& step);
// interpret_index.cpp
void interpret_concatenate(const Step& step);
void interpret_pad(const Step& step);
void interpret_slice_update(const Step& step);
void interpret_take(const Step& step);
void interpret_index_add(const Step& step);
void interpret_gather(const Step& step);
void interpret_scatter_add(const Step& step);
// interpret_order.cpp
void interpret_cumsum(const Step& step);
void interpret_sort(const Step& step);
// interpret_softmax.cpp
void interpret_softmax(const Step& step);
void interpret_softmax_grad(const Step& step);
// interpret_norm.cpp
void interpret_norm(const Step& step);
void interpret_norm_grad(const Step& step);
// interpret_cross_entropy.cpp
void interpret_cross_entropy(const Step& step);
void interpret_cross_entropy_grad(const Step& step);
// interpret_matmul.cpp
void interpret_matmul(const Step& step);
void interpret_linear(const Step& step);
// interpret_attention.cpp
void interpret_attention(const Step& step);
void interpret_attention_grad(const Step& step);

}  // namespace sinter::jit
