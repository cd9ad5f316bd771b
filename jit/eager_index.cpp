#include <cstring>
#include <type_traits>

#include "jit/eager.h"
#include "kernels/index.h"
#include "kernels/scan.h"
#include "kernels/sort.h"

namespace sinter::jit {
namespace {

int axis(const Step& step) { return static_cast<int>(step.node.fixed()[0]); }

/// `count` integer slots from `first` on.
Dims slot_dims(const Step& step, std::size_t first, int count) {
  Dims dims;
  for (int i = 0; i < count; ++i)
    dims.push_back(step.node.slots()[first + static_cast<std::size_t>(i)].integer);
  return dims;
}

/// The number of a slot as one item of `dtype`, in the first bytes of the result.
std::uint64_t item(DType dtype, const Slot& slot) {
  std::uint64_t bits = 0;
  with_storage_type(dtype, [&]<typename T>(T) {
    T value;
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(slot.integer);
    } else if constexpr (std::is_same_v<T, double>) {
      value = slot.real;
    } else {
      value = static_cast<T>(static_cast<float>(slot.real));
    }
    std::memcpy(&bits, &value, sizeof value);
  });
  return bits;
}

}  // namespace

void run_concatenate(const Step& step) {
  kernels::concatenate(step.inputs, axis(step), step.outputs[0]);
}

void run_pad(const Step& step) {
  const kernels::View& out = step.outputs[0];
  const std::uint64_t value = item(out.dtype, step.node.slots()[0]);
  kernels::pad(step.inputs[0], &value, slot_dims(step, 1, out.shape.rank()), out);
}

void run_slice_update(const Step& step) {
  const kernels::View& out = step.outputs[0];
  kernels::slice_update(step.inputs[0], step.inputs[1], slot_dims(step, 0, out.shape.rank()),
                        Dims(step.node.fixed()), out);
}

void run_take(const Step& step) {
  kernels::take(step.inputs[0], step.inputs[1], axis(step), step.outputs[0], step.fault);
}

void run_gather(const Step& step) {
  kernels::gather(step.inputs[0], step.inputs[1], axis(step), step.outputs[0], step.fault);
}

void run_index_add(const Step& step) {
  kernels::index_add(step.inputs[0], step.inputs[1], step.inputs[2], axis(step), step.outputs[0],
                     step.fault);
}

void run_scatter_add(const Step& step) {
  kernels::scatter_add(step.inputs[0], step.inputs[1], step.inputs[2], axis(step), step.outputs[0],
                       step.fault);
}

void run_cumsum(const Step& step) { kernels::cumsum(step.inputs[0], axis(step), step.outputs[0]); }

void run_sort(const Step& step) {
  kernels::sort(step.inputs[0], axis(step), step.node.fixed()[1] != 0, step.outputs[0],
                step.outputs[1]);
}

}  // namespace sinter::jit
