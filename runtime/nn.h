/// \file
/// Matrix products, norms, losses and attention: the ops of a transformer.
///
/// Composites convert f16 and bf16 on entry, compute in f32 (layer_norm in f64 inside) and round
/// once on exit, and so do their gradients. Matrix products and attention accumulate in f32, in f64
/// for f64, and in wrapping i64 for integers. Small ones of f32 accumulate in f64: products of at
/// least 8 rows whose rows * columns * k is at most 2^21 (linear: 2^23), attention with queries *
/// keys * (d + e) of at most 2^21 over all batches and heads, and its gradient. How they are cut
/// into pieces depends on shapes alone, so a run repeats bit for bit at any thread count.
///
/// \throws UsageError naming op, shapes or dtypes and the caller's line.
#pragma once

#include <limits>

#include "attributes.h"
#include "random.h"
#include "tensor.h"

namespace sinter {

/// a [..., m, k] x b [..., k, n] -> [..., m, n], leading axes broadcast. Rank 1 on the left is one
/// row, on the right one column, and the axis is dropped again, as in NumPy.
Tensor matmul(const Tensor& a, const Tensor& b, Where at = Where::current());

/// activation(x @ weight^T + bias) + residual, rounded once: x [..., in], weight [out, in], bias
/// [out] or not defined, residual [..., out] or not defined -> [..., out]. A residual of a wider
/// dtype than the others (as under autocast) is added afterwards, in its own dtype. The gradient of
/// an activation computes the product again; for training, an op of its own after linear is faster.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              Activation activation = Activation::none, const Tensor& residual = {},
              Where at = Where::current());

/// Convolution whose stride is its kernel: image [n, channels, h, w], weight
/// [out, channels, p, q], bias [out] or not defined -> [n, out, h / p, w / q]. h and w must be
/// multiples of p and q.
Tensor conv2d_patches(const Tensor& image, const Tensor& weight, const Tensor& bias = {},
                      Where at = Where::current());

/// Floating dtypes; the result has a's shape and dtype.
Tensor softmax(const Tensor& a, std::int64_t axis = -1, Where at = Where::current());
Tensor log_softmax(const Tensor& a, std::int64_t axis = -1, Where at = Where::current());

/// (a - mean) / sqrt(var + epsilon) * weight + bias over the trailing axes of `weight`'s shape, or
/// the last one; var is the biased one, computed in two passes. weight and bias may be undefined.
Tensor layer_norm(const Tensor& a, const Tensor& weight = {}, const Tensor& bias = {},
                  double epsilon = 1e-5, Where at = Where::current());
/// a / sqrt(mean(a^2) + epsilon) * weight.
Tensor rms_norm(const Tensor& a, const Tensor& weight = {}, double epsilon = 1e-6,
                Where at = Where::current());

struct CrossEntropyOptions {
  Reduction reduction = Reduction::mean;
  std::int64_t ignore_index = -100;  ///< rows with this target count for nothing
  double label_smoothing = 0;        ///< in [0, 1]
  Tensor weight = {};                ///< [classes] or not defined
};
/// logits [n..., classes], targets i32 or i64 [n...] -> [] (or [n...] for Reduction::none), in f32
/// for f16 and bf16 logits. mean divides by the weights of the rows that count; with none left it
/// is NaN, and sum is 0. A target that is neither a class nor ignore_index is an error. Ignored
/// rows have gradient 0 whatever their logits are. No gradient passes to `weight`.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets,
                     const CrossEntropyOptions& options = {}, Where at = Where::current());

/// Elements zeroed with probability p, the others divided by 1 - p. p in [0, 1].
Tensor dropout(const Tensor& a, double p, Generator& generator = default_generator(),
               Where at = Where::current());

struct AttentionOptions {
  Tensor mask = {};     ///< bool (false: not seen) or floating (added to the scores); broadcasts to
                        ///< [batch, heads, queries, keys]
  bool causal = false;  ///< query i sees keys 0..i
  double scale = std::numeric_limits<double>::quiet_NaN();  ///< NaN: 1 / sqrt(head size)
  double dropout = 0;
  Generator* generator = nullptr;  ///< null: the default one
};
/// softmax(q @ k^T * scale + mask) @ v. q [batch, heads, queries, d], k [batch, kv heads, keys, d],
/// v [batch, kv heads, keys, e] -> [batch, heads, queries, e]; kv heads divides heads: head h reads
/// kv head h / (heads / kv heads). A query that sees no key gives 0, and gradient 0.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {},
                                    Where at = Where::current());

}  // namespace sinter
