#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/nn.h"
#include "runtime/record.h"

namespace sinter {
namespace {

constexpr std::string_view op = "cross_entropy";

void check_targets(const Tensor& logits, const Tensor& targets, Where at) {
  const auto refuse = [&](std::string_view problem) {
    usage_error(
        op, fmt::format("{}: logits {}, targets {}", problem, describe(logits), describe(targets)),
        at);
  };
  if (!is_floating(logits.dtype()) || logits.rank() == 0)
    refuse("logits must be floating, [..., classes]");
  if (targets.dtype() != DType::i32 && targets.dtype() != DType::i64)
    refuse("targets must be i32 or i64");
  const Shape& shape = logits.shape();
  if (targets.rank() != logits.rank() - 1 ||
      !std::equal(targets.shape().begin(), targets.shape().end(), shape.begin()))
    refuse("targets must have the shape of the logits without the classes");
  if (shape.back() == 0) refuse("there are no classes");
}

void check_options(const Tensor& logits, const CrossEntropyOptions& options, Where at) {
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1))
    usage_error(op, fmt::format("label smoothing {} is not in [0, 1]", options.label_smoothing),
                at);
  const Tensor& weight = options.weight;
  if (!weight.defined()) return;
  if (weight.shape() != Shape{logits.shape().back()} || !is_floating(weight.dtype()) ||
      compute_dtype(weight.dtype()) != compute_dtype(logits.dtype()))
    usage_error(op,
                fmt::format("weight must be [classes] with the compute type of the logits: {} "
                            "for logits {}",
                            describe(weight), describe(logits)),
                at);
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& targets,
                     const CrossEntropyOptions& options, Where at) {
  require_defined(op, logits, at);
  require_defined(op, targets, at);
  // No cast for autocast: the node computes in f32 and gives f32 for 16-bit logits anyway.
  check_targets(logits, targets, at);
  check_options(logits, options, at);
  const bool weighted = options.weight.defined();
  const std::array<NodeRef, 3> inputs{logits.ref(), targets.ref(),
                                      weighted ? options.weight.ref() : NodeRef()};
  const std::array<std::int64_t, 2> fixed{static_cast<std::int64_t>(options.reduction), weighted};
  const std::array slots{integer_slot(options.ignore_index), real_slot(options.label_smoothing)};
  return record_op({.op = Op::cross_entropy,
                    .dtype = compute_dtype(logits.dtype()),
                    .shape = options.reduction == Reduction::none ? targets.shape() : Shape{},
                    .inputs = std::span(inputs).first(weighted ? 3 : 2),
                    .fixed = fixed,
                    .slots = slots,
                    .where = at});
}

}  // namespace sinter
