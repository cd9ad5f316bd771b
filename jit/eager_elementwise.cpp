#include <algorithm>
#include <array>
#include <vector>

#include "jit/eager.h"
#include "kernels/elementwise.h"
#include "kernels/foreach.h"
#include "runtime/foreach_body.h"

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

void run_foreach_map(const Step& step) {
  const auto& trace = static_cast<const ForeachTrace&>(*step.node.payload);
  std::vector<kernels::ForeachOp> ops;
  for (const ForeachStep& each : trace.steps)
    ops.push_back({each.op, each.dtype, each.operands, each.compute});
  std::vector<kernels::ForeachNumber> numbers;
  for (const DType dtype : trace.number_dtypes) {
    const Slot slot = step.node.slots()[numbers.size()];
    if (is_floating(dtype)) numbers.push_back({dtype, slot.real, 0});
    else numbers.push_back({dtype, 0, slot.integer});
  }
  kernels::foreach_map({trace.list_dtypes, trace.shared_dtypes, numbers, ops, trace.results},
                       step.node.fixed()[1], step.inputs, step.outputs, step.fault);
}

}  // namespace sinter::jit
