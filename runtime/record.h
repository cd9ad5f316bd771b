/// \file
/// What every recording function does: operands brought to one dtype, checked, made into a node.
#pragma once

#include <optional>
#include <span>

#include "runtime/graph.h"
#include "runtime/results.h"
#include "runtime/tensor.h"

namespace sinter {

/// The dtype operands are brought to by PyTorch's rules: tensors with axes come first, then tensors
/// without, then host numbers (bool, i64, f32); a later kind counts only where its category (bool <
/// integer < floating) is higher. At least one operand is a tensor.
DType common_dtype(std::span<const Operand> operands);

/// The operand as an input of an op in `dtype`. Tensors are cast where the value in the compute
/// type would not be that of the cast; host numbers become a constant of the compute type, not
/// rounded to `dtype`.
NodeRef as_input(const Operand& operand, DType dtype, Where at);

/// A tensor in `dtype`: itself, or a recorded cast.
Tensor in_dtype(const Tensor& a, DType dtype, Where at);

/// Tensors brought to their common dtype, for ops that take several of one kind.
DType common_dtype(std::span<const Tensor> tensors);

/// Refuses a tensor that is not defined.
void require_defined(std::string_view op, const Tensor& a, Where at);

/// `f32 [8, 32]`, as errors name an operand.
std::string describe(const Tensor& a);

/// Records one node and gives its handle.
Tensor record_op(const NodeSpec& spec);

/// One result of a node that has several (results.h).
Tensor pick_result(const NodeRef& node, std::size_t index, Where at);
/// All of them.
std::vector<Tensor> pick_results(const NodeRef& node, Where at);

}  // namespace sinter
