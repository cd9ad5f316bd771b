/// \file
/// The loop IR: what one generated kernel does, before it is printed in a dialect.
///
/// A kernel walks rows of columns. Its statements lie in sections that take turns: a row section
/// runs once for a row and works on numbers of the row, a column section once for each element of
/// it. Each value is made by one statement and named by its number. A value of a row section can be
/// read by every later statement, one of a column section in that section alone; a reduction stands
/// in a column section and is a value of the row after it.
///
///     softmax:  columns  x = load a;  m = reduce amax x
///               columns  x = load a;  d = sub x m;  e = exp d;  keep e 0;  s = reduce sum e
///               columns  e = recall 0;  y = div e s;  store y b
///
/// What is not in it: sizes, strides and addresses, which are arguments of a launch, and numbers
/// of the user, which are too. So one kernel serves every size.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/dtype.h"
#include "runtime/op.h"

namespace sinter::jit {

/// The number of a value: the position of the statement that makes it, counted over the loop.
using ValueId = std::uint32_t;
inline constexpr ValueId no_value = UINT32_MAX;

enum class StatementKind : std::uint8_t {
  load,        ///< the element of `access`
  fetch,       ///< the element of `access` that lies a index strides on; a is an i64 in its extent
  number,      ///< argument `index`, a number of the user's in the compute type
  coordinate,  ///< i64: where the element of `access`, which has no memory, would be
  match,  ///< of the row, i64: the column for which b + c * coordinate is a, where coordinate is
          ///< that of `access`, and differs from column to column, and c is not 0; without b and c
          ///< the coordinate is
  is_match,  ///< 1 in the column of the match a, 0 in others
  uniform,   ///< f32 in [0, 1): of the draw of seed a and ordinal b, which are numbers, the element
             ///< at the coordinate of `access`; in a row section c columns further, if c is given
  apply,     ///< elementwise `op` of a, b, c, all in the compute type
  cast,      ///< a converted to `dtype`, in its compute type
  reduce,    ///< `op` (sum, prod, amax, amin) of a over the columns of the row
  add_rows,  ///< a summed over the rows of a block into the element of `access`, by column
  keep,      ///< a into row buffer `index`, in the compute type
  recall,    ///< the element of row buffer `index`
  store,     ///< a into the element of `access`
};

struct Statement {
  StatementKind kind;
  DType compute = DType::f32;  ///< f32, f64 or i64: the type of the value
  Op op = Op::neg;             ///< of apply and reduce
  DType dtype = DType::f32;    ///< of cast
  std::array<ValueId, 3> operands{no_value, no_value, no_value};
  std::uint32_t index = 0;  ///< an access, a number or a row buffer
};

/// How the elements of an access lie along the columns. In a row section it does not matter.
enum class Columns : std::uint8_t {
  contiguous,  ///< one after the other
  strided,     ///< any stride, an argument
};

/// A way to address elements: a base, a stride for each axis of the rows, one for the columns and
/// one for an index that is fetched by, all arguments. `memory` is false where only the position
/// matters.
struct Access {
  DType dtype = DType::f32;
  Columns columns = Columns::contiguous;
  bool memory = true;
};

enum class SectionKind : std::uint8_t { row, columns };

struct Section {
  SectionKind kind;
  std::vector<Statement> statements;
};

struct Loop {
  std::string name;  ///< what it does, for readers: `softmax`
  std::vector<Access> accesses;
  std::vector<DType> numbers;  ///< the compute type of each
  std::uint32_t row_buffers = 0;
  std::vector<Section> sections;

  /// Whether a row must be walked as a whole: it has a reduction, a buffer, or stores a value of
  /// the row.
  bool whole_rows() const;
  /// Whether rows are summed by column, in the blocks of kernels/sum_blocks.h.
  bool adds_rows() const;
};

/// The spec: throws InternalError, naming the statement, where the loop is not well formed.
void check_loop(const Loop& loop);

/// One line a statement, as in the example above.
std::string to_string(const Loop& loop);

}  // namespace sinter::jit
