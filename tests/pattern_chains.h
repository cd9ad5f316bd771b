/// \file
/// More loops put together by hand, for what the patterns (pattern_loops.h) leave out: indices,
/// strides, every kind of element and reduction, functions that take many registers; and all of
/// them with their names.
#pragma once

#include <string>
#include <vector>

#include "jit/loop.h"

namespace sinter::tests {

/// table, ids (i64, one a row), y: row `id` of the table.
jit::Loop embedding_loop(DType dtype);
/// x, ids (i64), y: along the columns.
jit::Loop gather_loop(DType dtype);
/// x (f16, strided), mask (bool), other (f32), y (f16, strided).
jit::Loop strided_where_loop();
/// x, y, z (f32): |x|^y and nine functions of x summed, atan2 of it and x mod y.
jit::Loop function_chain_loop();
/// x (i64), y (i32), z (i64), the same in bytes, the position of an element.
jit::Loop integer_chain_loop();
/// x (f32), n (i64); of each row: amax of x, amin of n, prod of x, sum of n.
jit::Loop row_extremes_loop();

struct NamedLoop {
  std::string name;  ///< of the kernel, and of its file in tests/golden/kernels
  jit::Loop loop;
};

/// Every pattern in f32 and bf16, and the loops above.
std::vector<NamedLoop> named_loops();

}  // namespace sinter::tests
