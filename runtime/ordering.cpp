// The functions of indexing.h that follow an order along an axis.
#include <fmt/format.h>

#include <array>

#include "runtime/indexing.h"
#include "runtime/record.h"

namespace sinter {
namespace {

/// A node of `sort` or `topk`.
NodeRef ordered(Op op, const Tensor& a, int axis, std::int64_t count, bool descending, Where at) {
  Shape shape = a.shape();
  shape[axis] = count;
  const std::array<std::int64_t, 2> fixed{axis, descending};
  const NodeRef input = a.ref();
  return record({.op = op,
                 .dtype = a.dtype(),
                 .shape = shape,
                 .inputs = {&input, 1},
                 .fixed = fixed,
                 .where = at});
}

NodeRef sort_node(std::string_view op, const Tensor& a, std::int64_t axis, bool descending,
                  Where at) {
  require_defined(op, a, at);
  const int along = normalize_axis(op, axis, a.rank(), at);
  return ordered(Op::sort, a, along, a.shape()[along], descending, at);
}

std::pair<Tensor, Tensor> both_results(const NodeRef& node, Where at) {
  const std::vector<Tensor> both = pick_results(node, at);
  return {both[0], both[1]};
}

}  // namespace

Tensor cumsum(const Tensor& a, std::int64_t axis, Where at) {
  require_defined("cumsum", a, at);
  const std::int64_t along = normalize_axis("cumsum", axis, a.rank(), at);
  const NodeRef input = a.ref();
  return record_op({.op = Op::cumsum,
                    .dtype = is_floating(a.dtype()) ? a.dtype() : DType::i64,
                    .shape = a.shape(),
                    .inputs = {&input, 1},
                    .fixed = {&along, 1},
                    .where = at});
}

std::pair<Tensor, Tensor> sort(const Tensor& a, std::int64_t axis, bool descending, Where at) {
  const NodeRef node = sort_node("sort", a, axis, descending, at);
  return both_results(node, at);
}

Tensor argsort(const Tensor& a, std::int64_t axis, bool descending, Where at) {
  const NodeRef node = sort_node("argsort", a, axis, descending, at);
  return pick_result(node, 1, at);
}

std::pair<Tensor, Tensor> topk(const Tensor& a, std::int64_t count, std::int64_t axis, bool largest,
                               Where at) {
  require_defined("topk", a, at);
  const int along = normalize_axis("topk", axis, a.rank(), at);
  if (count < 0 || count > a.shape()[along])
    usage_error("topk",
                fmt::format("{} of {} along axis {}, which has {}", count, describe(a), along,
                            a.shape()[along]),
                at);
  const NodeRef node = ordered(Op::topk, a, along, count, largest, at);
  return both_results(node, at);
}

}  // namespace sinter
