/// \file
/// Matrix products. f32 and, where the machine has the instructions, bf16 go to oneDNN; f16 and
/// bf16 elsewhere are converted to f32; f64 and integers have their own blocked code.
///
/// Sums are in f32 for 16-bit floats and f32, in f64, or in wrapping 64-bit integers, and are
/// rounded to the output's dtype once. Products of f32 are summed in f64 where rows * columns * k
/// is at most 2^21 (linear: 2^23) and there are at least 8 rows: small models get values that are
/// right to the last bit for a few percent of a step. How the work is cut depends on the shapes
/// alone, so a result has the same bits for any number of threads and in every run; the order of
/// the sums is otherwise the library's own.
#pragma once

#include "kernels/view.h"

namespace sinter::kernels {

/// out = a x b: a [..., m, k], b [..., k, n], out [..., m, n], the leading axes equal (broadcast
/// ones with stride 0). `a` and `b` have one dtype; `out` has it too, or f32 for 16-bit floats. Any
/// strides; with k = 0 the result is zeros.
void matmul(const ConstView& a, const ConstView& b, const View& out);

/// The function of `linear`, as the op of that name computes it; only `none` and `relu` for
/// integers.
enum class LinearActivation : std::uint8_t { none, relu, gelu, gelu_tanh, silu };

/// out = activation(x matmul w + bias) + residual, computed in the dtype of the sum and rounded
/// once (where f32 is summed in f64, a value that is activated is rounded to f32 before it is): x
/// [..., m, k], w [k, n] (a transposed view where it is stored [n, k]), bias [n] or null, residual
/// [..., m, n] or null, out [..., m, n]. One dtype; any strides. `out` may be exactly the memory of
/// `residual`.
void linear(const ConstView& x, const ConstView& w, const ConstView* bias,
            LinearActivation activation, const ConstView* residual, const View& out);

}  // namespace sinter::kernels
