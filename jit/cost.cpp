#include "jit/cost.h"

namespace sinter::jit {

int cost_of(const Node& node) {
  switch (node.op) {
    case Op::random_uniform: return 30;
    case Op::div:
    case Op::sqrt:
    case Op::reciprocal:
    case Op::rsqrt: return 4;
    case Op::neg:
    case Op::abs:
    case Op::square:
    case Op::relu:
    case Op::cast:
    case Op::where: return 1;
    default: return info(node.op).arity >= 2 ? 1 : 10;
  }
}

}  // namespace sinter::jit
