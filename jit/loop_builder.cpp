#include "jit/loop_builder.h"

#include <utility>

#include "jit/tighten.h"
#include "runtime/error.h"

namespace sinter::jit {
namespace {

/// Whether the value is 0 or 1.
bool is_truth(const Statement& s) {
  return s.kind == StatementKind::apply && info(s.op).rule == Rule::predicate;
}

/// Characters of a loop's name after which no op is added.
constexpr std::size_t long_name = 40;

}  // namespace

void append_op(std::string& name, Op op) {
  if (name.size() > long_name) return;
  if (!name.empty()) name += '_';
  name += to_string(op);
}

std::uint32_t LoopBuilder::memory(DType dtype, Columns columns) {
  loop_.accesses.push_back({.dtype = dtype, .columns = columns});
  return static_cast<std::uint32_t>(loop_.accesses.size() - 1);
}

std::uint32_t LoopBuilder::position() {
  loop_.accesses.push_back({.dtype = DType::i64, .columns = Columns::strided, .memory = false});
  return static_cast<std::uint32_t>(loop_.accesses.size() - 1);
}

std::uint32_t LoopBuilder::argument(DType compute) {
  loop_.numbers.push_back(compute);
  return static_cast<std::uint32_t>(loop_.numbers.size() - 1);
}

ValueId LoopBuilder::add(Statement statement) {
  invariant(!loop_.sections.empty(), "a statement before the first section");
  loop_.sections.back().statements.push_back(statement);
  statements_.push_back(statement);
  return static_cast<ValueId>(statements_.size() - 1);
}

ValueId LoopBuilder::load(std::uint32_t access) {
  return add({.kind = StatementKind::load,
              .compute = compute_dtype(loop_.accesses[access].dtype),
              .index = access});
}

ValueId LoopBuilder::fetch(std::uint32_t access, ValueId index) {
  return add({.kind = StatementKind::fetch,
              .compute = compute_dtype(loop_.accesses[access].dtype),
              .operands = {index, no_value, no_value},
              .index = access});
}

ValueId LoopBuilder::number(std::uint32_t argument) {
  return add(
      {.kind = StatementKind::number, .compute = loop_.numbers[argument], .index = argument});
}

ValueId LoopBuilder::coordinate(std::uint32_t access) {
  return add({.kind = StatementKind::coordinate, .compute = DType::i64, .index = access});
}

ValueId LoopBuilder::uniform(std::uint32_t access, ValueId seed, ValueId ordinal, ValueId column) {
  return add({.kind = StatementKind::uniform,
              .compute = DType::f32,
              .operands = {seed, ordinal, column},
              .index = access});
}

ValueId LoopBuilder::apply(Op op, ValueId a, ValueId b, ValueId c) {
  return add(
      {.kind = StatementKind::apply, .compute = compute_of(a), .op = op, .operands = {a, b, c}});
}

ValueId LoopBuilder::cast(ValueId a, DType dtype) {
  // The outcome of a comparison is 0 or 1 in every type.
  const Statement& made = statement(a);
  if (made.kind == StatementKind::cast && made.dtype == DType::boolean &&
      is_truth(statement(made.operands[0])))
    a = made.operands[0];
  if (is_truth(statement(a)) && compute_of(a) == compute_dtype(dtype)) return a;
  return add({.kind = StatementKind::cast,
              .compute = compute_dtype(dtype),
              .dtype = dtype,
              .operands = {a, no_value, no_value}});
}

ValueId LoopBuilder::in_compute(Rounded a, DType compute) {
  return compute_dtype(a.dtype) == compute ? a.value : cast(a.value, compute);
}

Rounded LoopBuilder::rounded(Rounded a, DType dtype) {
  const bool is_rounded = a.dtype == dtype || compute_dtype(a.dtype) == dtype;
  return {is_rounded ? a.value : cast(a.value, dtype), dtype};
}

ValueId LoopBuilder::reduce(Op op, ValueId a) {
  return add({.kind = StatementKind::reduce,
              .compute = compute_of(a),
              .op = op,
              .operands = {a, no_value, no_value}});
}

void LoopBuilder::add_rows(ValueId a, std::uint32_t access) {
  add({.kind = StatementKind::add_rows,
       .compute = compute_of(a),
       .operands = {a, no_value, no_value},
       .index = access});
}

void LoopBuilder::keep(ValueId a, std::uint32_t row_buffer) {
  kept_computes_.resize(loop_.row_buffers);
  kept_computes_[row_buffer] = compute_of(a);
  add({.kind = StatementKind::keep,
       .compute = compute_of(a),
       .operands = {a, no_value, no_value},
       .index = row_buffer});
}

ValueId LoopBuilder::recall(std::uint32_t row_buffer) {
  return add(
      {.kind = StatementKind::recall, .compute = kept_computes_[row_buffer], .index = row_buffer});
}

void LoopBuilder::store(ValueId a, std::uint32_t access) {
  add({.kind = StatementKind::store,
       .compute = compute_of(a),
       .operands = {a, no_value, no_value},
       .index = access});
}

Loop LoopBuilder::finish() {
  std::erase_if(loop_.sections, [](const Section& section) { return section.statements.empty(); });
  check_loop(loop_);
  Loop result = tighten(loop_);
  check_loop(result);
  return result;
}

}  // namespace sinter::jit
