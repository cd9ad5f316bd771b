#include "tests/op_case.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <random>
#include <unordered_set>

#include "runtime/grad.h"
#include "runtime/level.h"
#include "runtime/ops.h"

namespace sinter::tests {
namespace {

/// The shape in memory that a layout sees as `shape`.
Shape memory_shape(const Shape& shape, Layout layout) {
  Shape memory = shape;
  const int last = shape.rank() - 1;
  switch (layout) {
    case Layout::transposed:
      for (int axis = 0; axis <= last; ++axis) memory[axis] = shape[last - axis];
      break;
    case Layout::stepped: memory[last] = shape[last] * 2 + 1; break;
    case Layout::broadcast: memory[0] = std::min<std::int64_t>(shape[0], 1); break;
    case Layout::shifted: memory[last] = shape[last] + 3; break;
    default: break;
  }
  return memory;
}

Tensor see(const Tensor& memory, const Shape& shape, Layout layout) {
  const int last = shape.rank() - 1;
  Dims axes;
  for (int axis = last; axis >= 0; --axis) axes.push_back(axis);
  switch (layout) {
    case Layout::transposed: return permute(memory, axes);
    case Layout::stepped: return slice(memory, last, 1, std::nullopt, 2);
    case Layout::flipped: return flip(memory, axes);
    case Layout::broadcast: return expand(memory, shape);
    case Layout::shifted: return slice(memory, last, 3);
    default: return memory;
  }
}

/// Where in memory the element at `index` lies.
Dims memory_index(const Dims& index, const Shape& shape, Layout layout) {
  Dims memory = index;
  const int last = shape.rank() - 1;
  switch (layout) {
    case Layout::transposed:
      for (int axis = 0; axis <= last; ++axis) memory[last - axis] = index[axis];
      break;
    case Layout::stepped: memory[last] = index[last] * 2 + 1; break;
    case Layout::flipped:
      for (int axis = 0; axis <= last; ++axis) memory[axis] = shape[axis] - 1 - index[axis];
      break;
    case Layout::broadcast: memory[0] = 0; break;
    case Layout::shifted: memory[last] = index[last] + 3; break;
    default: break;
  }
  return memory;
}

/// Scalars have one layout; size 0 has no other either.
Layout possible(Layout layout, const Shape& shape) {
  return shape.empty() ? Layout::contiguous : layout;
}

template <typename T>
T stored(long double x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return T(static_cast<float>(x));
  else if constexpr (std::is_same_v<T, bool>) return x != 0;
  else return static_cast<T>(x);
}

template <typename T>
long double wide(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<float>(x);
  else return static_cast<long double>(x);
}

Tensor upload(const Array& array, DType dtype) {
  std::vector<std::byte> bytes(array.elements.size() * item_size(dtype));
  with_storage_type(dtype, [&]<typename T>(T) {
    for (std::size_t i = 0; i < array.elements.size(); ++i) {
      const T item = stored<T>(array.elements[i]);
      std::memcpy(bytes.data() + i * sizeof(T), &item, sizeof(T));
    }
  });
  return from_bytes(bytes, dtype, array.shape);
}

/// What one number of the given spacing and lowest exponent is apart from the next.
long double spacing(long double x, int digits, int lowest_exponent) {
  if (x == 0) return std::ldexp(1.0L, lowest_exponent - digits + 1);
  return std::ldexp(1.0L, std::max(std::ilogb(x), lowest_exponent) - digits + 1);
}

}  // namespace

long double& Array::at(const Dims& index) {
  std::int64_t position = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) position = position * shape[axis] + index[axis];
  return elements[static_cast<std::size_t>(position)];
}

void for_each(const Shape& shape, const std::function<void(const Dims&)>& body) {
  const std::int64_t count = element_count(shape);
  for (std::int64_t position = 0; position < count; ++position) {
    Dims index = shape;
    std::int64_t rest = position;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      index[axis] = rest % shape[axis];
      rest /= shape[axis];
    }
    body(index);
  }
}

Array make_array(const Shape& shape, const std::function<long double(const Dims&)>& element) {
  Array array(shape);
  for_each(shape, [&](const Dims& index) { array.at(index) = element(index); });
  return array;
}

long double rounded(long double x, DType dtype) {
  return with_storage_type(dtype, [&]<typename T>(T) { return wide(stored<T>(x)); });
}

long double ulp(long double x, DType dtype) {
  switch (dtype) {
    case DType::f16: return spacing(x, 11, -14);
    case DType::bf16: return spacing(x, 8, -126);
    case DType::f32: return spacing(x, 24, -126);
    case DType::f64: return spacing(x, 53, -1022);
    default: return 0;
  }
}

Tensor place(Array& array, DType dtype, Layout layout) {
  layout = possible(layout, array.shape);
  Array memory(memory_shape(array.shape, layout));
  for_each(array.shape, [&](const Dims& index) {
    long double& element = array.at(index);
    element = rounded(element, dtype);
    memory.at(memory_index(index, array.shape, layout)) = element;
  });
  return see(upload(memory, dtype), array.shape, layout);
}

Array draw(const Input& input, DType dtype, Layout layout, std::uint64_t seed) {
  layout = possible(layout, input.shape);
  std::mt19937_64 source(seed * 77 + 5);
  Range range = input.range;
  if (dtype == DType::boolean) range = {0, 1};
  if (dtype == DType::u8) range.low = std::max(range.low, 0.0);
  const bool whole = !is_floating(dtype);
  if (whole) range = {std::ceil(range.low), std::floor(range.high)};
  // Division by false is an error of its own.
  if (dtype == DType::boolean && input.range.low > 0) range.low = 1;
  // Elements that share memory are equal.
  Array memory(memory_shape(input.shape, layout));
  for (long double& element : memory.elements) {
    const double unit = static_cast<double>(source() >> 11) * 0x1p-53;
    element = whole ? range.low + std::floor(unit * (range.high - range.low + 1))
                    : range.low + unit * (range.high - range.low);
  }
  Array array(input.shape);
  for_each(input.shape, [&](const Dims& index) {
    array.at(index) = memory.at(memory_index(index, input.shape, layout));
  });
  return array;
}

Operands draw_operands(const std::vector<Input>& inputs, DType dtype, Layout layout,
                       std::uint64_t seed) {
  Operands operands;
  for (const Input& input : inputs) {
    ++seed;
    const DType own = input.kind == Kind::truth   ? boolean
                      : input.kind != Kind::index ? dtype
                      : seed % 2 == 0             ? i32
                                                  : i64;
    operands.arrays.push_back(draw(input, own, layout, seed));
    operands.tensors.push_back(place(operands.arrays.back(), own, layout));
  }
  return operands;
}

Array to_array(const Tensor& tensor) {
  Array array(tensor.shape());
  with_storage_type(tensor.dtype(), [&]<typename T>(T) {
    std::vector<std::byte> bytes(array.elements.size() * sizeof(T));
    tensor.read_bytes(bytes);
    for (std::size_t i = 0; i < array.elements.size(); ++i) {
      T item;
      std::memcpy(&item, bytes.data() + i * sizeof(T), sizeof(T));
      array.elements[i] = wide(item);
    }
  });
  return array;
}

namespace {

long double allowed_error(long double right, DType dtype, const OpCase& of) {
  const DType compute = compute_dtype(dtype);
  const long double scale = of.scale * std::max(1.0L, std::abs(right));
  long double allowed = (of.units * ulp(1, compute) + of.oracle_error) * scale;
  if (!is_floating(dtype)) return allowed;
  // A narrow result is rounded after the computation. A little more for rounding twice.
  if (dtype == compute) return allowed + std::max(0.5001, of.ulps) * ulp(right, dtype);
  return allowed + of.ulps * ulp(right, compute) + 0.5001L * ulp(right, dtype) +
         of.roundings * ulp(1, dtype) * scale;
}

/// What an integer result wraps to, and a floating one overflows to.
long double held(long double x, DType dtype) {
  if (is_floating(dtype)) {
    const long double stored = rounded(x, dtype);
    return std::isinf(stored) ? stored : x;
  }
  const auto integer = static_cast<std::int64_t>(x);
  return with_storage_type(dtype, [&]<typename T>(T) {
    if constexpr (std::is_integral_v<T>) return static_cast<long double>(static_cast<T>(integer));
    return x;
  });
}

/// Whether a node of the op is among those the result is computed from.
bool computed_by(const Tensor& result, Op op) {
  std::vector<const Node*> stack{result.node()};
  std::unordered_set<const Node*> seen;
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (!seen.insert(node).second) continue;
    if (node->op == op) return true;
    for (const NodeRef& input : node->inputs()) stack.push_back(input.get());
  }
  return false;
}

/// Bit patterns of all elements; NaNs count as equal.
bool same_bits(const Array& a, const Array& b) {
  for (std::size_t i = 0; i < a.elements.size(); ++i) {
    const long double x = a.elements[i], y = b.elements[i];
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x != y || std::signbit(x) != std::signbit(y)) return false;
  }
  return true;
}

Tensor run_at(Level now, const OpCase& one, const std::vector<Tensor>& operands) {
  const Level before = level();
  set_level(now);
  Tensor result = one.run(operands);
  try {
    result.evaluate();
  } catch (const Error& error) {
    FAIL_CHECK(fmt::format("{}: {}", one.name, error.what()));
  }
  set_level(before);
  return result;
}

}  // namespace

void check_close(const Tensor& result, const Array& expected, const OpCase& of) {
  REQUIRE(result.shape() == expected.shape);
  const Array elements = to_array(result);
  const DType dtype = result.dtype();
  for (std::size_t i = 0; i < elements.elements.size(); ++i) {
    const long double got = elements.elements[i], right = held(expected.elements[i], dtype);
    if (got == right || (std::isnan(got) && std::isnan(right))) continue;
    const long double allowed = allowed_error(right, dtype, of);
    if (std::abs(got - right) <= allowed) continue;
    FAIL_CHECK(fmt::format("{}: element {} is {:.17g}, not {:.17g}, off by {:.3g}, allowed {:.3g}",
                           of.name, i, static_cast<double>(got), static_cast<double>(right),
                           static_cast<double>(std::abs(got - right)),
                           static_cast<double>(allowed)));
    return;
  }
}

void run_on(const OpCase& one, std::optional<Op> op, const Operands& operands,
            const std::string& what) {
  const Array expected = one.oracle(operands.arrays);
  OpCase named = one;
  if (op && !computed_by(one.run(operands.tensors), *op))
    FAIL_CHECK(fmt::format("{} records no {}", what, to_string(*op)));
  named.name = what + ", interpret";
  const Tensor meaning = run_at(Level::interpret, named, operands.tensors);
  check_close(meaning, expected, named);
  named.name = what + ", eager";
  const Tensor eager = run_at(Level::eager, named, operands.tensors);
  if (one.library) return check_close(eager, expected, named);
  if (!same_bits(to_array(meaning), to_array(eager)))
    FAIL_CHECK(fmt::format("{}: other bits than interpret", named.name));
}

void run_case(const OpCase& one, std::optional<Op> op, DType dtype, Layout layout,
              std::uint64_t seed) {
  run_on(one, op, draw_operands(one.inputs, dtype, layout, seed),
         fmt::format("{} of {}, layout {}", one.name, to_string(dtype), static_cast<int>(layout)));
}

OpCase gradient_case(const OpCase& forward, std::size_t input) {
  OpCase gradient = forward;
  gradient.name += fmt::format(", gradient of input {}", input);
  std::vector<Array> zeros;
  for (const Input& one : forward.inputs) zeros.emplace_back(one.shape);
  gradient.inputs.push_back({forward.oracle(zeros).shape, {-1, 1}});
  gradient.run = [forward, input](const std::vector<Tensor>& operands) {
    const std::vector<Tensor> inputs(operands.begin(), operands.end() - 1);
    const Tensor result = forward.run(inputs);
    const Tensor g = cast(operands.back(), result.dtype());
    const Tensor gradient_of_input = vjp({result}, {g}, {inputs[input]})[0];
    return gradient_of_input.defined() ? gradient_of_input : zeros_like(inputs[input]);
  };
  gradient.oracle = [forward, input](const std::vector<Array>& operands) {
    std::vector<Array> inputs(operands.begin(), operands.end() - 1);
    const Array& g = operands.back();
    Array derivative(inputs[input].shape);
    constexpr long double step = 0x1p-20L;
    for (std::size_t i = 0; i < derivative.elements.size(); ++i) {
      long double& element = inputs[input].elements[i];
      const long double middle = element;
      element = middle + step;
      const Array above = forward.oracle(inputs);
      element = middle - step;
      const Array below = forward.oracle(inputs);
      element = middle;
      for (std::size_t j = 0; j < g.elements.size(); ++j)
        derivative.elements[i] +=
            g.elements[j] * (above.elements[j] - below.elements[j]) / (2 * step);
    }
    return derivative;
  };
  gradient.units = 4 * forward.units + 4;
  gradient.oracle_error = 1e-9;
  gradient.roundings = 4;
  gradient.dtypes.clear();
  for (const DType dtype : forward.dtypes)
    if (is_floating(dtype)) gradient.dtypes.push_back(dtype);
  gradient.differentiable = false;
  return gradient;
}

Cases gradients_of(const Cases& forward) {
  Cases gradients;
  for (const OpCase& one : forward)
    for (std::size_t input = 0; one.differentiable && input < one.inputs.size(); ++input)
      if (one.inputs[input].kind == Kind::data) gradients.push_back(gradient_case(one, input));
  return gradients;
}

}  // namespace sinter::tests
