#include "fuzz/call_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "fuzz/call_parts.h"
#include "runtime/results.h"

namespace sinter::fuzz {
namespace {

std::string dtype_text(DType dtype) {
  return std::string(dtype == DType::boolean ? "boolean" : to_string(dtype));
}

std::string name_of(std::size_t step) { return fmt::format("v{}", step); }

std::string number_text(const Operand& number) {
  switch (number.kind()) {
    case Operand::Kind::truth: return number.integer() != 0 ? "true" : "false";
    case Operand::Kind::integer:
      return number.integer() == INT64_MIN ? "INT64_MIN" : fmt::format("{}ll", number.integer());
    default: break;
  }
  return real_text(number.real());
}

std::string dims_of(std::span<const std::int64_t> values) {
  return fmt::format("{{{}}}", fmt::join(values, ", "));
}

/// The operands after the first `count`, `{}` for those that an attribute says are not there.
class OptionalTexts {
 public:
  OptionalTexts(const Step& step, std::size_t count) : step_(step), next_(count) {}
  std::string take(std::int64_t present) {
    return present != 0 ? name_of(step_.operands[next_++]) : "Tensor{}";
  }

 private:
  const Step& step_;
  std::size_t next_;
};

std::string node_text(const Step& step) {
  std::vector<std::string> inputs, slots;
  for (const std::size_t operand : step.operands) inputs.push_back(name_of(operand) + ".ref()");
  for (std::size_t i = 0; i < step.slots.size(); ++i)
    slots.push_back(is_real_slot(step, i)
                        ? fmt::format("real_slot({})", real_text(step.slots[i].real))
                        : fmt::format("integer_slot({})", step.slots[i].integer));
  const std::string call =
      fmt::format("node(Op::{}, {}, {}, {{{}}}, {{{}}}, {{{}}})", to_string(step.op),
                  dtype_text(step.dtype), dims_text(step.shape), fmt::join(inputs, ", "),
                  fmt::join(step.fixed, ", "), fmt::join(slots, ", "));
  return has_several_results(step.op) ? call : fmt::format("Tensor({})", call);
}

std::string slice_text(const Step& step, const std::string& a, const Shape& of) {
  if (const Dims axes = reversed_axes(step, of); !axes.empty())
    return fmt::format("flip({}, {})", a, dims_text(axes));
  const auto one = as_axis_slice(step, of);
  if (!one) return node_text(step);
  return fmt::format("slice({}, {}, {}, {}, {})", a, one->axis, one->start,
                     one->stop ? fmt::format("{}", *one->stop) : "std::nullopt", one->step);
}

std::string view_text(const Script& script, const Step& step) {
  const std::string a = name_of(step.operands[0]);
  const Step& from = script.steps[step.operands[0]];
  switch (step.op) {
    case Op::reshape: return fmt::format("reshape({}, {})", a, dims_text(step.shape));
    case Op::permute: return fmt::format("permute({}, {})", a, dims_of(step.fixed));
    case Op::expand: return fmt::format("expand({}, {})", a, dims_text(step.shape));
    case Op::slice: return slice_text(step, a, from.shape);
    case Op::pick:
      if (from.op == Op::sort || from.op == Op::topk)
        return fmt::format("{}.{}", a, step.fixed[0] == 0 ? "first" : "second");
      if (from.op == Op::foreach_map)
        return fmt::format("{}[{}][{}]", a, step.fixed[0] / from.fixed[1],
                           step.fixed[0] % from.fixed[1]);
      return fmt::format("pick({}, {}, {}, {})", a, step.fixed[0], dtype_text(step.dtype),
                         dims_text(step.shape));
    default: return fmt::format("detach({})", a);
  }
}

std::string movement_text(const Script& script, const Step& step) {
  std::vector<std::string> v;
  for (const std::size_t operand : step.operands) v.push_back(name_of(operand));
  const std::int64_t axis = step.fixed.empty() ? 0 : step.fixed[0];
  switch (step.op) {
    case Op::cast: return fmt::format("cast({}, {})", v[0], dtype_text(step.dtype));
    case Op::concatenate: return fmt::format("concatenate({{{}}}, {})", fmt::join(v, ", "), axis);
    case Op::pad: {
      const auto [before, after, value] = padding(step, script.steps[step.operands[0]].shape);
      return fmt::format("pad({}, Dims{}, Dims{}, {})", v[0], dims_text(before), dims_text(after),
                         real_text(value));
    }
    case Op::slice_update:
      return fmt::format("slice_update({}, {}, Dims{}, Dims{})", v[0], v[1],
                         dims_text(integers(step.slots)), dims_of(step.fixed));
    case Op::take: return fmt::format("take({}, {}, {})", v[0], v[1], axis);
    case Op::gather: return fmt::format("gather({}, {}, {})", v[0], axis, v[1]);
    case Op::index_add:
    case Op::scatter_add:
      return fmt::format("{}({}, {}, {}, {})", to_string(step.op), v[0], axis, v[1], v[2]);
    case Op::cumsum: return fmt::format("cumsum({}, {})", v[0], axis);
    case Op::sort: return fmt::format("sort({}, {}, {})", v[0], axis, step.fixed[1] != 0);
    default:
      return fmt::format("topk({}, {}, {}, {})", v[0], step.shape[static_cast<int>(axis)], axis,
                         step.fixed[1] != 0);
  }
}

std::string reduction_text(const Script& script, const Step& step) {
  const std::string a = name_of(step.operands[0]);
  if (step.op == Op::argmax || step.op == Op::argmin)
    return fmt::format("{}({}, {}, true)", to_string(step.op), a, step.fixed[0]);
  const Dims axes = masked_axes(step.fixed[0], script.steps[step.operands[0]].shape.rank());
  const std::string correction = step.op == Op::var ? fmt::format("{}, ", step.fixed[1]) : "";
  return fmt::format("{}({}, Dims{}, {}true)", to_string(step.op), a, dims_text(axes), correction);
}

std::string attention_text(const Step& step) {
  OptionalTexts optional(step, 3);
  return fmt::format("attention({}, {}, {}, {}, {}, {}, {}, {}, {})", name_of(step.operands[0]),
                     name_of(step.operands[1]), name_of(step.operands[2]),
                     optional.take(step.fixed[1]), step.fixed[0] != 0,
                     real_text(step.slots[0].real),
                     real_text(step.fixed[2] != 0 ? step.slots[1].real : 0), step.slots[2].integer,
                     step.slots[3].integer);
}

std::string composite_text(const Step& step) {
  const std::string a = name_of(step.operands[0]);
  OptionalTexts optional(step, step.op == Op::linear || step.op == Op::cross_entropy ? 2 : 1);
  switch (step.op) {
    case Op::matmul: return fmt::format("matmul({}, {})", a, name_of(step.operands[1]));
    case Op::linear: {
      const std::string bias = optional.take(step.fixed[1]);
      return fmt::format("linear({}, {}, {}, static_cast<Activation>({}), {})", a,
                         name_of(step.operands[1]), bias, step.fixed[0],
                         optional.take(step.fixed[2]));
    }
    case Op::attention: return attention_text(step);
    case Op::layer_norm: {
      const std::string weight = optional.take(step.fixed[1]);
      return fmt::format("layer_norm({}, {}, {}, {})", a, weight, optional.take(step.fixed[2]),
                         real_text(step.slots[0].real));
    }
    case Op::rms_norm:
      return fmt::format("rms_norm({}, {}, {})", a, optional.take(step.fixed[1]),
                         real_text(step.slots[0].real));
    case Op::cross_entropy:
      return fmt::format(
          "cross_entropy({}, {}, {{.reduction = static_cast<Reduction>({}), .ignore_index = {}, "
          ".label_smoothing = {}, .weight = {}}})",
          a, name_of(step.operands[1]), step.fixed[0], step.slots[0].integer,
          real_text(step.slots[1].real), optional.take(step.fixed[1]));
    case Op::dropout:
      return fmt::format("drop({}, {}, {}, {})", a, real_text(step.slots[0].real),
                         step.slots[1].integer, step.slots[2].integer);
    default: return fmt::format("{}({}, {})", to_string(step.op), a, step.fixed[0]);
  }
}

std::string generator_text(const Step& step) {
  const std::string shape = dims_text(step.shape), dtype = dtype_text(step.dtype);
  if (step.op == Op::constant)
    return is_floating(step.dtype)
               ? fmt::format("full({}, {}, {})", shape, real_text(step.slots[0].real), dtype)
               : fmt::format("full_integer({}, {}, {})", shape, step.slots[0].integer, dtype);
  const auto [start, stop, by] = range(step);
  return fmt::format("arange({}, {}, {}, {})", real_text(start), real_text(stop), real_text(by),
                     dtype);
}

std::string foreach_text(const Step& step) {
  const ForeachTrace& body = *step.body;
  const auto lists = static_cast<std::size_t>(body.lists);
  const auto length = static_cast<std::size_t>(step.fixed[1]);
  std::vector<std::string> values, rows, lines;
  for (std::size_t list = 0; list < lists; ++list) {
    values.push_back(fmt::format("x[{}]", list));
    std::vector<std::string> row;
    for (std::size_t i = 0; i < length; ++i)
      row.push_back(name_of(step.operands[list * length + i]));
    rows.push_back(fmt::format("{{{}}}", fmt::join(row, ", ")));
  }
  for (std::size_t i = lists * length; i < step.operands.size(); ++i)
    values.push_back(name_of(step.operands[i]));
  for (std::size_t i = 0; i < step.slots.size(); ++i)
    values.push_back(number_text(number(body.number_dtypes[i], step.slots[i])));
  for (std::size_t i = 0; i < body.steps.size(); ++i) {
    const ForeachStep& one = body.steps[i];
    std::vector<std::string> operands;
    for (const int operand : one.operands)
      if (operand >= 0) operands.push_back(values[static_cast<std::size_t>(operand)]);
    if (one.op == Op::cast) operands.push_back(dtype_text(one.dtype));
    lines.push_back(fmt::format("        const Tensor y{} = sinter::{}({});\n", i,
                                to_string(one.op), fmt::join(operands, ", ")));
    values.push_back(fmt::format("y{}", i));
  }
  std::vector<std::string> results;
  for (const int result : body.results) results.push_back(values[static_cast<std::size_t>(result)]);
  return fmt::format(
      "foreach_map(\n      [&](const std::vector<Tensor>& x) {{\n{}        return "
      "std::vector<Tensor>{{{}}};\n      }},\n      {{{}}})",
      fmt::join(lines, ""), fmt::join(results, ", "), fmt::join(rows, ", "));
}

}  // namespace

std::string real_text(double value) {
  if (std::isnan(value)) return "std::numeric_limits<double>::quiet_NaN()";
  if (std::isinf(value))
    return value < 0 ? "-std::numeric_limits<double>::infinity()"
                     : "std::numeric_limits<double>::infinity()";
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string dims_text(const Dims& dims) { return dims_of({dims.begin(), dims.end()}); }

std::string operand_text(const Script& script, const Step& reader, std::size_t operand) {
  std::vector<const Step*> steps;
  for (const std::size_t one : reader.operands) steps.push_back(&script.steps[one]);
  const bool given = given_as_numbers(reader, steps)[operand];
  return given ? number_text(number_beside(reader, *steps[operand]))
               : name_of(reader.operands[operand]);
}

std::string call_text(const Script& script, const Step& step) {
  if (is_node_only(step)) return node_text(step);
  switch (info(step.op).kind) {
    case OpKind::elementwise: {
      std::vector<std::string> operands;
      for (std::size_t i = 0; i < step.operands.size(); ++i)
        operands.push_back(operand_text(script, step, i));
      return fmt::format("sinter::{}({})", to_string(step.op), fmt::join(operands, ", "));
    }
    case OpKind::leaf:
      return fmt::format("Variable({}, \"\", false).value()", name_of(step.operands[0]));
    case OpKind::generator: return generator_text(step);
    case OpKind::view: return view_text(script, step);
    case OpKind::movement: return movement_text(script, step);
    case OpKind::reduction: return reduction_text(script, step);
    case OpKind::foreach: return foreach_text(step);
    default: break;
  }
  const bool reduces =
      step.op == Op::mean || step.op == Op::var || step.op == Op::logsumexp || step.op == Op::norm;
  return reduces ? reduction_text(script, step) : composite_text(step);
}

}  // namespace sinter::fuzz
