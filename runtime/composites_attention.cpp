#include <limits>

#include "runtime/attributes.h"
#include "runtime/composites_parts.h"
#include "runtime/creation.h"
#include "runtime/elementwise.h"
#include "runtime/nn.h"
#include "runtime/record.h"
#include "runtime/reductions.h"
#include "runtime/views.h"

namespace sinter {
namespace {

using Results = std::vector<Tensor>;

Tensor activate(const Tensor& a, Activation activation, Where at) {
  switch (activation) {
    case Activation::relu: return relu(a, at);
    case Activation::gelu: return gelu(a, at);
    case Activation::gelu_tanh: return gelu_tanh(a, at);
    case Activation::silu: return silu(a, at);
    default: return a;
  }
}

Results linear_parts(const CompositeContext& c) {
  const Where at = c.where;
  Tensor y = matmul(c.wide(0), transpose(c.wide(1), 0, 1, at), at);
  if (c.fixed(1) != 0) y = add(y, c.wide(2), at);
  y = activate(y, static_cast<Activation>(c.fixed(0)), at);
  if (c.fixed(2) != 0) y = add(y, in_dtype(c.inputs.back(), y.dtype(), at), at);
  return {c.narrow(y)};
}

/// The parts of attention that its gradient shares; q, k, v and the mask start at input `first`.
class Heads {
 public:
  Heads(const CompositeContext& c, std::size_t first) : c_(c), first_(first), at_(c.where) {
    q = c.wide(first);
    k = repeat(c.wide(first + 1));
    v = repeat(c.wide(first + 2));
  }

  std::int64_t keys() const { return k.shape()[2]; }
  double scale() const { return c_.real(0); }

  /// Each kv head once for every head that reads it.
  Tensor repeat(const Tensor& a) const {
    const Shape& s = a.shape();
    const std::int64_t heads = c_.inputs[first_].shape()[1];
    if (s[1] == heads) return a;
    const Tensor copies = expand(unsqueeze(a, 2, at_), {s[0], s[1], heads / s[1], s[2], s[3]}, at_);
    return reshape(copies, {s[0], heads, s[2], s[3]}, at_);
  }
  /// The transpose of repeat: the sum over the heads that read a kv head.
  Tensor gather(const Tensor& a, std::int64_t kv_heads) const {
    const Shape& s = a.shape();
    if (s[1] == kv_heads) return a;
    return sum(reshape(a, {s[0], kv_heads, s[1] / kv_heads, s[2], s[3]}, at_), {2}, false, at_);
  }

  /// p of kernels/attention.h.
  Tensor probabilities() const {
    Tensor scores = mul(matmul(q, transpose(k, -2, -1, at_), at_), scale(), at_);
    constexpr double never = -std::numeric_limits<double>::infinity();
    if (c_.fixed(1) != 0) {
      const Tensor& mask = c_.inputs[first_ + 3];
      scores = mask.dtype() == DType::boolean
                   ? where(mask, scores, never, at_)
                   : add(scores, in_dtype(mask, scores.dtype(), at_), at_);
    }
    if (c_.fixed(0) != 0) {
      const Tensor query = unsqueeze(arange(scores.shape()[2], DType::i64, at_), 1, at_);
      scores = where(less_equal(arange(keys(), DType::i64, at_), query, at_), scores, never, at_);
    }
    const Tensor most = detach(amax(scores, {-1}, true, at_), at_);
    const Tensor blind = equal(most, never, at_);
    const Tensor e = exp(sub(scores, where(blind, 0.0, most, at_), at_), at_);
    const Tensor total = sum(e, {-1}, true, at_);
    return div(e, where(blind, 1.0, total, at_), at_);
  }

  Tensor dropped(const Tensor& p) const {
    if (c_.fixed(2) == 0) return p;
    const double rate = c_.real(1);
    const Tensor draw = c_.draw(2, p.shape());
    return where(greater_equal(draw, rate, at_), mul(p, 1 / (1 - rate), at_), 0.0, at_);
  }

  /// The gradient of the scores, with g in the first input.
  Tensor score_gradient(const Tensor& p) const {
    const Tensor dp = dropped(matmul(c_.wide(0), transpose(v, -2, -1, at_), at_));
    return mul(p, sub(dp, sum(mul(p, dp, at_), {-1}, true, at_), at_), at_);
  }

  Tensor q, k, v;

 private:
  const CompositeContext& c_;
  std::size_t first_;
  Where at_;
};

Results attention_parts(const CompositeContext& c) {
  const Heads heads(c, 0);
  if (heads.keys() == 0) return {zeros(c.node.shape, c.node.dtype, c.where)};
  return {c.narrow(matmul(heads.dropped(heads.probabilities()), heads.v, c.where))};
}

Results attention_grad_parts(const CompositeContext& c) {
  const Where at = c.where;
  const Heads heads(c, 1);
  const std::int64_t kv_heads = c.inputs[2].shape()[1];
  if (heads.keys() == 0)
    return {zeros_like(c.inputs[1], at), zeros_like(c.inputs[2], at), zeros_like(c.inputs[3], at)};
  const Tensor p = heads.probabilities();
  const Tensor ds = mul(heads.score_gradient(p), heads.scale(), at);
  const Tensor dq = matmul(ds, heads.k, at);
  const Tensor dk = matmul(transpose(ds, -2, -1, at), heads.q, at);
  const Tensor dv = matmul(transpose(heads.dropped(p), -2, -1, at), c.wide(0), at);
  return {c.narrow(dq), c.narrow(heads.gather(dk, kv_heads)), c.narrow(heads.gather(dv, kv_heads))};
}

}  // namespace

Tensor attention_score_gradient(const CompositeContext& context) {
  const Heads heads(context, 1);
  return heads.score_gradient(heads.probabilities());
}

Composite product_composite(Op op) {
  switch (op) {
    case Op::linear: return linear_parts;
    case Op::attention: return attention_parts;
    case Op::attention_grad: return attention_grad_parts;
    default: return nullptr;
  }
}

}  // namespace sinter
