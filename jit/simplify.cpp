#include "jit/simplify.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "jit/reading.h"
#include "runtime/word_hash.h"

namespace sinter::jit {
namespace {

/// What primitives compute, as words one after the other: two with the same have the same value.
class Meanings {
 public:
  explicit Meanings(std::size_t most) : table_(std::bit_ceil(2 * most + 1), none) {}

  void add(std::int64_t word) { words_.push_back(word); }
  template <class Words>
  void add_all(const Words& words) {
    words_.insert(words_.end(), words.begin(), words.end());
  }

  /// What was added since the last call is what primitive i computes. \return the first primitive
  /// that does the same, or i.
  PrimitiveId end(PrimitiveId i) {
    const std::size_t begin = entries_.empty() ? 0 : entries_.back().end;
    std::size_t place = hash_of(begin) & (table_.size() - 1);
    for (; table_[place] != none; place = (place + 1) & (table_.size() - 1)) {
      const std::uint32_t known = table_[place];
      const std::size_t known_begin = known == 0 ? 0 : entries_[known - 1].end;
      if (!std::equal(words_.begin() + offset(begin), words_.end(),
                      words_.begin() + offset(known_begin),
                      words_.begin() + offset(entries_[known].end)))
        continue;
      words_.resize(begin);
      return entries_[known].primitive;
    }
    table_[place] = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({words_.size(), i});
    return i;
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct Entry {
    std::size_t end;  // of its words, which begin where the entry before ends
    PrimitiveId primitive;
  };

  static std::ptrdiff_t offset(std::size_t word) { return static_cast<std::ptrdiff_t>(word); }
  std::size_t hash_of(std::size_t begin) const {
    WordHash hash;
    for (std::size_t k = begin; k < words_.size(); ++k) hash.add(words_[k]);
    return hash.value();
  }

  std::vector<std::int64_t> words_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> table_;  // of entries, by hash, the next place where one is taken
};

/// Whether the primitive means nothing but itself: its numbers may be others next time, or what it
/// does is not in its attributes.
bool is_unique(const Primitive& primitive) {
  const Node& node = *primitive.node;
  const OpKind kind = info(node.op).kind;
  if (kind == OpKind::generator && node.op != Op::constant && node.op != Op::arange) return true;
  return node.payload != nullptr || (primitive.whole && !node.slots().empty());
}

/// Whether it is more than numbers, which may be the same now and differ next time.
bool reads_data(const Primitives& primitives, PrimitiveId i) {
  const auto operands = primitives.operands_of(i);
  return std::any_of(operands.begin(), operands.end(), [&](Operand o) {
    return o.leaf || !is_inlined(*primitives.steps[o.index].node);
  });
}

bool is_reduction(Op op) { return info(op).kind == OpKind::reduction; }

}  // namespace

void simplify(const Trace& trace, Primitives& primitives) {
  Meanings meanings(primitives.steps.size());
  // The number of each value: what has the same value comes with the same number.
  std::vector<std::uint32_t> number(primitives.steps.size());
  std::vector<Operand> instead(primitives.steps.size());
  primitives.same_as.resize(primitives.steps.size());
  for (PrimitiveId i = 0; i < primitives.steps.size(); ++i) {
    const Primitive& primitive = primitives.steps[i];
    number[i] = i;
    primitives.same_as[i] = i;
    instead[i] = Operand::of_step(i);
    for (std::uint32_t k = primitives.first_operand[i]; k < primitives.first_operand[i + 1]; ++k)
      if (!primitives.operands[k].leaf)
        primitives.operands[k] = instead[primitives.operands[k].index];
    if (is_unique(primitive)) continue;
    const Node& node = *primitive.node;
    meanings.add(static_cast<std::int64_t>(node.op));
    meanings.add(static_cast<std::int64_t>(node.dtype));
    meanings.add_all(node.shape);
    meanings.add(-1);
    meanings.add_all(node.fixed());
    for (const Slot slot : node.slots()) meanings.add(slot.integer);
    for (const Operand o : primitives.operands_of(i))
      meanings.add(o.leaf ? -2 - std::int64_t{o.index} : std::int64_t{number[o.index]});
    number[i] = meanings.end(i);
    if (reads_data(primitives, i)) primitives.same_as[i] = number[i];
    if (is_reduction(node.op)) instead[i] = Operand::of_step(number[i]);
  }
  for (std::size_t i = 0; i < trace.steps.size(); ++i)
    if (Operand& value = primitives.value_of[i];
        !value.leaf && !has_several_results(trace.steps[i]->op))
      value = instead[value.index];
}

}  // namespace sinter::jit
