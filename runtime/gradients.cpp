#include "runtime/gradients.h"

namespace sinter {

GradientRule gradient_rule(Op op) {
  for (const auto table :
       {elementwise_gradient_rule, structure_gradient_rule, index_gradient_rule, nn_gradient_rule})
    if (const GradientRule rule = table(op)) return rule;
  return nullptr;
}

}  // namespace sinter
