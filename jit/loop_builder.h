/// \file
/// Puts a loop together, statement by statement.
#pragma once

#include <string>

#include "jit/loop.h"

namespace sinter::jit {

/// A value in the compute type of the dtype it is rounded to.
struct Rounded {
  ValueId value = no_value;
  DType dtype = DType::f32;
};

/// Adds an op to the name of a loop, unless that is long enough already.
void append_op(std::string& name, Op op);

/// Statements go into the section begun last; each call gives the number of the value it makes.
class LoopBuilder {
 public:
  explicit LoopBuilder(std::string name) { loop_.name = std::move(name); }

  std::uint32_t memory(DType dtype, Columns columns = Columns::contiguous);
  /// An access that has a position only.
  std::uint32_t position();
  std::uint32_t argument(DType compute);
  std::uint32_t row_buffer() { return loop_.row_buffers++; }

  void begin_row() { loop_.sections.push_back({SectionKind::row, {}}); }
  void begin_columns() { loop_.sections.push_back({SectionKind::columns, {}}); }

  ValueId load(std::uint32_t access);
  ValueId fetch(std::uint32_t access, ValueId index);
  ValueId number(std::uint32_t argument);
  ValueId coordinate(std::uint32_t access);
  /// In a row section `column` columns further, if it is given.
  ValueId uniform(std::uint32_t access, ValueId seed, ValueId ordinal, ValueId column = no_value);
  /// In the compute type of its operands, which are all the same.
  ValueId apply(Op op, ValueId a, ValueId b = no_value, ValueId c = no_value);
  ValueId cast(ValueId a, DType dtype);
  /// Cast where the value is not of the type already.
  ValueId in_compute(Rounded a, DType compute);
  Rounded rounded(Rounded a, DType dtype);
  ValueId reduce(Op op, ValueId a);
  void add_rows(ValueId a, std::uint32_t access);
  void keep(ValueId a, std::uint32_t row_buffer);
  ValueId recall(std::uint32_t row_buffer);
  void store(ValueId a, std::uint32_t access);

  /// The loop, checked and tightened.
  Loop finish();

 private:
  ValueId add(Statement statement);
  const Statement& statement(ValueId value) const { return statements_[value]; }
  DType compute_of(ValueId value) const { return statements_[value].compute; }

  Loop loop_;
  std::vector<Statement> statements_;  // of all sections
  std::vector<DType> kept_computes_;   // of each row buffer
};

}  // namespace sinter::jit
