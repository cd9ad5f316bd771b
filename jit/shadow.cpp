#include "jit/shadow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>
#include <vector>

#include "jit/elements.h"
#include "jit/interpret.h"

namespace sinter::jit {
namespace {

using Values = std::map<std::uint32_t, Value>;

std::uint32_t key_of(Operand o) { return o.index << 1 | o.leaf; }
Operand primitive(PrimitiveId i) { return {i & 0x7fffffffu, 0}; }

/// The primitives whose values the group stores, in order.
std::vector<PrimitiveId> stored_by(const ScheduledGroup& group) {
  std::vector<PrimitiveId> stored;
  for (const LoopOperand& operand : group.operands)
    if (operand.kind == LoopOperand::Kind::written || operand.kind == LoopOperand::Kind::block_sums)
      stored.push_back(operand.value.index);
  std::sort(stored.begin(), stored.end());
  return stored;
}

/// What the values of `wanted` follow from, down to those that are known; each comes after what it
/// reads.
std::set<PrimitiveId> needed_for(const Primitives& primitives,
                                 const std::vector<PrimitiveId>& wanted, const Values& known) {
  std::set<PrimitiveId> needed(wanted.begin(), wanted.end());
  std::vector<PrimitiveId> open = wanted;
  while (!open.empty()) {
    const PrimitiveId at = open.back();
    open.pop_back();
    for (const Operand o : primitives.operands_of(at))
      if (!o.leaf && known.count(key_of(o)) == 0 && needed.insert(o.index).second)
        open.push_back(o.index);
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

/// Computes a primitive from what is in `known`, or in memory all the time.
Value meaning_of(const LiveValues& values, PrimitiveId i, const Values& known) {
  const Node& node = values.node(i);
  std::vector<ConstView> inputs;
  for (const Operand o : values.primitives().operands_of(i)) {
    const auto found = known.find(key_of(o));
    const Value& value = found == known.end() ? values.value_of(o) : found->second;
    inputs.push_back(
        {address(value, values.dtype(o)), values.dtype(o), values.shape(o), value.strides});
  }
  Value result = allocate({node.dtype, node.shape});
  const View output{address(result, node.dtype), node.dtype, node.shape, result.strides};
  kernels::Fault fault;
  const bool drawn = node.op == Op::random_uniform && !values.primitives().steps[i].whole;
  const NodeRef current = drawn ? with_current_draw(values, i) : NodeRef();
  interpret({drawn ? *current : node, inputs, {&output, 1}, fault});
  invariant(!fault.set(), "a generated kernel takes data that its ops refuse");
  return result;
}

bool same(const ConstView& a, const ConstView& b, const Dims& index) {
  return with_storage_type(a.dtype, [&]<typename T>(T) {
    const T x = element_at<T>(a.data, offset_of(a.strides, index));
    const T y = element_at<T>(b.data, offset_of(b.strides, index));
    if (std::memcmp(&x, &y, sizeof x) == 0) return true;
    return is_floating(a.dtype) && std::isnan(converted<double>(x)) &&
           std::isnan(converted<double>(y));
  });
}

/// `1.5 (0x3fc00000)`.
std::string element_text(const ConstView& view, const Dims& index) {
  return with_storage_type(view.dtype, [&]<typename T>(T) {
    const T x = element_at<T>(view.data, offset_of(view.strides, index));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof x);
    if constexpr (is_half<T>)
      return fmt::format("{} ({:#0{}x})", static_cast<float>(x), bits, 2 + 2 * sizeof x);
    else if constexpr (std::is_floating_point_v<T>)
      return fmt::format("{} ({:#0{}x})", x, bits, 2 + 2 * sizeof x);
    else return fmt::format("{}", converted<std::int64_t>(x));
  });
}

[[noreturn]] void report(const LiveValues& values, const std::string& kernel, PrimitiveId i,
                         const ConstView& given, const ConstView& meant, const Dims& index) {
  const Node& node = values.node(i);
  const Primitive& part = values.primitives().steps[i];
  const Node& origin = *values.trace().steps[part.origin];
  std::string op(to_string(node.op));
  if (!part.whole) op += fmt::format(" of {}", to_string(origin.op));
  throw InternalError(fmt::format(
      "internal error, please report: the generated kernel {} differs from its meaning at {} of {} "
      "({} {}, {}): it gives {}, not {}",
      kernel, to_string(index), op, to_string(given.dtype), to_string(given.shape),
      sinter::to_string(origin.user), element_text(given, index), element_text(meant, index)));
}

/// Compares a result of primitive i.
void compare(const LiveValues& values, const std::string& kernel, PrimitiveId i, const Value& value,
             const ConstView& meant) {
  const ConstView given{address(value, meant.dtype), meant.dtype, meant.shape, value.strides};
  for_each_index(meant.shape, [&](const Dims& index) {
    if (!same(given, meant, index)) report(values, kernel, i, given, meant, index);
  });
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

void check_map(const LiveValues& values, const PlannedMap& planned, const Values& read) {
  const Map& map = planned.map;
  std::vector<ConstView> inputs;
  for (const Operand o : map.operands) {
    const Value& value = read.at(key_of(o));
    inputs.push_back(
        {address(value, values.dtype(o)), values.dtype(o), values.shape(o), value.strides});
  }
  std::vector<Value> meant;
  std::vector<View> outputs;
  for (const Map::Result& result : map.results)
    for (const std::uint32_t index : result.index) {
      const Result own = values.result(result.primitive, index);
      meant.push_back(allocate(own));
      outputs.push_back(
          {address(meant.back(), own.dtype), own.dtype, own.shape, meant.back().strides});
    }
  kernels::Fault fault;
  interpret({*node_of(values, map), inputs, outputs, fault});
  for (std::size_t r = 0; r < map.results.size(); ++r)
    for (std::size_t p = 0; planned.wanted[r] && p < map.length; ++p) {
      const View& out = outputs[r * map.length + p];
      const Map::Result& result = map.results[r];
      const std::uint32_t number = values.plan().first_value[result.primitive] + result.index[p];
      compare(values, planned.loops[planned.loop_of[p]].name, result.primitive, values[number],
              {out.data, out.dtype, out.shape, out.strides});
    }
}

}  // namespace

void Shadow::before_operation(const LiveValues& values, const Operation& operation) {
  read_.clear();
  if (operation.map != Operation::no_map) {
    for (const Operand o : values.plan().maps[operation.map].map.operands)
      read_.try_emplace(key_of(o), packed(values.view(o)));
    return;
  }
  if (operation.group == Operation::no_group) return;
  for (const LoopOperand& operand : values.plan().groups[operation.group].schedule.operands)
    if (operand.kind == LoopOperand::Kind::read)
      read_.try_emplace(key_of(operand.value), packed(values.view(operand.value)));
}

bool Shadow::after_operation(const LiveValues& values, const Operation& operation) {
  if (operation.map != Operation::no_map)
    check_map(values, values.plan().maps[operation.map], std::move(read_));
  if (operation.group == Operation::no_group) return true;
  const ScheduledGroup& schedule = values.plan().groups[operation.group].schedule;
  const std::vector<PrimitiveId> stored = stored_by(schedule);
  Values known = std::move(read_);
  for (const PrimitiveId i : needed_for(values.primitives(), stored, known))
    known.emplace(key_of(primitive(i)), meaning_of(values, i, known));
  for (const PrimitiveId i : stored) {
    const Node& node = values.node(i);
    const Value& meaning = known.at(key_of(primitive(i)));
    compare(values, schedule.loop.name, i, values.value_of(primitive(i)),
            {address(meaning, node.dtype), node.dtype, node.shape, meaning.strides});
  }
  return true;
}

}  // namespace sinter::jit
