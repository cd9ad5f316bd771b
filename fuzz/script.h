/// \file
/// A program as data: what tests draw, run at several levels, shrink and print.
///
/// A Script is a list of steps in order; each makes one value from the values of earlier ones. It
/// is made by hand, drawn (draw_script.h), or read from what SINTER_TRACE_DIR recorded (json.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/contents.h"
#include "runtime/attributes.h"
#include "runtime/foreach_body.h"
#include "runtime/graph.h"

namespace sinter::fuzz {

enum class StepKind : std::uint8_t {
  leaf,      ///< data from the host; `variable` makes it the value of a trainable Variable
  op,        ///< a row of ops.def
  gradient,  ///< operands: y, x; d sum(y) / dx, zeros where x is not reached
  assign,    ///< operands: a leaf that is a Variable, its new value; gives the value read again
  evaluate,  ///< operand 0, whose value is computed at this point
};

/// The fields a kind does not need stay empty.
struct Step {
  StepKind kind = StepKind::op;
  DType dtype = DType::f32;  ///< of the result; for ops that do not choose it, set by replaying
  Shape shape;
  std::vector<std::size_t> operands;  ///< numbers of earlier steps

  Op op = Op::data;
  std::vector<std::int64_t> fixed;  ///< as a node's: see runtime/attributes.h
  std::vector<Slot> slots;
  std::shared_ptr<const ForeachTrace> body;  ///< of foreach_map

  bool variable = false;
  Strides strides;  ///< of a leaf; none for row-major elements
  Contents contents;
};

struct Script {
  std::vector<Step> steps;
  std::vector<std::size_t> outputs;  ///< the steps whose values are read
};

/// Whether the slot is a real number (not an integer).
bool is_real_slot(const Step& step, std::size_t slot);

/// A host number: a constant without axes.
bool is_number(const Step& step);

/// What is wrong with the structure, if anything is: operands that do not come before their reader
/// or are not as many as the op takes, attributes that are missing. What only the ops can tell
/// (shapes, dtypes) is not asked.
std::optional<std::string> find_flaw(const Script& script);

/// The leaves whose Variables are written, in the order of their first write.
std::vector<std::size_t> written_leaves(const Script& script);

/// The same without the steps that no output, and no written Variable, depends on.
Script pruned(const Script& script);

/// All sizes and lengths that are multiples of `from` as the same multiples of `to`.
Script resized(const Script& script, std::int64_t from, std::int64_t to);

/// A leaf of contiguous elements with this dtype and shape.
Step make_leaf(DType dtype, const Shape& shape, const Contents& contents);

/// A step of kind op.
Step make_op(Op op, std::vector<std::size_t> operands, std::vector<std::int64_t> fixed = {},
             std::vector<Slot> slots = {});

}  // namespace sinter::fuzz
