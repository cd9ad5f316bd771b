#include "jit/eager.h"
#include "kernels/reduce.h"

namespace sinter::jit {

void run_reduce(const Step& step) {
  const auto fixed = step.node.fixed();
  const std::int64_t correction = step.node.op == Op::var ? fixed[1] : 0;
  kernels::reduce(step.node.op, step.inputs[0], fixed[0], correction, step.outputs[0]);
}

void run_arg_reduce(const Step& step) {
  kernels::arg_reduce(step.node.op, step.inputs[0], static_cast<int>(step.node.fixed()[0]),
                      step.outputs[0]);
}

}  // namespace sinter::jit
