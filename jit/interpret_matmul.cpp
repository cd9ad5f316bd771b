#include "jit/elements.h"
#include "jit/interpret_subjects.h"
#include "kernels/math.h"
#include "runtime/attributes.h"

namespace sinter::jit {
namespace {

/// Sums of products are taken in double (integers: in i64, which wraps) and rounded once: eager
/// agrees within the bound of its own additions in float.
template <typename Body>
void with_sum_type(DType dtype, Body&& body) {
  if (is_floating(dtype)) {
    body(double{});
  } else {
    body(std::int64_t{});
  }
}

template <typename C>
C activated(Activation activation, C x) {
  namespace m = kernels::m;
  if constexpr (std::is_floating_point_v<C>) {
    switch (activation) {
      case Activation::gelu: return m::gelu(x);
      case Activation::gelu_tanh: return m::gelu_tanh(x);
      case Activation::silu: return m::silu(x);
      default: break;
    }
  }
  return activation == Activation::relu ? m::relu(x) : x;
}

}  // namespace

void interpret_matmul(const Step& step) {
  const ConstView &a = step.inputs[0], &b = step.inputs[1];
  const Strides a_strides = contiguous_strides(a.shape), b_strides = contiguous_strides(b.shape);
  const int rank = step.outputs[0].shape.rank();
  // The element at (row, column) of the matrix that belongs to the result's `index`: the leading
  // axes broadcast.
  const auto start_of = [&](const ConstView& operand, const Strides& strides, Dims index,
                            std::int64_t row, std::int64_t column) {
    index[rank - 2] = row;
    index[rank - 1] = column;
    return offset_of(strides, broadcast_index(index, operand.shape));
  };
  with_sum_type(step.outputs[0].dtype, [&]<typename C>(C) {
    const std::vector<C> left = read_all<C>(a), right = read_all<C>(b);
    const std::int64_t inner = a.shape.back(), columns = b.shape.back();
    for_each_index(step.outputs[0].shape, [&](const Dims& index) {
      const std::int64_t row = start_of(a, a_strides, index, index[rank - 2], 0);
      const std::int64_t column = start_of(b, b_strides, index, 0, index[rank - 1]);
      C sum = 0;
      for (std::int64_t k = 0; k < inner; ++k)
        sum = sum + left[static_cast<std::size_t>(row + k)] *
                        right[static_cast<std::size_t>(column + k * columns)];
      write<C>(step.outputs[0], index, sum);
    });
  });
}

void interpret_linear(const Step& step) {
  const std::int64_t inner = step.inputs[1].shape[1];
  const auto fixed = step.node.fixed();
  const bool has_bias = fixed[1] != 0, has_residual = fixed[2] != 0;
  with_sum_type(step.outputs[0].dtype, [&]<typename C>(C) {
    const std::vector<C> x = read_all<C>(step.inputs[0]), weight = read_all<C>(step.inputs[1]);
    std::int64_t element = 0;
    for_each_index(step.outputs[0].shape, [&](const Dims& index) {
      const std::int64_t unit = index.back(), row = element++ / step.inputs[1].shape[0];
      C sum = 0;
      for (std::int64_t k = 0; k < inner; ++k)
        sum = sum + x[static_cast<std::size_t>(row * inner + k)] *
                        weight[static_cast<std::size_t>(unit * inner + k)];
      if (has_bias) sum = sum + read<C>(step.inputs[2], {unit});
      sum = activated(static_cast<Activation>(fixed[0]), sum);
      if (has_residual) sum = sum + read<C>(step.inputs.back(), index);
      write<C>(step.outputs[0], index, sum);
    });
  });
}

}  // namespace sinter::jit
