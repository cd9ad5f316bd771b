#include <fmt/format.h>

#include <array>
#include <cmath>

#include "runtime/autocast.h"
#include "runtime/nn.h"
#include "runtime/record.h"

namespace sinter {
namespace {

constexpr std::string_view op = "scaled_dot_product_attention";

void check_operands(const Tensor& q, const Tensor& k, const Tensor& v, Where at) {
  const auto refuse = [&](std::string_view problem) {
    usage_error(op,
                fmt::format("{}: q {}, k {}, v {}", problem, describe(q), describe(k), describe(v)),
                at);
  };
  for (const Tensor* operand : {&q, &k, &v}) {
    if (operand->rank() != 4) refuse("operands must be [batch, heads, length, size]");
    if (!is_floating(operand->dtype())) refuse("operands must be floating");
  }
  const Shape &a = q.shape(), &b = k.shape(), &c = v.shape();
  if (a[0] != b[0] || b[0] != c[0]) refuse("batches differ");
  if (b[1] != c[1]) refuse("k and v have different heads");
  if (b[1] == 0 ? a[1] != 0 : a[1] % b[1] != 0)
    refuse("the heads of q are not a multiple of those of k and v");
  if (a[3] != b[3]) refuse("q and k have different head sizes");
  if (b[2] != c[2]) refuse("k and v have different lengths");
}

void check_mask(const Tensor& mask, const Shape& scores, Where at) {
  if (mask.dtype() != DType::boolean && !is_floating(mask.dtype()))
    usage_error(op, fmt::format("the mask must be bool or floating: {}", describe(mask)), at);
  if (broadcast(mask.shape(), scores) != scores)
    usage_error(op,
                fmt::format("the mask does not broadcast to [batch, heads, queries, keys]: {} to "
                            "{}",
                            describe(mask), to_string(scores)),
                at);
}

double score_scale(double scale, std::int64_t head_size) {
  if (!std::isnan(scale)) return scale;
  return head_size == 0 ? 1 : 1 / std::sqrt(static_cast<double>(head_size));
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options, Where at) {
  for (const Tensor* operand : {&q, &k, &v}) require_defined(op, *operand, at);
  check_operands(q, k, v, at);
  const double p = options.dropout;
  if (!(p >= 0 && p <= 1)) usage_error(op, fmt::format("dropout {} is not in [0, 1]", p), at);
  const bool masked = options.mask.defined();
  const std::int64_t queries = q.shape()[2], keys = k.shape()[2];
  if (masked) check_mask(options.mask, {q.shape()[0], q.shape()[1], queries, keys}, at);

  const std::array low{autocast_low(q, at), autocast_low(k, at), autocast_low(v, at)};
  const DType dtype = promote(promote(low[0].dtype(), low[1].dtype()), low[2].dtype());
  const std::array<NodeRef, 4> inputs{
      in_dtype(low[0], dtype, at).ref(), in_dtype(low[1], dtype, at).ref(),
      in_dtype(low[2], dtype, at).ref(), masked ? options.mask.ref() : NodeRef()};
  Generator& generator = options.generator ? *options.generator : default_generator();
  const std::uint64_t seed = p > 0 ? generator.seed() : 0;
  const std::uint64_t ordinal = p > 0 ? generator.take() : 0;
  const std::array<std::int64_t, 3> fixed{options.causal, masked, p > 0};
  const std::array slots{real_slot(score_scale(options.scale, q.shape()[3])), real_slot(p),
                         integer_slot(static_cast<std::int64_t>(seed)),
                         integer_slot(static_cast<std::int64_t>(ordinal))};
  return record_op({.op = Op::attention,
                    .dtype = dtype,
                    .shape = {q.shape()[0], q.shape()[1], queries, v.shape()[3]},
                    .inputs = std::span(inputs).first(masked ? 4 : 3),
                    .fixed = fixed,
                    .slots = slots,
                    .where = at});
}

}  // namespace sinter
