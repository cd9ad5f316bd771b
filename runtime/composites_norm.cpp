#include "runtime/composites_parts.h"
#include "runtime/elementwise.h"
#include "runtime/record.h"
#include "runtime/reductions.h"
#include "runtime/results.h"

namespace sinter {
namespace {

using Results = std::vector<Tensor>;

/// The rows a norm works on: which axes they are, and the operands from `first` on.
class Rows {
 public:
  Rows(const CompositeContext& c, std::size_t first)
      : c_(c),
        first_(first),
        in_f64_(c.node.op == Op::layer_norm || c.node.op == Op::layer_norm_grad) {
    const Shape& shape = c.inputs[first].shape();
    const int axes = static_cast<int>(c.fixed(0));
    for (int axis = 0; axis < shape.rank(); ++axis)
      (axis < shape.rank() - axes ? leading_ : trailing_).push_back(axis);
    for (const std::int64_t axis : trailing_)
      count_ *= static_cast<double>(shape[static_cast<int>(axis)]);
  }

  bool has_weight() const { return c_.fixed(1) != 0; }
  bool has_bias() const { return c_.node.fixed().size() > 2 && c_.fixed(2) != 0; }
  /// Of a gradient node: what arrives at the result.
  Tensor g() const { return operand(0); }
  Tensor x() const { return operand(first_); }
  Tensor weight() const { return operand(first_ + 1); }
  Tensor bias() const { return operand(first_ + (has_weight() ? 2 : 1)); }

  Tensor mean(const Tensor& a) const {
    return div(sum(a, trailing_, true, c_.where), count_, c_.where);
  }
  /// The sum over rows, of a row's shape.
  Tensor over_rows(const Tensor& a) const {
    return leading_.empty() ? a : sum(a, leading_, false, c_.where);
  }

 private:
  Tensor operand(std::size_t i) const {
    return in_f64_ ? cast(c_.inputs[i], f64, c_.where) : c_.wide(i);
  }

  const CompositeContext& c_;
  std::size_t first_;
  bool in_f64_;
  Dims leading_, trailing_;
  double count_ = 1;
};

/// What is scaled, d, and what it is scaled by, r.
struct Scaled {
  Tensor distance, factor;

  Scaled(const CompositeContext& c, const Rows& rows, bool centered, double epsilon) {
    const Where at = c.where;
    distance = rows.x();
    // A mean far from 0 is rounded; what it is off by is taken away next.
    for (int pass = 0; centered && pass < 2; ++pass)
      distance = sub(distance, rows.mean(distance), at);
    const Tensor spread = rows.mean(square(distance, at));
    factor = div(1.0, sqrt(add(spread, epsilon, at), at), at);
  }
};

Results norm_parts(const CompositeContext& c) {
  const Rows rows(c, 0);
  const Scaled scaled(c, rows, c.node.op == Op::layer_norm, c.real(0));
  Tensor y = mul(scaled.distance, scaled.factor, c.where);
  if (rows.has_weight()) y = mul(y, rows.weight(), c.where);
  if (rows.has_bias()) y = add(y, rows.bias(), c.where);
  return {c.narrow(y)};
}

Results norm_grad_parts(const CompositeContext& c) {
  const Where at = c.where;
  const bool centered = c.node.op == Op::layer_norm_grad;
  const Rows rows(c, 1);
  const Scaled scaled(c, rows, centered, c.real(0));
  const Tensor g = rows.g();
  const Tensor z = mul(scaled.distance, scaled.factor, at);
  const Tensor h = rows.has_weight() ? mul(g, rows.weight(), at) : g;
  const Tensor pull = mul(z, rows.mean(mul(h, z, at)), at);
  const Tensor rest = centered ? sub(h, rows.mean(h), at) : h;
  Results all{c.narrow(mul(sub(rest, pull, at), scaled.factor, at))};
  if (rows.has_weight())
    all.push_back(in_dtype(rows.over_rows(mul(g, z, at)), c.inputs[2].dtype(), at));
  if (rows.has_bias()) all.push_back(in_dtype(rows.over_rows(g), c.inputs.back().dtype(), at));
  return all;
}

}  // namespace

Composite norm_composite(Op op) {
  switch (op) {
    case Op::layer_norm:
    case Op::rms_norm: return norm_parts;
    case Op::layer_norm_grad:
    case Op::rms_norm_grad: return norm_grad_parts;
    default: return nullptr;
  }
}

}  // namespace sinter
