#include "jit/elements.h"
#include "jit/interpret_subjects.h"
#include "kernels/philox.h"

namespace sinter::jit {
namespace {

template <typename C>
C number(const Slot& slot) {
  return std::is_integral_v<C> ? static_cast<C>(slot.integer) : static_cast<C>(slot.real);
}

/// What names a draw: the state of its generator.
struct Draw {
  std::uint64_t seed, ordinal;
};

Draw draw_of(const Step& step, std::size_t slot) {
  const auto slots = step.node.slots();
  return {static_cast<std::uint64_t>(slots[slot].integer),
          static_cast<std::uint64_t>(slots[slot + 1].integer)};
}

}  // namespace

void interpret_constant(const Step& step) {
  const View& out = step.outputs[0];
  with_compute_type(out.dtype, [&]<typename C>(C) {
    for_each_index(out.shape, [&](const Dims& index) {
      write<C>(out, index, number<C>(step.node.slots()[0]));
    });
  });
}

void interpret_arange(const Step& step) {
  const View& out = step.outputs[0];
  with_compute_type(out.dtype, [&]<typename C>(C) {
    const C start = number<C>(step.node.slots()[0]), by = number<C>(step.node.slots()[1]);
    for_each_index(out.shape, [&](const Dims& index) {
      write<C>(out, index, start + static_cast<C>(index[0]) * by);
    });
  });
}

void interpret_random(const Step& step) {
  const View& out = step.outputs[0];
  const Draw draw = draw_of(step, 0);
  std::int64_t element = 0;
  for_each_index(out.shape, [&](const Dims& index) {
    switch (step.node.op) {
      case Op::random_uniform:
        write<float>(out, index, kernels::random_uniform(draw.seed, draw.ordinal, element));
        break;
      case Op::random_normal:
        write<float>(out, index, kernels::random_normal(draw.seed, draw.ordinal, element));
        break;
      default:
        write<std::int64_t>(out, index, kernels::random_bits(draw.seed, draw.ordinal, element));
    }
    ++element;
  });
}

void interpret_dropout(const Step& step) {
  const View& out = step.outputs[0];
  const double p = step.node.slots()[0].real;
  const Draw draw = draw_of(step, 1);
  with_compute_type(out.dtype, [&]<typename C>(C) {
    const C scale = static_cast<C>(1 / (1 - p));
    std::int64_t element = 0;
    for_each_index(out.shape, [&](const Dims& index) {
      const bool kept =
          kernels::random_uniform(draw.seed, draw.ordinal, element++) >= static_cast<float>(p);
      write<C>(out, index, kept ? read<C>(step.inputs[0], index) * scale : C(0));
    });
  });
}

}  // namespace sinter::jit
