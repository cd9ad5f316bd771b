/// \file
/// Linearise: from roots to a canonical trace of what is pending below them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/graph.h"
#include "runtime/options.h"
#include "runtime/results.h"

namespace sinter::jit {

/// Where a step reads an operand: another step's result or a leaf.
struct Source {
  std::uint32_t index : 31;
  std::uint32_t leaf : 1;

  static Source of_step(std::uint32_t index) { return {index & 0x7fffffffu, 0}; }
  static Source of_leaf(std::uint32_t index) { return {index & 0x7fffffffu, 1}; }

  /// A number that no other source has.
  std::uint32_t key() const { return std::uint32_t{index} << 1 | leaf; }

  friend bool operator==(Source, Source) = default;
};

/// The pending graph below some roots. The nodes are kept alive by the roots' references; the
/// vectors are indexed alike.
struct Trace {
  std::vector<Node*> steps;   ///< pending nodes in order of recording
  std::vector<Node*> leaves;  ///< evaluated nodes they read, in order of first use

  /// The operands of all steps, one after the other; step i's begin at first_source[i].
  std::vector<Source> sources;
  std::vector<std::uint32_t> first_source;

  /// Whether a step's value outlives the evaluation: something outside of the trace refers to it,
  /// or a node whose history stays reads it. A step that is not kept ends with the evaluation, so
  /// what it reads may be overwritten.
  std::vector<bool> kept;
  /// Whether a step keeps its inputs: a gradient may still be taken through it, or its value is in
  /// its picks and has to be computed again for a new one.
  std::vector<bool> history;

  /// What makes this program and no other: ops, dtypes, ranks, operands, fixed attributes, which
  /// sizes are 0 or 1, what is kept, the level. Sizes and slots are not in it, and no address.
  std::vector<std::uint32_t> key;
  std::vector<std::uint32_t> first_word;  ///< where each step's part of the key begins

  std::span<const Source> sources_of(std::size_t step) const {
    return {sources.data() + first_source[step], first_source[step + 1] - first_source[step]};
  }
  const Node& node(Source source) const { return *(source.leaf ? leaves : steps)[source.index]; }
  /// Whether the step is kept for its own value; of one with several results its picks have them.
  bool keeps_value(std::size_t step) const {
    return kept[step] && !has_several_results(steps[step]->op);
  }
};

/// Linearises what is pending below `roots`, whose values are kept. The launch lock is held.
/// Failed nodes are leaves.
Trace linearise(std::span<const NodeRef> roots, Level level);

}  // namespace sinter::jit
