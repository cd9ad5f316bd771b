/// \file
/// One step of a program as its kernel sees it.
#pragma once

#include <span>

#include "kernels/fault.h"
#include "kernels/view.h"
#include "runtime/graph.h"

namespace sinter::jit {

/// The node tells op, attributes and slots. Inputs are in the node's order and of the inputs' own
/// shapes; outputs are row-major without gaps, one for each of results(node), not initialised. An
/// output may share its memory with an input of the same dtype and shape (donation) when the
/// step's kernel is marked as able to run in place.
struct Step {
  const Node& node;
  std::span<const kernels::ConstView> inputs;
  std::span<const kernels::View> outputs;
  kernels::Fault& fault;
};

using StepFunction = void (*)(const Step&);

}  // namespace sinter::jit
