#include "runtime/op.h"

#include <array>

namespace sinter {
namespace {

constexpr std::array<OpInfo, op_count> table{{
#define SINTER_UNARY(name, rule, ...) {#name, OpKind::elementwise, Rule::rule, 1},
#define SINTER_BINARY(name, rule, ...) {#name, OpKind::elementwise, Rule::rule, 2},
#define SINTER_TERNARY(name, rule, ...) {#name, OpKind::elementwise, Rule::rule, 3},
#define SINTER_OP(name, kind) {#name, OpKind::kind, Rule::none, 0},
#include "runtime/ops.def"
}};

}  // namespace

const OpInfo& info(Op op) { return table[static_cast<std::size_t>(op)]; }

bool can_fail_on_data(Op op) {
  switch (op) {
    case Op::floor_divide:
    case Op::remainder:
    case Op::fmod:
    case Op::pow:
    case Op::take:
    case Op::index_add:
    case Op::gather:
    case Op::scatter_add:
    case Op::cross_entropy:
    case Op::cross_entropy_grad:
    case Op::foreach_map: return true;
    default: return false;
  }
}

}  // namespace sinter
