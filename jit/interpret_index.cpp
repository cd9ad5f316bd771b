#include "jit/elements.h"
#include "jit/interpret_subjects.h"

namespace sinter::jit {
namespace {

using kernels::FaultKind;

int axis_of(const Step& step) { return static_cast<int>(step.node.fixed()[0]); }

/// Whether the index is good; reports it otherwise.
bool check(const Step& step, std::int64_t index, std::int64_t position, std::int64_t extent) {
  if (index >= 0 && index < extent) return true;
  step.fault.report(FaultKind::index_out_of_range, position, index, extent);
  return false;
}

void write_zero(const View& out, const Dims& index) {
  with_storage_type(out.dtype, [&]<typename T>(T) {
    static_cast<T*>(out.data)[offset_of(out.strides, index)] = T{};
  });
}

void copy_all(const ConstView& in, const View& out) {
  for_each_index(out.shape, [&](const Dims& index) { copy_element(in, index, out, index); });
}

/// Adds the sources to a copy of input 0, in row-major order of the source, in the compute type;
/// place_of(index) gives the place along the axis, or -1.
template <typename PlaceOf>
void add_sources(const Step& step, PlaceOf place_of) {
  const View& out = step.outputs[0];
  with_compute_type(out.dtype, [&]<typename C>(C) {
    std::vector<C> sums = read_all<C>(step.inputs[0]);
    const Strides strides = contiguous_strides(out.shape);
    const ConstView& source = step.inputs[2];
    for_each_index(source.shape, [&](const Dims& index) {
      Dims place = index;
      place[axis_of(step)] = place_of(index);
      if (place[axis_of(step)] < 0) return;
      C& sum = sums[static_cast<std::size_t>(offset_of(strides, place))];
      sum = sum + read<C>(source, index);
    });
    write_all(out, sums);
  });
}

}  // namespace

void interpret_concatenate(const Step& step) {
  std::int64_t start = 0;
  for (const ConstView& part : step.inputs) {
    for_each_index(part.shape, [&](const Dims& index) {
      Dims place = index;
      place[axis_of(step)] += start;
      copy_element(part, index, step.outputs[0], place);
    });
    start += part.shape[axis_of(step)];
  }
}

void interpret_pad(const Step& step) {
  const View& out = step.outputs[0];
  const auto slots = step.node.slots();
  with_compute_type(out.dtype, [&]<typename C>(C) {
    const C value =
        std::is_integral_v<C> ? static_cast<C>(slots[0].integer) : static_cast<C>(slots[0].real);
    for_each_index(out.shape, [&](const Dims& index) { write<C>(out, index, value); });
  });
  for_each_index(step.inputs[0].shape, [&](const Dims& index) {
    Dims place = index;
    for (int axis = 0; axis < index.rank(); ++axis)
      place[axis] += slots[static_cast<std::size_t>(axis) + 1].integer;
    copy_element(step.inputs[0], index, out, place);
  });
}

void interpret_slice_update(const Step& step) {
  copy_all(step.inputs[0], step.outputs[0]);
  for_each_index(step.inputs[1].shape, [&](const Dims& index) {
    Dims place = index;
    for (int axis = 0; axis < index.rank(); ++axis) {
      const std::size_t i = static_cast<std::size_t>(axis);
      place[axis] = step.node.slots()[i].integer + index[axis] * step.node.fixed()[i];
    }
    copy_element(step.inputs[1], index, step.outputs[0], place);
  });
}

void interpret_take(const Step& step) {
  const ConstView &a = step.inputs[0], &indices = step.inputs[1];
  const int axis = axis_of(step), added = indices.shape.rank();
  const Strides positions = contiguous_strides(indices.shape);
  for_each_index(step.outputs[0].shape, [&](const Dims& index) {
    Dims by, source;
    for (int i = 0; i < added; ++i) by.push_back(index[axis + i]);
    const std::int64_t place = read<std::int64_t>(indices, by);
    for (int i = 0; i < a.shape.rank(); ++i)
      source.push_back(i < axis ? index[i] : i == axis ? place : index[i + added - 1]);
    if (check(step, place, offset_of(positions, by), a.shape[axis])) {
      copy_element(a, source, step.outputs[0], index);
    } else {
      write_zero(step.outputs[0], index);
    }
  });
}

void interpret_gather(const Step& step) {
  const ConstView &a = step.inputs[0], &indices = step.inputs[1];
  std::int64_t position = 0;
  for_each_index(indices.shape, [&](const Dims& index) {
    Dims source = index;
    source[axis_of(step)] = read<std::int64_t>(indices, index);
    if (check(step, source[axis_of(step)], position++, a.shape[axis_of(step)])) {
      copy_element(a, source, step.outputs[0], index);
    } else {
      write_zero(step.outputs[0], index);
    }
  });
}

void interpret_index_add(const Step& step) {
  const ConstView& indices = step.inputs[1];
  const std::int64_t extent = step.outputs[0].shape[axis_of(step)];
  add_sources(step, [&](const Dims& index) {
    const std::int64_t position = index[axis_of(step)];
    const std::int64_t place = read<std::int64_t>(indices, {position});
    return check(step, place, position, extent) ? place : -1;
  });
}

void interpret_scatter_add(const Step& step) {
  const ConstView& indices = step.inputs[1];
  const std::int64_t extent = step.outputs[0].shape[axis_of(step)];
  std::int64_t position = 0;
  add_sources(step, [&](const Dims& index) {
    const std::int64_t place = read<std::int64_t>(indices, index);
    return check(step, place, position++, extent) ? place : -1;
  });
}

}  // namespace sinter::jit
