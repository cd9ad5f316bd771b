/// \file
/// An op as a bench runs it.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <sinter/sinter.h>

#include "bench/median.h"

namespace sinter {

struct OpCase {
  std::string name;
  std::function<std::vector<Tensor>()> run;  ///< results to be evaluated
};

/// The median time of so many runs, after three that are not counted.
inline double microseconds(const OpCase& op, int repeats) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int i = 0; i < repeats + 3; ++i) {
    const Clock::time_point start = Clock::now();
    const std::vector<Tensor> results = op.run();
    results[0].evaluate();
    if (i >= 3)
      times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  return median(times);
}

/// A step of Adam over `count` parameters of the shape, whose gradients stay as they are.
OpCase adam_case(const std::string& name, std::size_t count, const Shape& shape);

}  // namespace sinter
