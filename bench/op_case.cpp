#include "bench/op_case.h"

#include <fmt/format.h>

#include <memory>

#include "models/adam.h"

namespace sinter {

OpCase adam_case(const std::string& name, std::size_t count, const Shape& shape) {
  Generator generator(1);
  std::vector<Variable> parameters;
  std::vector<Tensor> gradients;
  for (std::size_t i = 0; i < count; ++i) {
    parameters.emplace_back(normal(shape, generator).evaluate(), fmt::format("p{}", i));
    gradients.push_back(normal(shape, generator).evaluate());
  }
  const auto adam = std::make_shared<models::Adam>(parameters, models::AdamOptions{});
  return {name, [=] {
            adam->step(gradients);
            return std::vector{parameters[0].value()};
          }};
}

}  // namespace sinter
