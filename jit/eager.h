/// \file
/// The level `eager`: one kernel compiled ahead of time for each node.
#pragma once

#include "jit/step.h"

namespace sinter::jit {

/// Which inputs a kernel may be given as the memory of an output, if they have its dtype and shape
/// and are contiguous.
enum class InPlace : std::uint8_t {
  never,
  any_input,
  own_position,  ///< foreach_map: those of the lists at the output's position
};

/// What runs an op at the level eager. Views have none: they alias their input's storage.
struct EagerKernel {
  StepFunction run = nullptr;
  InPlace in_place = InPlace::never;
};

EagerKernel eager_kernel(Op op);

// The kernels, by subject: each reads the attributes of the node and calls kernels/.
// eager_elementwise.cpp
void run_elementwise(const Step& step);
void run_cast(const Step& step);
void run_foreach_map(const Step& step);
// eager_generate.cpp
void run_constant(const Step& step);
void run_arange(const Step& step);
void run_random(const Step& step);
// eager_reduce.cpp: sum prod amax amin any all mean var logsumexp norm, argmax argmin
void run_reduce(const Step& step);
void run_arg_reduce(const Step& step);
// eager_index.cpp
void run_concatenate(const Step& step);
void run_pad(const Step& step);
void run_slice_update(const Step& step);
void run_take(const Step& step);
void run_index_add(const Step& step);
void run_gather(const Step& step);
void run_scatter_add(const Step& step);
void run_cumsum(const Step& step);
void run_sort(const Step& step);
// eager_nn.cpp
void run_matmul(const Step& step);
void run_linear(const Step& step);
void run_softmax(const Step& step);
void run_softmax_grad(const Step& step);
void run_layer_norm(const Step& step);
void run_layer_norm_grad(const Step& step);
void run_rms_norm(const Step& step);
void run_rms_norm_grad(const Step& step);
void run_cross_entropy(const Step& step);
void run_cross_entropy_grad(const Step& step);
void run_dropout(const Step& step);
void run_attention(const Step& step);
void run_attention_grad(const Step& step);

}  // namespace sinter::jit
