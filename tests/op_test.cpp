// Every op of ops.def that is not elementwise against its row of oracle.def: values over dtypes,
// layouts, sizes and levels, and gradients against differences of the oracle.
#include <doctest/doctest.h>

#include "tests/op_cases.h"

namespace sinter::tests {
namespace {

/// The row of an op: there is none, and no program, unless oracle.def gives one.
template <Op op>
struct RowOf;
#define ORACLE_OP(name, cases)                      \
  template <>                                       \
  struct RowOf<Op::name> {                          \
    static Cases cases_of_row() { return cases(); } \
  };
#include "tests/oracle.def"

void check_values(Op op, const Cases& cases) {
  REQUIRE(!cases.empty());
  std::uint64_t seed = 1;
  for (const OpCase& one : cases)
    for (const DType dtype : one.dtypes)
      for (const Layout layout : layouts) run_case(one, op, dtype, layout, seed += 100);
}

void check_gradients(const Cases& cases) {
  for (const OpCase& one : gradients_of(cases))
    for (const DType dtype : one.dtypes)
      if (dtype == f64 || dtype == f32) run_case(one, std::nullopt, dtype, Layout::contiguous, 7);
}

}  // namespace

#define SINTER_OP(name, kind) \
  TEST_CASE("values of " #name) { check_values(Op::name, RowOf<Op::name>::cases_of_row()); }
#include "runtime/ops.def"

#define SINTER_OP(name, kind) \
  TEST_CASE("gradients of " #name) { check_gradients(RowOf<Op::name>::cases_of_row()); }
#include "runtime/ops.def"

}  // namespace sinter::tests
