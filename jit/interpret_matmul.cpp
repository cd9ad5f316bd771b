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
  const int rank = step.outputs[0].shape.rank();
  const auto operand_index = [&](const ConstView& operand, const Dims& index, std::int64_t row,
                                 std::int64_t column) {
    // The leading axes broadcast; the last two are the matrix.
    Dims full = index;
    full[rank - 2] = row;
    full[rank - 1] = column;
    Dims own = broadcast_index(full, operand.shape);
    own[own.rank() - 2] = row;
    own[own.rank() - 1] = column;
    return own;
  };
  with_sum_type(step.outputs[0].dtype, [&]<typename C>(C) {
    for_each_index(step.outputs[0].shape, [&](const Dims& index) {
      C sum = 0;
      for (std::int64_t k = 0; k < a.shape.back(); ++k)
        sum = sum + read<C>(a, operand_index(a, index, index[rank - 2], k)) *
                        read<C>(b, operand_index(b, index, k, index[rank - 1]));
      write<C>(step.outputs[0], index, sum);
    });
  });
}

void interpret_linear(const Step& step) {
  const ConstView &x = step.inputs[0], &weight = step.inputs[1];
  const auto fixed = step.node.fixed();
  const bool has_bias = fixed[1] != 0, has_residual = fixed[2] != 0;
  with_sum_type(step.outputs[0].dtype, [&]<typename C>(C) {
    for_each_index(step.outputs[0].shape, [&](const Dims& index) {
      const std::int64_t unit = index.back();
      C sum = 0;
      for (std::int64_t k = 0; k < weight.shape[1]; ++k) {
        Dims row = index;
        row[row.rank() - 1] = k;
        sum = sum + read<C>(x, row) * read<C>(weight, {unit, k});
      }
      if (has_bias) sum = sum + read<C>(step.inputs[2], {unit});
      sum = activated(static_cast<Activation>(fixed[0]), sum);
      if (has_residual) sum = sum + read<C>(step.inputs.back(), index);
      write<C>(step.outputs[0], index, sum);
    });
  });
}

}  // namespace sinter::jit
