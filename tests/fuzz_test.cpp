// Random programs at all levels: the same bits and the same errors; what fails is shrunk.
#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "fuzz/draw_script.h"
#include "fuzz/isolated.h"
#include "fuzz/json.h"
#include "fuzz/minify.h"
#include "fuzz/replay.h"
#include "fuzz/vary.h"
#include "runtime/error.h"

namespace sinter::fuzz {
namespace {

void check_seed(std::uint64_t seed) {
  const Script script = draw_script(seed, options_for(seed));
  const auto failure = find_failure(script);
  if (!failure || !failure->check) return;  // an error that all levels give alike
  const Shrunk small = minified(script, *failure, 300);
  FAIL_CHECK("seed " << seed << ", " << to_string(*failure->check) << ": " << failure->text << "\n"
                     << minified_text(small, *failure, "seed " + std::to_string(seed)));
}

/// A sum of what an exponential is part of: stands for a fault of a kernel.
bool has_sum_after_exp(const Script& script) {
  std::vector<bool> after(script.steps.size(), false);
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    const Step& step = script.steps[i];
    after[i] = step.kind == StepKind::op && step.op == Op::exp;
    for (const std::size_t operand : step.operands) after[i] = after[i] || after[operand];
    if (after[i] && step.kind == StepKind::op && step.op == Op::sum) return true;
  }
  return false;
}

/// The numbers of steps of each kind.
std::size_t count_of(const Script& script, StepKind kind) {
  std::size_t count = 0;
  for (const Step& step : script.steps) count += step.kind == kind;
  return count;
}

}  // namespace

TEST_CASE("drawn programs give the same at all levels") {
  for (std::uint64_t seed = 1; seed <= 32; ++seed) check_seed(seed);
}

TEST_SUITE("fuzz_long") {
  TEST_CASE("many drawn programs") {
    for (std::uint64_t seed = 1000; seed < 2500; ++seed) check_seed(seed);
  }
}

TEST_CASE("a seed draws the same program again") {
  for (const std::uint64_t seed : {3u, 8u, 13u}) {
    const DrawOptions options = options_for(seed);
    CHECK(to_json(draw_script(seed, options)) == to_json(draw_script(seed, options)));
  }
  CHECK(to_json(draw_script(3, {})) != to_json(draw_script(4, {})));
}

TEST_CASE("drawn programs reach all ops that functions record") {
  std::vector<bool> seen(op_count, false);
  for (std::uint64_t seed = 1; seed <= 1500; ++seed)
    for (const Step& step : draw_script(seed, options_for(seed)).steps)
      seen[static_cast<std::size_t>(step.op)] = true;
  for (int i = 0; i < op_count; ++i) {
    const Op op = static_cast<Op>(i);
    const std::string name(to_string(op));
    CAPTURE(name);
    // Gradients and written Variables are steps of their own kind, and record these.
    const bool gradient = name.size() > 5 && name.substr(name.size() - 5) == "_grad";
    const bool by_effect = op == Op::variable || op == Op::custom_gradient;
    CHECK((seen[static_cast<std::size_t>(i)] || gradient || by_effect));
  }
}

TEST_CASE("a planted fault shrinks to the two ops that show it") {
  int shrunk = 0;
  for (std::uint64_t seed = 1; seed <= 300 && shrunk < 5; ++seed) {
    const Script script = draw_script(seed, {.steps = 200});
    if (!has_sum_after_exp(pruned(script))) continue;
    ++shrunk;
    CAPTURE(seed);
    const Shrunk small = shrink(script, has_sum_after_exp);
    CHECK(small.script.steps.size() == 3);
    CHECK(count_of(small.script, StepKind::leaf) == 1);
    CHECK(small.script.outputs.size() == 1);
    const Step& leaf = small.script.steps[0];
    CHECK(leaf.dtype == f32);
    CHECK(element_count(leaf.shape) <= 1);
    CHECK(leaf.strides.empty());
    CHECK_FALSE(leaf.variable);
    CHECK(small.tried < 600);
  }
  CHECK(shrunk == 5);
}

TEST_CASE("an error shrinks to the step that has it") {
  Script script = draw_script(5, {.steps = 40});
  Step places = make_leaf(i64, {4}, {});
  places.contents.low = places.contents.high = 9;
  script.steps.push_back(places);
  script.steps.push_back(make_leaf(f32, {3, 5}, {}));
  const std::size_t last = script.steps.size() - 1;
  script.steps.push_back(make_op(Op::take, {last, last - 1}, {0}));
  script.steps.push_back(make_op(Op::tanh, {last + 1}));
  script.outputs = {script.outputs.back(), last + 2};
  script = inferred(script);
  const auto failure = find_failure(script);
  REQUIRE(failure);
  CHECK_FALSE(failure->check);
  CHECK(failure->text.substr(0, 16) == "UsageError: take");
  const Shrunk small = minified(script, *failure, 500);
  REQUIRE(small.script.steps.size() == 3);
  CHECK(small.script.steps[2].op == Op::take);
  CHECK(small.script.outputs == std::vector<std::size_t>{2});
}

TEST_CASE("a check in a process of its own tells of crashes too") {
  CHECK_FALSE(isolated([] { return std::nullopt; }));
  CHECK(isolated([] { return std::string(100000, 'x'); }) == std::string(100000, 'x'));
  CHECK(isolated([]() -> std::optional<std::string> { throw Error("no"); }) == "threw: no");
  CHECK(isolated([]() -> std::optional<std::string> {
          std::raise(SIGSEGV);
          return std::nullopt;
        }) == "crashed: signal 11");
  // What it has started ends with it.
  CHECK(isolated([]() -> std::optional<std::string> {
          if (::fork() != 0) std::raise(SIGALRM);
          ::execl("/bin/sleep", "sleep", "3000", static_cast<char*>(nullptr));
          return std::nullopt;
        }) == "crashed: signal 14");
  CHECK(isolated([]() -> std::optional<std::string> { ::_exit(3); }) == "crashed: ended by itself");
}

TEST_CASE("what a check finds is named") {
  Script script;
  script.steps = {make_leaf(f32, {4}, {}), make_op(Op::exp, {0})};
  script.outputs = {1};
  std::vector<Reading> left = run(script, {}), right = left;
  CHECK_FALSE(find_difference(script, left, right, true));
  right[0].bytes[5] ^= std::byte{1};
  const auto bits = find_difference(script, left, right, true);
  REQUIRE(bits);
  CHECK(bits->find("1 of 4 elements, first element 1") != std::string::npos);
  right = left;
  right[0].error = "UsageError: exp";
  CHECK(find_difference(script, left, right, true));
}

TEST_CASE("rounds go on with the Variables of the one before") {
  Script script;
  Contents one;
  one.low = one.high = 1;
  script.steps = {make_leaf(f32, {1}, one), make_op(Op::add, {0, 0}), Step{}};
  script.steps[0].variable = true;
  script.steps[2].kind = StepKind::assign;
  script.steps[2].operands = {0, 1};
  for (const Level level : {Level::interpret, Level::eager, Level::fused}) {
    const std::vector<Reading> readings = run(script, {level, 1, 0, 3});
    REQUIRE(readings.size() == 3);
    float last = 0;
    std::memcpy(&last, readings[2].bytes.data(), sizeof last);
    CHECK(last == 8);
  }
  CHECK(written_leaves(script) == std::vector<std::size_t>{0});
  CHECK_FALSE(find_difference(script, Check::rounds));
}

TEST_CASE("programs with other sizes stay programs") {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Script script = draw_script(seed, options_for(seed));
    const auto other = with_other_sizes(script);
    if (!other) continue;
    ++found;
    CHECK_FALSE(find_flaw(*other));
    CHECK(other->steps.size() == script.steps.size());
  }
  CHECK(found > 25);
}

TEST_CASE("programs with other numbers have the same steps, dtypes and shapes") {
  std::size_t changed = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const Script script = inferred(draw_script(seed, options_for(seed)));
    const Script other = with_other_numbers(script), known = inferred(other);
    changed += to_json(other) != to_json(script);
    for (std::size_t i = 0; i < script.steps.size(); ++i) {
      CHECK(known.steps[i].dtype == script.steps[i].dtype);
      CHECK(known.steps[i].shape == script.steps[i].shape);
    }
  }
  CHECK(changed > 80);
}

}  // namespace sinter::fuzz
