#include "jit/simplify.h"

#include <map>

namespace sinter::jit {
namespace {

/// What a primitive computes, as words: two with the same have the same value.
using Meaning = std::vector<std::int64_t>;

/// Whether the primitive means nothing but itself: its numbers may be others next time, or what it
/// does is not in its attributes.
bool is_unique(const Primitive& primitive) {
  const Node& node = *primitive.node;
  const OpKind kind = info(node.op).kind;
  if (kind == OpKind::generator && node.op != Op::constant && node.op != Op::arange) return true;
  return node.payload != nullptr || (primitive.whole && !node.slots().empty());
}

bool is_reduction(Op op) { return info(op).kind == OpKind::reduction; }

}  // namespace

void simplify(const Trace& trace, Primitives& primitives) {
  std::map<Meaning, PrimitiveId> first;
  // The number of each value: what has the same value comes with the same number.
  std::vector<std::uint32_t> number(primitives.steps.size());
  std::vector<Operand> instead(primitives.steps.size());
  for (PrimitiveId i = 0; i < primitives.steps.size(); ++i) {
    const Primitive& primitive = primitives.steps[i];
    number[i] = i;
    instead[i] = {i & 0x7fffffffu, 0};
    for (std::uint32_t k = primitives.first_operand[i]; k < primitives.first_operand[i + 1]; ++k)
      if (!primitives.operands[k].leaf)
        primitives.operands[k] = instead[primitives.operands[k].index];
    if (is_unique(primitive)) continue;
    const Node& node = *primitive.node;
    Meaning meaning{static_cast<std::int64_t>(node.op), static_cast<std::int64_t>(node.dtype)};
    meaning.insert(meaning.end(), node.shape.begin(), node.shape.end());
    meaning.push_back(-1);
    meaning.insert(meaning.end(), node.fixed().begin(), node.fixed().end());
    for (const Slot slot : node.slots()) meaning.push_back(slot.integer);
    for (const Operand o : primitives.operands_of(i))
      meaning.push_back(o.leaf ? -2 - std::int64_t{o.index} : std::int64_t{number[o.index]});
    const auto [found, is_new] = first.emplace(std::move(meaning), i);
    if (is_new) continue;
    number[i] = found->second;
    if (is_reduction(node.op)) instead[i] = {found->second & 0x7fffffffu, 0};
  }
  for (std::size_t i = 0; i < trace.steps.size(); ++i)
    if (Operand& value = primitives.value_of[i];
        !value.leaf && !has_several_results(trace.steps[i]->op))
      value = instead[value.index];
}

}  // namespace sinter::jit
