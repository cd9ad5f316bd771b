/// \file
/// The results of a node: one, or several for the ops that `pick` reads from.
#pragma once

#include <cstddef>

#include "runtime/graph.h"

namespace sinter {

struct Result {
  DType dtype;
  Shape shape;
};

/// Whether the op has several results, each reached by a `pick` node. Its node's own dtype and
/// shape are those of result 0.
bool has_several_results(Op op);

/// How many results the node has: at least 1.
std::size_t result_count(const Node& node);

/// One of them, of a node whose inputs have not been taken away.
Result result_of(const Node& node, std::size_t index);

}  // namespace sinter
