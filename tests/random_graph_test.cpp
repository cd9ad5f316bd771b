// Random programs at both levels: the same bits, whatever is shared, donated, viewed and dropped.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "runtime/foreach.h"
#include "runtime/grad.h"
#include "runtime/level.h"
#include "runtime/ops.h"
#include "runtime/variable.h"
#include "tests/each_level.h"
#include "tests/op_case.h"

namespace sinter::tests {
namespace {

/// A program drawn from a seed: values of shapes that broadcast with [4, 6], two Variables, and
/// ops that take some of them and give another.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : source_(seed), generator_(seed) {
    for (const Shape& shape : {Shape{4, 6}, Shape{6}, Shape{4, 1}, Shape{}})
      values_.push_back(uniform(shape, generator_, -2, 2));
    for (int i = 0; i < 2; ++i) variables_.emplace_back(uniform({4, 6}, generator_, -1, 1));
  }

  /// The elements of all values that are alive at the end.
  std::vector<Array> run(int steps) {
    for (int step = 0; step < steps; ++step) take_step();
    std::vector<Array> results;
    for (const Tensor& value : values_) results.push_back(to_array(value));
    for (const Variable& variable : variables_) results.push_back(to_array(variable.value()));
    return results;
  }

 private:
  std::size_t below(std::size_t limit) { return source_() % limit; }
  const Tensor& any() { return values_[below(values_.size())]; }
  const Variable& any_variable() { return variables_[below(variables_.size())]; }
  Tensor full_size() { return any() + any_variable(); }

  void take_step() {
    const std::size_t kind = below(16);
    // Few values are alive at a time, so that many buffers end while others are in use.
    if (kind < 10) {
      values_[below(values_.size())] = next();
    } else if (kind < 12) {
      values_.push_back(next());
      if (values_.size() > 8) values_.erase(values_.begin());
    } else if (kind < 14) {
      if (below(2) == 0) any_variable().set(tanh(full_size()) * 0.5);
      else update_together();
    } else if (kind == 14) {
      any().evaluate();
    } else {
      const Variable variable = any_variable();
      const Tensor loss = mean(square(sigmoid(any() * variable.value())));
      variable.set(variable.value() - grad(loss, {variable.value()})[0]);
    }
  }

  /// A foreach_map over tensors of one shape, some of them several times, some shared or held.
  std::vector<std::vector<Tensor>> mapped() {
    std::vector<std::vector<Tensor>> lists(2 + below(2));
    for (std::size_t i = 0; i < 3; ++i) lists[0].push_back(variables_[i % 2].value());
    const Tensor again = full_size() * 0.25;
    for (std::size_t list = 1; list < lists.size(); ++list)
      for (std::size_t i = 0; i < 3; ++i)
        lists[list].push_back(below(3) == 0 ? again : full_size() * 0.5);
    std::swap(lists[0][below(3)], lists[1][below(3)]);
    const Tensor shared = mean(full_size());
    return foreach_map(
        [&](const std::vector<Tensor>& x) {
          const Tensor sum = x[0] * 0.5 + x[1] * shared;
          return std::vector{tanh(sum), x.back() - sum * 0.125, x[1]};
        },
        lists);
  }

  void update_together() {
    const auto results = mapped();
    for (std::size_t i = 0; i < variables_.size(); ++i)
      variables_[i].set(clamp(results[below(2)][i], -1, 1));
  }

  Tensor next() {
    switch (below(15)) {
      case 0: return any() + any();
      case 1: return any() * any();
      case 2: return maximum(any(), any());
      case 3: return where(any() < any(), any(), 0.25);
      case 4: return exp(-abs(any()));
      case 5: return sum(full_size(), {static_cast<std::int64_t>(below(2))}, true) * 0.125;
      case 6: return mean(full_size(), {1}, true);
      case 7: return flip(full_size(), {static_cast<std::int64_t>(below(2))});
      case 8: return transpose(reshape(full_size(), {6, 4}));
      case 9: return cast(cast(any(), bf16), f32);
      case 10:
        return slice_update(full_size(), slice(full_size(), 1, 1, 4),
                            {0, static_cast<std::int64_t>(below(4))});
      case 11: return index_select(full_size(), 0, cast(abs(slice(any_row(), 0, 0, 4)), i64));
      case 12: return cumsum(full_size(), 1) * 0.25;
      case 13: return mapped()[below(3)][below(3)];
      default: return concatenate({slice(full_size(), 0, 2), slice(full_size(), 0, 0, 2)});
    }
  }

  /// [6] of numbers below 4 in magnitude.
  Tensor any_row() { return clamp(select(full_size(), 0, 1), -3.5, 3.5); }

  std::mt19937_64 source_;
  Generator generator_;
  std::vector<Tensor> values_;
  std::vector<Variable> variables_;
};

std::vector<Array> run_program(Level now, std::uint64_t seed, int steps) {
  const AtLevel at(now);
  return RandomProgram(seed).run(steps);
}

bool same(long double a, long double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// The same bits at interpret and at another level.
void check_seed(std::uint64_t seed, int steps, Level level) {
  const std::vector<Array> meaning = run_program(Level::interpret, seed, steps);
  const std::vector<Array> values = run_program(level, seed, steps);
  CAPTURE(to_string(level));
  REQUIRE(meaning.size() == values.size());
  for (std::size_t i = 0; i < meaning.size(); ++i) {
    REQUIRE(meaning[i].shape == values[i].shape);
    std::size_t differing = 0;
    for (std::size_t j = 0; j < meaning[i].elements.size(); ++j)
      differing += !same(meaning[i].elements[j], values[i].elements[j]);
    CHECK_MESSAGE(differing == 0, "seed " << seed << ": value " << i << " differs");
  }
}

}  // namespace

TEST_CASE("random programs") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) check_seed(seed, 40, Level::eager);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) check_seed(seed, 40, Level::fused);
}

TEST_SUITE("fuzz_long") {
  TEST_CASE("many random programs") {
    for (std::uint64_t seed = 1000; seed <= 20000; ++seed) check_seed(seed, 60, Level::eager);
    for (std::uint64_t seed = 1000; seed <= 2000; ++seed) check_seed(seed, 60, Level::fused);
  }
}

}  // namespace sinter::tests
