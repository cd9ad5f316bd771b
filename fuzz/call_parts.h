/// \file
/// How the numbers of a step become the arguments of a call: the same where it is called and where
/// it is printed.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fuzz/call.h"

namespace sinter::fuzz {

Operand number(DType dtype, const Slot& slot);
/// The host number that a constant without axes stands for as an operand of `reader`.
Operand number_beside(const Step& reader, const Step& constant);

/// A constant as a tensor.
Tensor constant(const Step& step);

struct Range {
  double start, stop, step;
};
/// The arguments of arange.
Range range(const Step& step);

struct Padding {
  Dims before, after;
  double value;
};
Padding padding(const Step& step, const Shape& of);

Dims integers(std::span<const Slot> slots);

/// The body of foreach_map, applied to stand-ins.
std::vector<Tensor> run_body(const Step& step, const std::vector<Tensor>& stand_ins,
                             std::span<const Tensor> shared);

/// The op that a gradient node belongs to, whose attributes it has and whose operands follow the
/// gradient of the result; of a softmax that is the result.
std::optional<Op> forward_of(Op gradient);

/// The step as a node. Only of a slice it is checked that the node has a meaning.
std::vector<Tensor> call_node(const Step& step, const CallOperands& operands);

}  // namespace sinter::fuzz
