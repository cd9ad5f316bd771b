#include <fmt/format.h>

#include <array>

#include "runtime/autocast.h"
#include "runtime/elementwise.h"
#include "runtime/nn.h"
#include "runtime/record.h"
#include "runtime/views.h"

namespace sinter {
namespace {

/// The leading axes of two matrices or stacks of them, broadcast.
Shape broadcast_leading(const Tensor& a, const Tensor& b, Where at) {
  const auto leading = [](const Shape& shape) {
    return Shape(std::span(shape.begin(), static_cast<std::size_t>(shape.rank() - 2)));
  };
  const std::optional<Shape> joined = broadcast(leading(a.shape()), leading(b.shape()));
  if (!joined)
    usage_error("matmul",
                fmt::format("leading axes do not broadcast: {} x {}", describe(a), describe(b)),
                at);
  return *joined;
}

Tensor record_matmul(const Tensor& a, const Tensor& b, Where at) {
  if (a.shape().back() != b.shape()[b.rank() - 2])
    usage_error("matmul", fmt::format("inner sizes differ: {} x {}", describe(a), describe(b)), at);
  Shape shape = broadcast_leading(a, b, at);
  shape.push_back(a.shape()[a.rank() - 2]);
  shape.push_back(b.shape().back());
  const std::array inputs{a.ref(), b.ref()};
  return record_op(
      {.op = Op::matmul, .dtype = a.dtype(), .shape = shape, .inputs = inputs, .where = at});
}

/// The operands of linear, checked.
struct LinearOperands {
  Tensor x, weight, bias, residual;
  Shape shape;  ///< of the result
};

void check_linear(std::string_view call, const LinearOperands& operands, Where at) {
  const auto& [x, weight, bias, residual, shape] = operands;
  const auto refuse = [&](std::string_view problem, const Tensor& a, const Tensor& b) {
    usage_error(call, fmt::format("{}: {}, {}", problem, describe(a), describe(b)), at);
  };
  if (x.rank() < 1 || weight.rank() != 2)
    refuse("takes x [..., in] and weight [out, in]", x, weight);
  if (!is_floating(x.dtype()) || !is_floating(weight.dtype()))
    refuse("operands must be floating", x, weight);
  if (x.shape().back() != weight.shape()[1])
    refuse("the last size of x is not the weight's", x, weight);
  if (bias.defined() && (bias.shape() != Shape{weight.shape()[0]} || !is_floating(bias.dtype())))
    refuse("the bias must be floating, [out] for the weight's [out, in]", bias, weight);
  if (residual.defined() && (residual.shape() != shape || !is_floating(residual.dtype())))
    usage_error(call,
                fmt::format("the residual must be floating, of the result's shape {}: {}",
                            to_string(shape), describe(residual)),
                at);
}

/// linear under the name its caller knows; the operands as given.
Tensor record_linear(std::string_view call, LinearOperands operands, Activation activation,
                     Where at) {
  operands.x = autocast_low(operands.x, at);
  operands.weight = autocast_low(operands.weight, at);
  operands.bias = autocast_low(operands.bias, at);
  const auto& [x, weight, bias, residual, shape] = operands;
  operands.shape = x.shape();
  if (x.rank() > 0 && weight.rank() > 0) operands.shape[x.rank() - 1] = weight.shape()[0];
  check_linear(call, operands, at);

  DType dtype = promote(x.dtype(), weight.dtype());
  if (bias.defined()) dtype = promote(dtype, bias.dtype());
  std::array<NodeRef, 4> inputs{in_dtype(x, dtype, at).ref(), in_dtype(weight, dtype, at).ref()};
  std::size_t count = 2;
  if (bias.defined()) inputs[count++] = in_dtype(bias, dtype, at).ref();
  // A wider residual stays wide, as if it were added by an op of its own.
  const bool joined = residual.defined() && promote(dtype, residual.dtype()) == dtype;
  if (joined) inputs[count++] = in_dtype(residual, dtype, at).ref();
  const std::array<std::int64_t, 3> fixed{static_cast<std::int64_t>(activation), bias.defined(),
                                          joined};
  const Tensor product = record_op({.op = Op::linear,
                                    .dtype = dtype,
                                    .shape = shape,
                                    .inputs = {inputs.data(), count},
                                    .fixed = fixed,
                                    .where = at,
                                    .call = call});
  return residual.defined() && !joined ? add(product, residual, at) : product;
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, Where at) {
  require_defined("matmul", a, at);
  require_defined("matmul", b, at);
  if (a.rank() == 0 || b.rank() == 0)
    usage_error("matmul", fmt::format("operands need an axis: {} x {}", describe(a), describe(b)),
                at);
  Tensor x = autocast_low(a, at), y = autocast_low(b, at);
  const DType dtype = promote(x.dtype(), y.dtype());
  if (dtype == DType::boolean) usage_error("matmul", "has no meaning for bool", at);
  x = in_dtype(x, dtype, at);
  y = in_dtype(y, dtype, at);
  if (a.rank() == 1) x = unsqueeze(x, 0, at);
  if (b.rank() == 1) y = unsqueeze(y, 1, at);
  Tensor product = record_matmul(x, y, at);
  if (b.rank() == 1) product = squeeze(product, -1, at);
  if (a.rank() == 1) product = squeeze(product, b.rank() == 1 ? -1 : -2, at);
  return product;
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation,
              const Tensor& residual, Where at) {
  require_defined("linear", x, at);
  require_defined("linear", weight, at);
  return record_linear("linear", {x, weight, bias, residual, {}}, activation, at);
}

Tensor conv2d_patches(const Tensor& image, const Tensor& weight, const Tensor& bias, Where at) {
  require_defined("conv2d_patches", image, at);
  require_defined("conv2d_patches", weight, at);
  const auto refuse = [&](std::string_view problem) {
    usage_error("conv2d_patches",
                fmt::format("{}: {}, {}", problem, describe(image), describe(weight)), at);
  };
  if (image.rank() != 4 || weight.rank() != 4)
    refuse("takes image [n, channels, h, w] and weight [out, channels, p, q]");
  if (!is_floating(image.dtype()) || !is_floating(weight.dtype()))
    refuse("operands must be floating");
  const Shape &size = image.shape(), &kernel = weight.shape();
  if (size[1] != kernel[1]) refuse("channels differ");
  const std::int64_t p = kernel[2], q = kernel[3];
  if (p == 0 || q == 0 || size[2] % p != 0 || size[3] % q != 0)
    refuse("the image is not a whole number of patches");
  const std::int64_t down = size[2] / p, across = size[3] / q, patch = size[1] * p * q;

  // One matrix product: a row for each patch.
  const Tensor cut = reshape(image, {size[0], size[1], down, p, across, q}, at);
  const Tensor rows =
      reshape(permute(cut, {0, 2, 4, 1, 3, 5}, at), {size[0], down, across, patch}, at);
  const Tensor features =
      record_linear("conv2d_patches", {rows, reshape(weight, {kernel[0], patch}, at), bias, {}, {}},
                    Activation::none, at);
  return permute(features, {0, 3, 1, 2}, at);
}

}  // namespace sinter
