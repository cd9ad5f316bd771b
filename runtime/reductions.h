/// \file
/// Reductions over axes. An empty `axes` list means all axes; reduced axes are dropped unless
/// `keepdim`.
///
/// Order ("ordered" class): the order of additions is a function of the extents and of which axes
/// are reduced, written down in kernels/reduce.h; threads, fusion and instruction sets do not
/// change it. f16 and bf16 accumulate in f32 and round once; sum, prod and mean of bool and
/// integers accumulate in i64.
/// An empty extent gives the identity (sum 0, prod 1, any false, all true, norm 0, logsumexp -inf),
/// NaN for mean, var and std; amax, amin, argmax and argmin of one is a UsageError.
/// mean, var, std, logsumexp and norm take floating tensors only (cast integers first) and give
/// their dtype; the others take all but where they say so.
#pragma once

#include "tensor.h"

namespace sinter {

/// i64 for bool and integers, else the dtype of `a`.
Tensor sum(const Tensor& a, const Dims& axes = {}, bool keepdim = false,
           Where at = Where::current());
Tensor prod(const Tensor& a, const Dims& axes = {}, bool keepdim = false,
            Where at = Where::current());
Tensor mean(const Tensor& a, const Dims& axes = {}, bool keepdim = false,
            Where at = Where::current());
/// NaN wins. The gradient is shared evenly among ties.
Tensor amax(const Tensor& a, const Dims& axes = {}, bool keepdim = false,
            Where at = Where::current());
Tensor amin(const Tensor& a, const Dims& axes = {}, bool keepdim = false,
            Where at = Where::current());
/// bool; nonzero (also NaN) counts as true.
Tensor any(const Tensor& a, const Dims& axes = {}, bool keepdim = false,
           Where at = Where::current());
Tensor all(const Tensor& a, const Dims& axes = {}, bool keepdim = false,
           Where at = Where::current());
/// i64 positions along `axis`; the first of equals, the first NaN before all. Without an axis: of
/// the flattened tensor.
Tensor argmax(const Tensor& a, std::int64_t axis, bool keepdim = false,
              Where at = Where::current());
Tensor argmin(const Tensor& a, std::int64_t axis, bool keepdim = false,
              Where at = Where::current());
Tensor argmax(const Tensor& a, Where at = Where::current());
Tensor argmin(const Tensor& a, Where at = Where::current());

/// Two passes in f64, rounded once: squares of the distances to the mean, over count - correction.
/// Where that is not above 0 the result is infinite, or NaN where all distances are 0, as in
/// PyTorch.
Tensor var(const Tensor& a, const Dims& axes = {}, std::int64_t correction = 1,
           bool keepdim = false, Where at = Where::current());
/// The root of var. Its gradient at 0 is 0.
Tensor std(const Tensor& a, const Dims& axes = {}, std::int64_t correction = 1,
           bool keepdim = false, Where at = Where::current());
/// log(sum(exp(a))), right at infinities: all -inf gives -inf.
Tensor logsumexp(const Tensor& a, const Dims& axes = {}, bool keepdim = false,
                 Where at = Where::current());
/// The Euclidean norm. Its gradient at 0 is 0.
Tensor norm(const Tensor& a, const Dims& axes = {}, bool keepdim = false,
            Where at = Where::current());

}  // namespace sinter
