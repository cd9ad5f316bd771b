#include "models/parameters.h"

namespace sinter::models {

Variable Parameters::add(const std::string& name, const Tensor& initial) {
  all_.emplace_back(initial, name);
  return all_.back();
}

Variable Parameters::zeros(const std::string& name, const Shape& shape) {
  return add(name, sinter::zeros(shape));
}

Variable Parameters::ones(const std::string& name, const Shape& shape) {
  return add(name, sinter::ones(shape));
}

Variable Parameters::normal(const std::string& name, const Shape& shape, double deviation) {
  return add(name, sinter::normal(shape, generator_, 0, deviation));
}

}  // namespace sinter::models
