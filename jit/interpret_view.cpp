#include "jit/elements.h"
#include "jit/interpret_subjects.h"

namespace sinter::jit {

void interpret_copy(const Step& step) {
  // The n-th element in row-major order is the n-th of the result, whatever the shapes.
  const ConstView& in = step.inputs[0];
  const View& out = step.outputs[0];
  View flat{out.data, out.dtype, {element_count(out.shape)}, {1}};
  std::int64_t position = 0;
  for_each_index(in.shape, [&](const Dims& index) { copy_element(in, index, flat, {position++}); });
}

void interpret_permute(const Step& step) {
  for_each_index(step.outputs[0].shape, [&](const Dims& index) {
    Dims source = index;
    for (int axis = 0; axis < index.rank(); ++axis)
      source[static_cast<int>(step.node.fixed()[static_cast<std::size_t>(axis)])] = index[axis];
    copy_element(step.inputs[0], source, step.outputs[0], index);
  });
}

void interpret_expand(const Step& step) {
  for_each_index(step.outputs[0].shape, [&](const Dims& index) {
    copy_element(step.inputs[0], broadcast_index(index, step.inputs[0].shape), step.outputs[0],
                 index);
  });
}

void interpret_slice(const Step& step) {
  for_each_index(step.outputs[0].shape, [&](const Dims& index) {
    Dims source = index;
    for (int axis = 0; axis < index.rank(); ++axis) {
      const std::size_t i = static_cast<std::size_t>(axis);
      source[axis] = step.node.slots()[i].integer + index[axis] * step.node.fixed()[i];
    }
    copy_element(step.inputs[0], source, step.outputs[0], index);
  });
}

}  // namespace sinter::jit
