#include <array>

#include "jit/elements.h"
#include "jit/interpret_subjects.h"
#include "kernels/math.h"
#include "runtime/foreach_body.h"

namespace sinter::jit {
namespace {

namespace m = kernels::m;

/// Whether a row of ops.def has a meaning in the compute type C.
template <typename C>
constexpr bool takes(Rule rule) {
  return std::is_integral_v<C> ? rule != Rule::floating : rule != Rule::bitwise;
}

/// The op on one element of each operand.
template <typename C>
C apply(Op op, C a, [[maybe_unused]] C b, [[maybe_unused]] C c) {
  switch (op) {
#define SINTER_ROW(name, rule, value)                                 \
  case Op::name:                                                      \
    if constexpr (takes<C>(Rule::rule)) return static_cast<C>(value); \
    break;
#define SINTER_UNARY(name, rule, value, ...) SINTER_ROW(name, rule, value)
#define SINTER_BINARY(name, rule, value, ...) SINTER_ROW(name, rule, value)
#define SINTER_TERNARY(name, rule, value, ...) SINTER_ROW(name, rule, value)
#include "runtime/ops.def"
#undef SINTER_ROW
    default: break;
  }
  internal_error("an elementwise op met a type it has no meaning in");
}

/// Whether integer operands leave the op without a value.
template <typename C>
bool undefined(Op op, C b) {
  if constexpr (!std::is_integral_v<C>) return false;
  if (op == Op::pow) return b < C(0);
  return (op == Op::floor_divide || op == Op::remainder || op == Op::fmod) && b == C(0);
}

/// As apply; reports what has no value and gives 0 for it.
template <typename C>
C apply_checked(Op op, const std::array<C, 3>& x, std::int64_t position, kernels::Fault& fault) {
  if (undefined(op, x[1])) {
    fault.report(kernels::FaultKind::division_by_zero, position, static_cast<std::int64_t>(x[1]),
                 0);
    return C(0);
  }
  return apply(op, x[0], x[1], x[2]);
}

/// One value of a foreach body: a number with its dtype. f16, bf16 and f32 are exact in a double.
struct Number {
  DType dtype = f32;
  double real = 0;
  std::int64_t integer = 0;

  template <typename C>
  C as() const {
    if (!is_floating(dtype)) return converted<C>(integer);
    return dtype == f64 ? converted<C>(real) : converted<C>(static_cast<float>(real));
  }
};

/// `x` rounded to `dtype`.
template <typename C>
Number number(DType dtype, C x) {
  Number result{.dtype = dtype};
  with_storage_type(dtype, [&]<typename T>(T) {
    const T stored = converted<T>(x);
    if (is_floating(dtype)) {
      result.real = converted<double>(stored);
    } else {
      result.integer = converted<std::int64_t>(stored);
    }
  });
  return result;
}

Number number_at(const ConstView& view, const Dims& index) {
  return with_compute_type(view.dtype, [&]<typename C>(C) {
    return number(view.dtype, read<C>(view, broadcast_index(index, view.shape)));
  });
}

Number number_of_slot(DType dtype, const Slot& slot) {
  return is_floating(dtype) ? number(dtype, slot.real) : number(dtype, slot.integer);
}

/// The result of one step of the body on the values so far.
Number run_body_step(const ForeachStep& body_step, const std::vector<Number>& values,
                     std::int64_t position, kernels::Fault& fault) {
  return with_compute_type(body_step.compute, [&]<typename C>(C) {
    std::array<C, 3> x{};
    for (std::size_t i = 0; i < 3; ++i)
      if (const int operand = body_step.operands[i]; operand >= 0)
        x[i] = values[static_cast<std::size_t>(operand)].as<C>();
    const C result =
        body_step.op == Op::cast ? x[0] : apply_checked(body_step.op, x, position, fault);
    return number(body_step.dtype, result);
  });
}

}  // namespace

void interpret_elementwise(const Step& step) {
  const View& out = step.outputs[0];
  // A condition of `where` may be of another dtype; the last operand never is.
  with_compute_type(step.inputs.back().dtype, [&]<typename C>(C) {
    std::int64_t position = 0;
    for_each_index(out.shape, [&](const Dims& index) {
      std::array<C, 3> x{};
      for (std::size_t i = 0; i < step.inputs.size(); ++i)
        x[i] = read<C>(step.inputs[i], broadcast_index(index, step.inputs[i].shape));
      write<C>(out, index, apply_checked(step.node.op, x, position++, step.fault));
    });
  });
}

void interpret_cast(const Step& step) {
  with_compute_type(step.inputs[0].dtype, [&]<typename C>(C) {
    for_each_index(step.outputs[0].shape, [&](const Dims& index) {
      write<C>(step.outputs[0], index, read<C>(step.inputs[0], index));
    });
  });
}

void interpret_foreach_map(const Step& step) {
  const auto& body = static_cast<const ForeachTrace&>(*step.node.payload);
  const std::size_t length = static_cast<std::size_t>(step.node.fixed()[1]);
  const std::size_t lists = static_cast<std::size_t>(body.lists);
  for (std::size_t position = 0; position < length; ++position) {
    std::int64_t element = 0;
    for_each_index(step.outputs[position].shape, [&](const Dims& index) {
      std::vector<Number> values;
      for (std::size_t list = 0; list < lists; ++list)
        values.push_back(number_at(step.inputs[list * length + position], index));
      for (std::size_t i = 0; i < body.shared_dtypes.size(); ++i)
        values.push_back(number_at(step.inputs[lists * length + i], index));
      for (std::size_t i = 0; i < body.number_dtypes.size(); ++i)
        values.push_back(number_of_slot(body.number_dtypes[i], step.node.slots()[i]));
      for (const ForeachStep& body_step : body.steps)
        values.push_back(run_body_step(body_step, values, element, step.fault));
      for (std::size_t result = 0; result < body.results.size(); ++result) {
        const Number& value = values[static_cast<std::size_t>(body.results[result])];
        const View& out = step.outputs[result * length + position];
        with_compute_type(value.dtype, [&]<typename C>(C) { write<C>(out, index, value.as<C>()); });
      }
      ++element;
    });
  }
}

}  // namespace sinter::jit
