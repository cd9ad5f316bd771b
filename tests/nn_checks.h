/// \file
/// What the tests of the ops of nn.h share: sample tensors, comparison of levels, of composites
/// with their parts, and of gradients with finite differences.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "runtime/composites.h"
#include "runtime/cpu/pool.h"
#include "runtime/results.h"
#include "tests/each_level.h"

namespace sinter::tests {

/// Elements between -2 and 2 that look random and are exact in bf16.
inline std::vector<double> sample_values(const Shape& shape, std::uint64_t seed) {
  std::vector<double> values;
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.push_back((static_cast<double>(state >> 56) - 128) / 64);
  }
  return values;
}

inline Tensor sample(const Shape& shape, std::uint64_t seed = 1, DType dtype = f32) {
  return cast(from_host(sample_values(shape, seed), shape), dtype);
}

/// A value that gradients reach.
inline Variable parameter(const Shape& shape, std::uint64_t seed = 1, DType dtype = f32) {
  return Variable(sample(shape, seed, dtype));
}

inline bool same_number(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

inline void check_close(const Tensor& actual, const std::vector<double>& expected,
                        double tolerance) {
  const std::vector<double> values = actual.to_host<double>();
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CAPTURE(i);
    if (std::isnan(expected[i])) CHECK(std::isnan(values[i]));
    else if (std::isinf(expected[i])) CHECK(values[i] == expected[i]);
    else CHECK(std::abs(values[i] - expected[i]) <= tolerance * (1 + std::abs(expected[i])));
  }
}

inline void check_same(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    CAPTURE(a[i]);
    CAPTURE(b[i]);
    REQUIRE(same_number(a[i], b[i]));
  }
}

using Recorded = std::function<std::vector<Tensor>()>;

inline std::vector<std::vector<double>> evaluated(const Recorded& record, Level at) {
  const AtLevel here(at);
  std::vector<std::vector<double>> values;
  for (const Tensor& tensor : record()) values.push_back(tensor.to_host<double>());
  return values;
}

/// What `record` records has the same bits at interpret and at other levels.
inline void check_levels_agree(const Recorded& record,
                               const std::vector<Level>& levels = {Level::eager, Level::fused}) {
  const auto meaning = evaluated(record, Level::interpret);
  for (const Level level : levels) {
    CAPTURE(to_string(level));
    const auto fast = evaluated(record, level);
    REQUIRE(meaning.size() == fast.size());
    for (std::size_t i = 0; i < meaning.size(); ++i) check_same(meaning[i], fast[i]);
  }
}

/// What `record` records has the same bits on one thread and on two.
inline void check_threads_agree(const Recorded& record) {
  const int before = cpu::threads();
  cpu::set_threads(1);
  const auto one = evaluated(record, Level::eager);
  cpu::set_threads(2);
  const auto two = evaluated(record, Level::eager);
  cpu::set_threads(before);
  REQUIRE(one.size() == two.size());
  for (std::size_t i = 0; i < one.size(); ++i) check_same(one[i], two[i]);
}

/// What the node behind `result` (or behind the pick of its result) computes, as its parts. To be
/// called before anything is evaluated: evaluation lets go of inputs.
inline Tensor parts_of(const Tensor& result) {
  const bool picked = result.node()->op == Op::pick;
  const NodeRef node = picked ? result.node()->input(0) : result.ref();
  std::vector<Tensor> inputs;
  for (const NodeRef& input : node->inputs()) inputs.emplace_back(input);
  const std::vector<Tensor> parts = decompose(*node, inputs, Where::current());
  REQUIRE(parts.size() == result_count(*node));
  return parts[picked ? static_cast<std::size_t>(result.node()->fixed()[0]) : 0];
}

/// Each node recorded is what it is composed of: bit by bit, or within `tolerance`.
inline void check_parts(const std::vector<Tensor>& recorded, double tolerance = 0) {
  const AtLevel here(Level::eager);
  std::vector<Tensor> parts;
  for (const Tensor& result : recorded) parts.push_back(parts_of(result));
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    CAPTURE(i);
    CHECK(parts[i].shape() == recorded[i].shape());
    CHECK(parts[i].dtype() == recorded[i].dtype());
    if (tolerance == 0) check_same(recorded[i].to_host<double>(), parts[i].to_host<double>());
    else check_close(recorded[i], parts[i].to_host<double>(), tolerance);
  }
}

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

/// d sum(f * weights) / d inputs against central differences; everything in f64.
inline void check_gradient(const Function& f, const std::vector<Shape>& shapes,
                           double tolerance = 1e-6) {
  std::vector<Variable> inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    inputs.push_back(parameter(shapes[i], i + 1, f64));
  const auto loss = [&](const std::vector<Tensor>& at) {
    const Tensor y = f(at);
    return sum(y * sample(y.shape(), 77, f64));
  };
  const std::vector<Tensor> values(inputs.begin(), inputs.end());
  const std::vector<Tensor> gradients = grad(loss(values), inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CAPTURE(i);
    REQUIRE(gradients[i].defined());
    const std::vector<double> actual = gradients[i].to_host<double>();
    const std::vector<double> base = values[i].to_host<double>();
    for (std::size_t k = 0; k < base.size(); ++k) {
      const auto moved = [&](double by) {
        std::vector<double> elements = base;
        elements[k] += by;
        std::vector<Tensor> at = values;
        at[i] = from_host(elements, shapes[i]);
        return loss(at).item<double>();
      };
      constexpr double step = 1e-5;
      const double expected = (moved(step) - moved(-step)) / (2 * step);
      CAPTURE(k);
      CHECK(std::abs(actual[k] - expected) <= tolerance * (1 + std::abs(expected)));
    }
  }
}

/// The same for the derivative of the derivative.
inline void check_second_gradient(const Function& f, const std::vector<Shape>& shapes,
                                  double tolerance = 1e-5) {
  check_gradient(
      [&](const std::vector<Tensor>& at) {
        const Tensor y = f(at);
        const Tensor loss = sum(y * sample(y.shape(), 99, f64));
        std::vector<Tensor> terms;
        for (const Tensor& gradient : grad(loss, at, {.create_graph = true}))
          terms.push_back(sum(gradient * sample(gradient.shape(), 55, f64)));
        Tensor total = terms[0];
        for (std::size_t i = 1; i < terms.size(); ++i) total = total + terms[i];
        return total;
      },
      shapes, tolerance);
}

}  // namespace sinter::tests
