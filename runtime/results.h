/// \file
/// The results of a node: one, or several for the ops that `pick` reads from.
#pragma once

#include <vector>

#include "runtime/graph.h"

namespace sinter {

struct Result {
  DType dtype;
  Shape shape;
};

/// Whether the op has several results, each reached by a `pick` node. Its node's own dtype and
/// shape are those of result 0.
bool has_several_results(Op op);

/// What the node computes. Never empty.
std::vector<Result> results(const Node& node);

}  // namespace sinter
