#include "jit/trace.h"

#include <algorithm>

#include "runtime/results.h"

namespace sinter::jit {
namespace {

/// The pending nodes below the roots in order of recording.
std::vector<Node*> collect_pending(std::span<const NodeRef> roots, std::uint64_t walk) {
  std::vector<Node*> found;
  const auto visit = [&](Node* node) {
    if (node->mark == walk || node->state() != NodeState::pending) return;
    node->mark = walk;
    found.push_back(node);
  };
  for (const NodeRef& root : roots) visit(root.get());
  for (std::size_t next = 0; next < found.size(); ++next)
    for (const NodeRef& input : found[next]->inputs()) visit(input.get());
  std::sort(found.begin(), found.end(),
            [](const Node* a, const Node* b) { return a->order < b->order; });
  return found;
}

void number_operands(Trace& trace, std::uint64_t walk) {
  for (std::size_t i = 0; i < trace.steps.size(); ++i)
    trace.steps[i]->index = static_cast<std::uint32_t>(i);
  trace.first_source.reserve(trace.steps.size() + 1);
  for (const Node* step : trace.steps) {
    trace.first_source.push_back(static_cast<std::uint32_t>(trace.sources.size()));
    for (const NodeRef& input : step->inputs()) {
      Node* node = input.get();
      const bool leaf = node->state() != NodeState::pending;
      if (leaf && node->mark != walk) {
        node->mark = walk;
        node->index = static_cast<std::uint32_t>(trace.leaves.size());
        trace.leaves.push_back(node);
      }
      trace.sources.push_back(leaf ? Source::of_leaf(node->index) : Source::of_step(node->index));
    }
  }
  trace.first_source.push_back(static_cast<std::uint32_t>(trace.sources.size()));
}

/// Whose value stays, and whose inputs stay with it. Walked against the order, so that readers
/// come before what they read.
void decide_lifetimes(Trace& trace, std::span<const NodeRef> roots) {
  const std::size_t count = trace.steps.size();
  trace.kept.assign(count, false);
  trace.history.assign(count, false);
  for (const NodeRef& root : roots)
    if (root->state() == NodeState::pending) trace.kept[root->index] = true;
  std::vector<std::uint32_t> reads(count, 0);
  for (const Source source : trace.sources)
    if (!source.leaf) ++reads[source.index];
  for (std::size_t i = count; i-- > 0;) {
    const Node& node = *trace.steps[i];
    // Counted once: a handle that another thread drops from now on changes nothing, and who does
    // not refer to the node by now can no more reach it.
    if (node.reference_count() != reads[i]) trace.kept[i] = true;
    if (!trace.kept[i]) continue;
    const bool may_differentiate = node.requires_grad && !node.differentiated && node.tracked;
    if (!may_differentiate && !has_several_results(node.op)) continue;
    trace.history[i] = true;
    for (const Source source : trace.sources_of(i))
      if (!source.leaf) trace.kept[source.index] = true;
  }
}

/// Two bits a size: 0, 1, or anything else.
std::uint32_t size_bits(const Shape& shape) {
  std::uint32_t bits = 0;
  for (const std::int64_t size : shape)
    bits = bits << 2 | static_cast<std::uint32_t>(std::min<std::int64_t>(size, 2));
  return bits;
}

void append_wide(std::vector<std::uint32_t>& key, std::uint64_t word) {
  key.push_back(static_cast<std::uint32_t>(word));
  key.push_back(static_cast<std::uint32_t>(word >> 32));
}

void write_key(Trace& trace, Level level) {
  std::vector<std::uint32_t>& key = trace.key;
  key.reserve(4 + trace.leaves.size() * 2 + trace.steps.size() * 8);
  trace.first_word.reserve(trace.steps.size());
  key.push_back(static_cast<std::uint32_t>(level));
  key.push_back(static_cast<std::uint32_t>(trace.leaves.size()));
  for (const Node* leaf : trace.leaves) {
    key.push_back(static_cast<std::uint32_t>(leaf->dtype) << 8 |
                  static_cast<std::uint32_t>(leaf->shape.rank()));
    key.push_back(size_bits(leaf->shape));
  }
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const Node& node = *trace.steps[i];
    trace.first_word.push_back(static_cast<std::uint32_t>(key.size()));
    key.push_back(static_cast<std::uint32_t>(node.op) << 16 |
                  static_cast<std::uint32_t>(node.dtype) << 12 |
                  static_cast<std::uint32_t>(node.shape.rank()) << 4 |
                  static_cast<std::uint32_t>(trace.history[i]) << 1 |
                  static_cast<std::uint32_t>(trace.kept[i]));
    key.push_back(size_bits(node.shape));
    const auto sources = trace.sources_of(i);
    key.push_back(static_cast<std::uint32_t>(sources.size()));
    for (const Source source : sources)
      key.push_back(source.index | static_cast<std::uint32_t>(source.leaf) << 31);
    for (const std::int64_t value : node.fixed())
      append_wide(key, static_cast<std::uint64_t>(value));
    if (node.payload && node.payload->in_program()) append_wide(key, node.payload->fingerprint());
  }
}

}  // namespace

Trace linearise(std::span<const NodeRef> roots, Level level) {
  Trace trace;
  const std::uint64_t walk = next_walk();
  trace.steps = collect_pending(roots, walk);
  number_operands(trace, walk);
  decide_lifetimes(trace, roots);
  write_key(trace, level);
  return trace;
}

}  // namespace sinter::jit
