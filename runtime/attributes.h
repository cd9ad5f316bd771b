/// \file
/// What the numbers on a node mean: for each op that has any, its fixed attributes (part of the
/// program: another value is another program) and its slots (filled per step, never part of a key).
///
///   op                  fixed                                   slots
///   constant                                                    value (integer for bool and
///                                                               integer dtypes, real otherwise)
///   arange                                                      start, step (as constant)
///   random_*                                                    seed, ordinal (integers)
///   reshape             axis of the input that each axis is, -1 for those made anew
///   permute             axis of the input for each axis
///   slice               step for each axis (not 0)              start for each axis (integers)
///   pick                which result
///   concatenate         axis
///   pad                                                         value (as constant), elements
///                                                               before each axis (integers)
///   slice_update        step for each axis                      start for each axis (integers)
///   take, index_add, gather, scatter_add, cumsum: axis
///   sort, topk          axis, descending (0 or 1)
///   sum prod amax amin any all mean logsumexp norm: bit mask of the axes
///   var                 bit mask of the axes, correction
///   argmax, argmin      axis
///   softmax, log_softmax and their gradients: axis
///   layer_norm          trailing axes, has weight, has bias     epsilon (real)
///   layer_norm_grad     as layer_norm                           epsilon
///   rms_norm (_grad)    trailing axes, has weight               epsilon
///   cross_entropy (_grad)  reduction (0 none, 1 mean, 2 sum), has weights
///                                                               ignore_index (integer),
///                                                               label smoothing (real)
///   dropout                                                     p (real), seed, ordinal (integers)
///   linear              activation, has bias, has residual
///   attention (_grad)   causal, has mask, has dropout           scale, p (real), seed, ordinal
///   foreach_map         lists, length, results of the body
///   custom_gradient     (the payload: what computes the gradient)
///
/// The inputs of custom_gradient: the value it passes on, then what backward gives gradients of, of
/// any shapes.
///
/// The inputs of the ops of indexing.h, in order; indices are i32 or i64.
///
///   concatenate         the parts, of one dtype
///   pad, cumsum, sort, topk  a
///   slice_update        a, update of a's dtype
///   take                a, indices of any rank, which take the axis's place in the result
///   index_add           a, indices [n], source [.., n, ..]
///   gather              a, indices of the result's shape
///   scatter_add         a, indices, source of one shape
///
/// The inputs of the ops of nn.h, in order; those in brackets are there where an attribute says so.
/// A gradient node takes the gradient of the result first.
///
///   matmul              a [..., m, k], b [..., k, n]: one dtype, leading axes broadcast
///   linear              x [..., in], weight [out, in], (bias [out]), (residual [..., out]): one
///                       dtype
///   softmax, log_softmax  a; the gradients: g, the result
///   layer_norm          a, (weight), (bias) of the shape of the trailing axes, of any floating
///                       dtype computed in a's compute type
///   layer_norm_grad     g, a, (weight), (bias) -> da, (dweight), (dbias)
///   rms_norm            a, (weight); rms_norm_grad: g, a, (weight) -> da, (dweight)
///   cross_entropy       logits [n..., classes], targets [n...] i32 or i64, (weight [classes])
///   cross_entropy_grad  g, logits, targets, (weight) -> dlogits
///   dropout             a
///   attention           q, k, v of four axes and one dtype, (mask: bool or floating, of at most
///                       four axes, broadcast to [batch, heads, queries, keys])
///   attention_grad      g, q, k, v, (mask) -> dq, dk, dv
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "graph.h"

namespace sinter {

/// A set of axes as a bit mask: bit i is axis i.
constexpr bool has_axis(std::int64_t mask, int axis) { return (mask >> axis) & 1; }

/// The axes in the mask, of a tensor of this rank.
inline Dims masked_axes(std::int64_t mask, int rank) {
  Dims axes;
  for (int axis = 0; axis < rank; ++axis)
    if (has_axis(mask, axis)) axes.push_back(axis);
  return axes;
}

enum class Activation : std::uint8_t { none, relu, gelu, gelu_tanh, silu };

enum class Reduction : std::uint8_t { none, mean, sum };

inline Slot real_slot(double value) { return Slot{.real = value}; }
inline Slot integer_slot(std::int64_t value) { return Slot{.integer = value}; }

/// Whether a number is one that `dtype` stores, rounded where it is floating; bool takes integers.
inline bool holds(DType dtype, double value) {
  if (is_floating(dtype)) return true;
  if (value != std::trunc(value)) return false;  // also for NaN
  switch (dtype) {
    case DType::u8: return value >= 0 && value <= 255;
    case DType::i32: return value >= -0x1p31 && value < 0x1p31;
    default: return value >= -0x1p63 && value < 0x1p63;
  }
}

/// The slot of a number stored in `dtype`: real for floating dtypes, integer for the others.
inline Slot number_slot(DType dtype, double value) {
  return is_floating(dtype) ? real_slot(value) : integer_slot(static_cast<std::int64_t>(value));
}

}  // namespace sinter
