/// \file
/// The parameters of a model: made in order, named as in a checkpoint.
#pragma once

#include <string>
#include <vector>

#include <sinter/sinter.h>

namespace sinter::models {

/// Makes Variables with their first values and keeps them in the order they were made.
class Parameters {
 public:
  /// `seed`: of the first values.
  explicit Parameters(std::uint64_t seed) : generator_(seed) {}

  Variable zeros(const std::string& name, const Shape& shape);
  Variable ones(const std::string& name, const Shape& shape);
  /// Normal with mean 0.
  Variable normal(const std::string& name, const Shape& shape, double deviation);

  const std::vector<Variable>& all() const { return all_; }

 private:
  Variable add(const std::string& name, const Tensor& initial);

  Generator generator_;
  std::vector<Variable> all_;
};

}  // namespace sinter::models
