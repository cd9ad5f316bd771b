#include <fmt/format.h>

#include "runtime/grad.h"
#include "runtime/gradients.h"
#include "runtime/modes.h"
#include "runtime/record.h"

namespace sinter {
namespace {

using Backward = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs,
                                                   const Tensor& result, const Tensor& g)>;

/// Evaluation passes the value on whatever the closure is.
struct BackwardPayload final : Payload {
  explicit BackwardPayload(Backward function) : backward(std::move(function)) {}
  bool in_program() const override { return false; }
  bool same_program(const Payload&) const override { return true; }
  std::uint64_t fingerprint() const override { return 0; }
  Backward backward;
};

}  // namespace

Tensor custom_gradient(const std::function<Tensor(const std::vector<Tensor>&)>& forward,
                       const Backward& backward, const std::vector<Tensor>& inputs, Where at) {
  if (!forward || !backward) usage_error("custom_gradient", "a function is empty", at);
  for (const Tensor& input : inputs) require_defined("custom_gradient", input, at);
  Tensor result;
  {
    const NoGrad no_grad;
    result = forward(inputs);
  }
  require_defined("custom_gradient", result, at);
  std::vector<NodeRef> nodes{result.ref()};
  for (const Tensor& input : inputs) nodes.push_back(input.ref());
  return record_op({.op = Op::custom_gradient,
                    .dtype = result.dtype(),
                    .shape = result.shape(),
                    .inputs = nodes,
                    .payload = std::make_shared<BackwardPayload>(backward),
                    .where = at});
}

std::vector<Tensor> differentiate_custom(const GradientContext& context) {
  const auto& payload = static_cast<const BackwardPayload&>(*context.node.payload);
  const std::vector<Tensor> inputs(context.inputs.begin() + 1, context.inputs.end());
  const std::vector<Tensor> own = payload.backward(inputs, context.result, context.g());
  if (own.size() != inputs.size())
    usage_error(
        "custom_gradient",
        fmt::format("backward returned {} gradients for {} inputs", own.size(), inputs.size()),
        context.where);
  std::vector<Tensor> gradients(1);  // the value itself was recorded without gradients
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i].defined() && !(own[i].shape() == inputs[i].shape()))
      usage_error(
          "custom_gradient",
          fmt::format("input {} is {}, its gradient {}", i, describe(inputs[i]), describe(own[i])),
          context.where);
    gradients.push_back(own[i]);
  }
  return gradients;
}

}  // namespace sinter
