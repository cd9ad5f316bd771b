/// \file
/// The matrix products of a training step of the captioner, counted from its sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/config.h"

namespace sinter::models {

/// [m, k] times [k, n].
struct Product {
  std::int64_t m = 0, k = 0, n = 0;

  /// A multiplication and an addition count as two.
  double flops() const;
  /// `MxKxN`.
  std::string text() const;

  friend bool operator==(const Product&, const Product&) = default;
};

struct StepProducts {
  double flops = 0;              ///< of all products of the step
  std::vector<Product> largest;  ///< different ones, at most five, the largest first
};

/// What no step can do without: of each linear layer the product and the gradients of its weight
/// and, but for the pixels', its input; of each attention two products and the four of their
/// gradients, over the pairs that a causal mask lets through. What is computed again in the
/// backward pass, such as weights of attention that were not kept, does not count.
StepProducts step_products(const CaptionerConfig& config, std::int64_t images,
                           std::int64_t columns);

}  // namespace sinter::models
