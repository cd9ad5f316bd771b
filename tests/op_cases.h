/// \file
/// The functions that the rows of oracle.def name: each gives the cases of one op.
#pragma once

#include "tests/op_case.h"

namespace sinter::tests {

#define ORACLE_OP(name, cases) Cases cases();
#include "tests/oracle.def"

}  // namespace sinter::tests
