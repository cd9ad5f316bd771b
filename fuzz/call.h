/// \file
/// One step of a Script through the public interface.
#pragma once

#include <span>
#include <vector>

#include "fuzz/script.h"
#include "runtime/tensor.h"

namespace sinter::fuzz {

/// What an op is called with.
struct CallOperands {
  std::vector<Tensor> tensors;      ///< of operands that are picked from: result 0
  std::vector<const Step*> steps;   ///< what made them
  std::span<const Tensor> results;  ///< of operand 0, all results: what `pick` reads
};

/// Calls the function of a step of kind op; the ops that `pick` reads from give several results.
/// What no function records by itself (the gradient of a softmax, a draw) is recorded as a node.
/// \throws UsageError as the function does.
std::vector<Tensor> call(const Step& step, const CallOperands& operands);

/// Whether the op has no function of its own, with these attributes.
bool is_node_only(const Step& step);

/// For each operand whether it is given as a host number: constants without axes that stand beside
/// a tensor of an elementwise op.
std::vector<bool> given_as_numbers(const Step& step, std::span<const Step* const> operands);

/// The start, stop and step of the one axis that a slice is along, if it is along one.
struct AxisSlice {
  int axis;
  std::int64_t start;
  std::optional<std::int64_t> stop;
  std::int64_t step;
};
std::optional<AxisSlice> as_axis_slice(const Step& step, const Shape& of);

/// The axes a slice reverses, if it does nothing else; none where it is no such slice.
Dims reversed_axes(const Step& step, const Shape& of);

}  // namespace sinter::fuzz
