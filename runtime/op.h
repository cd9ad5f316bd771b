/// \file
/// The ops as an enumeration with what the stages need to know of each: expanded from ops.def.
#pragma once

#include <cstdint>
#include <string_view>

namespace sinter {

enum class Op : std::uint16_t {
#define SINTER_UNARY(name, ...) name,
#define SINTER_BINARY(name, ...) name,
#define SINTER_TERNARY(name, ...) name,
#define SINTER_OP(name, kind) name,
#include "ops.def"
};

inline constexpr int op_count = 0
#define SINTER_UNARY(...) +1
#define SINTER_BINARY(...) +1
#define SINTER_TERNARY(...) +1
#define SINTER_OP(...) +1
#include "ops.def"
    ;

enum class OpKind : std::uint8_t {
  elementwise,
  leaf,
  generator,
  view,
  movement,
  reduction,
  library,
  composite,
  foreach,
};

/// Which dtypes an elementwise op takes and gives.
enum class Rule : std::uint8_t {
  numeric,    ///< the promoted dtype
  floating,   ///< the promoted dtype; integers and bool become f32
  predicate,  ///< compared in the promoted dtype; gives bool
  bitwise,    ///< bool and integers only; the promoted dtype
  select,     ///< operand a is bool; b and c are promoted
  none,       ///< not an elementwise op
};

struct OpInfo {
  std::string_view name;
  OpKind kind;
  Rule rule;
  int arity;  ///< of an elementwise op; 0 for others
};

const OpInfo& info(Op op);

inline std::string_view to_string(Op op) { return info(op).name; }

/// What var divides the squared distances of `count` elements by: never less than 0, so that too
/// few elements give infinity, or NaN where all distances are 0; as in PyTorch.
constexpr double var_divisor(std::int64_t count, std::int64_t correction) {
  const double rest = static_cast<double>(count) - static_cast<double>(correction);
  return count > 0 && rest > 0 ? rest : 0;
}

/// Whether the data of its operands can make this op fail (an index out of range, an integer
/// division by zero): such ops run before the first Variable is overwritten.
bool can_fail_on_data(Op op);

}  // namespace sinter
