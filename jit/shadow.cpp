#include "jit/shadow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

#include "jit/elements.h"
#include "jit/interpret.h"

namespace sinter::jit {
namespace {

/// One value of a primitive.
struct Stored {
  PrimitiveId primitive;
  std::uint32_t result;
};

/// By operand, or by value of a primitive.
using Values = std::map<std::uint64_t, Value>;

std::uint64_t key_of(const Stored& value) {
  return std::uint64_t{value.primitive} << 33 | std::uint64_t{value.result} << 1;
}
std::uint64_t key_of(Operand o) {
  return o.leaf ? std::uint64_t{o.index} << 1 | 1 : key_of(Stored{o.index, 0});
}

/// What an operation with generated kernels stores, in the order of the primitives.
std::vector<Stored> stored_by(const Plan& plan, const Operation& operation) {
  std::vector<Stored> stored;
  for_given(plan, operation, [&](PrimitiveId i, std::uint32_t r) { stored.push_back({i, r}); });
  std::stable_sort(stored.begin(), stored.end(),
                   [](const Stored& a, const Stored& b) { return a.primitive < b.primitive; });
  return stored;
}

/// The primitives that the stored values follow from, down to values that are known; each comes
/// after what it reads.
std::set<PrimitiveId> needed_for(const LiveValues& values, const std::vector<Stored>& stored,
                                 const Values& known) {
  std::set<PrimitiveId> needed;
  std::vector<PrimitiveId> open;
  const auto need = [&](PrimitiveId i) {
    if (needed.insert(i).second) open.push_back(i);
  };
  for (const Stored& value : stored) need(value.primitive);
  while (!open.empty()) {
    const PrimitiveId at = open.back();
    open.pop_back();
    for (const Operand o : values.primitives().operands_of(at))
      if (!o.leaf && known.count(key_of(o)) == 0) need(o.index);
  }
  return needed;
}

/// A primitive with the numbers of the current step: a part of dropout was recorded with those of
/// the first.
NodeRef with_current_draw(const LiveValues& values, PrimitiveId i) {
  const Primitive& part = values.primitives().steps[i];
  const Node& node = values.node(i);
  const Node& origin = *values.trace().steps[part.origin];
  return record({.op = node.op,
                 .dtype = node.dtype,
                 .shape = node.shape,
                 .inputs = {},
                 .slots = origin.slots().subspan(1),
                 .differentiable = false,
                 .where = node.where});
}

/// Computes a primitive from what is in `known` or in memory, and puts it there.
void add_meaning(const LiveValues& values, PrimitiveId i, Values& known) {
  const Node& node = values.node(i);
  const auto operands = values.primitives().operands_of(i);
  std::vector<ConstView> inputs;
  for (const Operand o : operands) {
    const auto found = known.find(key_of(o));
    const Value& value = found == known.end() ? values.value_of(o) : found->second;
    inputs.push_back(view_of(value, values.node(o)));
  }
  const Value& value = known[key_of(Stored{i, 0})] = allocate({node.dtype, node.shape});
  const View output = view_of(value, node);
  kernels::Fault fault;
  const bool drawn = node.op == Op::random_uniform && !values.primitives().steps[i].whole;
  const NodeRef current = drawn ? with_current_draw(values, i) : NodeRef();
  interpret({drawn ? *current : node, inputs, {&output, 1}, fault});
  invariant(!fault.set(), "a generated kernel takes data that its ops refuse");
}

/// A map as one foreach_map, with the numbers of the current step.
NodeRef node_of(const LiveValues& values, const Map& map) {
  std::vector<Slot> slots;
  for (const Map::Number& number : map.numbers)
    slots.push_back(values.node(number.primitive).slots()[number.slot]);
  const std::array<std::int64_t, 3> fixed{static_cast<std::int64_t>(map.lists()),
                                          static_cast<std::int64_t>(map.length),
                                          static_cast<std::int64_t>(map.results.size())};
  const Node& node = values.node(map.primitive);
  return record({.op = Op::foreach_map,
                 .dtype = node.dtype,
                 .shape = node.shape,
                 .inputs = {},
                 .fixed = fixed,
                 .slots = slots,
                 .payload = map.body,
                 .differentiable = false,
                 .where = node.where});
}

/// Computes the results of a map from what it reads, and puts them into `known`.
void add_meaning(const LiveValues& values, const Map& map, Values& known) {
  std::vector<ConstView> inputs;
  for (const Operand o : map.operands)
    inputs.push_back(view_of(known.at(key_of(o)), values.node(o)));
  std::vector<View> outputs;
  for (const Map::Result& from : map.results)
    for (const std::uint32_t index : from.index) {
      const Result result = values.result(from.primitive, index);
      const Value& value = known[key_of(Stored{from.primitive, index})] = allocate(result);
      outputs.push_back(view_of(value, result));
    }
  kernels::Fault fault;
  interpret({*node_of(values, map), inputs, outputs, fault});
}

/// What an op makes of one value.
Value applied(Op op, const Result& result, std::int64_t fixed, const ConstView& operand) {
  const NodeRef node = record({.op = op,
                               .dtype = result.dtype,
                               .shape = result.shape,
                               .inputs = {},
                               .fixed = {&fixed, 1},
                               .differentiable = false,
                               .where = {}});
  Value value = allocate(result);
  const View output = view_of(value, result);
  kernels::Fault fault;
  interpret({*node, {&operand, 1}, {&output, 1}, fault});
  return value;
}

/// Computes the sums of a list, and puts them into `known`.
void add_fold_meaning(const LiveValues& values, PrimitiveId i, Values& known) {
  const ListFold& fold = values.primitives().folds.at(i);
  const Node& node = values.node(i);
  const Value& all = known[key_of(Stored{i, 0})] = allocate({node.dtype, node.shape});
  std::byte* to = address(all, node.dtype);
  for (const Operand o : values.primitives().operands_of(i)) {
    Value value = known.at(key_of(o));
    Result now{fold.read, values.shape(o)};  // what the value is
    const auto apply = [&](Op op, Result next, std::int64_t fixed) {
      value = applied(op, next, fixed, view_of(value, now));
      now = next;
    };
    for (const ListFold::Step& step : fold.before) apply(step.op, {step.dtype, now.shape}, 0);
    const int rank = now.shape.rank();
    const std::int64_t axes = (std::int64_t{1} << rank) - 1;
    if (axes != 0) apply(Op::sum, {fold.sum, Shape::filled(rank, 1)}, axes);
    for (const ListFold::Step& step : fold.after) apply(step.op, {step.dtype, now.shape}, 0);
    std::memcpy(to, address(value, now.dtype), item_size(now.dtype));
    to += item_size(now.dtype);
  }
}

template <class T>
std::uint64_t bits_of(T x) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  return bits;
}

bool same(const ConstView& a, const ConstView& b, const Dims& index) {
  return with_storage_type(a.dtype, [&]<typename T>(T) {
    const T x = element_at<T>(a.data, offset_of(a.strides, index));
    const T y = element_at<T>(b.data, offset_of(b.strides, index));
    if (bits_of(x) == bits_of(y)) return true;
    return is_floating(a.dtype) && std::isnan(converted<double>(x)) &&
           std::isnan(converted<double>(y));
  });
}

/// `1.5 (0x3fc00000)`.
std::string element_text(const ConstView& view, const Dims& index) {
  return with_storage_type(view.dtype, [&]<typename T>(T) {
    const T x = element_at<T>(view.data, offset_of(view.strides, index));
    if constexpr (is_half<T>)
      return fmt::format("{} ({:#0{}x})", static_cast<float>(x), bits_of(x), 2 + 2 * sizeof x);
    else if constexpr (std::is_floating_point_v<T>)
      return fmt::format("{} ({:#0{}x})", x, bits_of(x), 2 + 2 * sizeof x);
    else return fmt::format("{}", converted<std::int64_t>(x));
  });
}

/// A value as it was given and as it should be.
struct Pair {
  ConstView given, meant;
};

Pair pair_of(const LiveValues& values, const Stored& stored, const Values& known) {
  const std::uint32_t number = values.plan().first_value[stored.primitive] + stored.result;
  const Result result = values.result(stored.primitive, stored.result);
  return {view_of(values[number], result), view_of(known.at(key_of(stored)), result)};
}

std::optional<Dims> first_difference(const Pair& pair) {
  std::optional<Dims> first;
  for_each_index(pair.given.shape, [&](const Dims& index) {
    if (!first && !same(pair.given, pair.meant, index)) first = index;
  });
  return first;
}

std::string difference_text(const LiveValues& values, const std::string& kernel,
                            const Stored& stored, const Pair& pair, const Dims& index) {
  const Primitive& part = values.primitives().steps[stored.primitive];
  const Node& origin = *values.trace().steps[part.origin];
  std::string op(to_string(values.node(stored.primitive).op));
  if (!part.whole) op += fmt::format(" of {}", to_string(origin.op));
  if (stored.result != 0) op += fmt::format(", result {}", stored.result);
  return fmt::format(
      "internal error, please report: the generated kernel {} differs from its meaning at {} of {} "
      "({} {}, {}): it gives {}, not {}",
      kernel, to_string(index), op, to_string(pair.given.dtype), to_string(pair.given.shape),
      sinter::to_string(origin.user), element_text(pair.given, index),
      element_text(pair.meant, index));
}

}  // namespace

void Shadow::before_operation(const LiveValues& values, const Operation& operation) {
  read_.clear();
  if (!operation.is_generated()) return;
  for (const Operand o : operands_of(values.plan(), values.primitives(), operation))
    read_.try_emplace(key_of(o), packed(values.view(o)));
}

bool Shadow::after_operation(const LiveValues& values, const Operation& operation) {
  if (!operation.is_generated()) return true;
  const std::vector<Stored> stored = stored_by(values.plan(), operation);
  Values known = std::move(read_);
  if (operation.kind == Operation::Kind::map)
    add_meaning(values, values.plan().maps[operation.number].map, known);
  else if (operation.kind == Operation::Kind::fold)
    add_fold_meaning(values, operation.primitive, known);
  else
    for (const PrimitiveId i : needed_for(values, stored, known)) add_meaning(values, i, known);
  std::string problem;
  for (const Stored& value : stored) {
    const Pair pair = pair_of(values, value, known);
    const std::optional<Dims> index = first_difference(pair);
    if (!index) continue;
    if (problem.empty())
      problem = difference_text(values, name_of(values.plan(), operation), value, pair, *index);
    if (difference_) difference_(pair.given, pair.meant);
  }
  if (!problem.empty()) throw InternalError(problem);
  return true;
}

}  // namespace sinter::jit
