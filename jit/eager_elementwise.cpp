#include <algorithm>
#include <array>

#include "jit/eager.h"
#include "kernels/elementwise.h"

namespace sinter::jit {
namespace {

/// The view as all operands see it: broadcast axes get stride 0.
kernels::ConstView expanded(const kernels::ConstView& view, const Shape& shape) {
  if (view.shape == shape) return view;
  kernels::ConstView wide{view.data, view.dtype, shape, Strides::filled(shape.rank(), 0)};
  for (int i = 1; i <= view.shape.rank(); ++i)
    if (view.shape[view.shape.rank() - i] != 1)
      wide.strides[shape.rank() - i] = view.strides[view.shape.rank() - i];
  return wide;
}

/// What the arithmetic is done in. The condition of `where` does not count.
DType joined_compute_dtype(Op op, std::span<const kernels::ConstView> inputs) {
  DType joined = i64;
  for (const kernels::ConstView& input : inputs.subspan(op == Op::where ? 1 : 0))
    joined = std::max(joined, compute_dtype(input.dtype));
  return joined;
}

}  // namespace

void run_elementwise(const Step& step) {
  const kernels::View& out = step.outputs[0];
  std::array<kernels::ConstView, 3> views;
  for (std::size_t i = 0; i < step.inputs.size(); ++i)
    views[i] = expanded(step.inputs[i], out.shape);
  kernels::elementwise(step.node.op, joined_compute_dtype(step.node.op, step.inputs),
                       std::span(views).first(step.inputs.size()), out, step.fault);
}

void run_cast(const Step& step) { kernels::copy(step.inputs[0], step.outputs[0]); }

}  // namespace sinter::jit
