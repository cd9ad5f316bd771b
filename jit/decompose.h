/// \file
/// A trace in primitive ops: what fusion works on. Composites are taken apart into what
/// runtime/composites.h says they are, and nodes that only pass a value on are left out.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "jit/list_fold.h"
#include "jit/trace.h"
#include "runtime/results.h"

namespace sinter::jit {

/// The number of a primitive: its position.
using PrimitiveId = std::uint32_t;

/// The value of a primitive, or a leaf of the trace.
using Operand = Source;

struct Primitive {
  const Node* node;      ///< its op, shape and attributes: a node of the trace, or one in `made`
  std::uint32_t origin;  ///< the step of the trace it is a part of
  bool whole;            ///< whether it is that step
};

struct Primitives {
  std::vector<NodeRef> made;  ///< the nodes that composites were taken apart into
  std::vector<Primitive> steps;
  std::vector<Operand> operands;  ///< of all steps, one after the other
  std::vector<std::uint32_t> first_operand;
  /// For each step of the trace what has its value. Not meaningful for one with several results,
  /// whose picks have them.
  std::vector<Operand> value_of;
  /// For each primitive the first one that computes the same from the same data: set by simplify().
  std::vector<PrimitiveId> same_as;

  /// What concatenations do with each operand before, and whether each primitive has become a part
  /// of such a one: set by gather_folds().
  std::map<PrimitiveId, ListFold> folds;
  std::vector<bool> gathered;

  std::span<const Operand> operands_of(PrimitiveId i) const {
    return {operands.data() + first_operand[i], first_operand[i + 1] - first_operand[i]};
  }
};

/// Records and drops nodes on this thread. The launch lock is held.
Primitives decompose_trace(const Trace& trace);

}  // namespace sinter::jit
