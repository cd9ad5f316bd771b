// SINTER_SHADOW=1: right kernels pass, and a wrong one is named with the element it gets wrong.
#include "jit/shadow.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "jit/finite_check.h"
#include "jit/report_launch.h"
#include "jit/run_plan.h"
#include "runtime/evaluate.h"
#include "tests/each_level.h"
#include "tests/inspecting.h"
#include "tests/temporary_directory.h"

namespace sinter::tests {
namespace {

using kernels::LoopArguments;
using kernels::LoopFunction;

Tensor made(const Shape& shape, std::uint64_t seed, DType dtype = f32) {
  Generator generator(seed);
  return cast(normal(shape, generator), dtype).evaluate();
}

LoopFunction right_kernel = nullptr;
std::size_t wrong_access = 0, wrong_element = 0;
float wrong_value = 0;

/// The kernel, but for one element of one of its results.
void wrong_kernel(const LoopArguments* arguments, std::int64_t first, std::int64_t last) {
  right_kernel(arguments, first, last);
  auto* result = static_cast<float*>(arguments->accesses[wrong_access].base);
  if (first == 0) result[wrong_element] = wrong_value;
}

/// Puts the wrong kernel in the place of the only one of a plan, or of the one that gives the sums
/// of a list.
void plant(jit::Plan& plan) {
  LoopFunction* planted = nullptr;
  if (plan.groups.empty()) {
    REQUIRE(plan.folds.size() == 1);
    planted = &plan.folds[0].finish;
    wrong_access = 1;
    wrong_element = 0;
  } else {
    REQUIRE(plan.groups.size() == 1);
    planted = &plan.groups[0].function;
    const auto& operands = plan.groups[0].schedule.operands;
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (operands[i].kind == jit::LoopOperand::Kind::written) wrong_access = i;
    wrong_element = 5;
  }
  right_kernel = *planted;
  *planted = wrong_kernel;
}

/// The message of the InternalError of evaluating `root` with a wrong kernel and an observer
/// looking on; "none" without one, "" where there is no compiler.
template <class Look>
std::string with_wrong_kernel(const Tensor& root, float value, Look look) {
  const LaunchLock lock;
  const NodeRef roots[] = {root.ref()};
  const jit::Trace trace = jit::linearise(roots, Level::fused);
  const jit::Program program = jit::build_program(trace, Level::fused);
  const auto lowered = jit::lower(trace);
  if (!lowered) return {};
  jit::Plan plan = lowered->plan;
  plant(plan);
  wrong_value = value;
  jit::Layouts layouts(jit::make_layout(trace), plan, trace);
  const jit::Lowered changed{std::move(plan), std::move(layouts)};
  try {
    look(jit::Form{&changed, changed.layouts.find(trace, changed.plan)}, program, trace);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "none";
}

std::string shadowed(const Tensor& root, float value) {
  return with_wrong_kernel(root, value, [](const auto& form, const auto& program, auto& trace) {
    jit::Shadow shadow;
    jit::Observer* const observers[] = {&shadow};
    jit::run_plan(form, program, trace, std::vector<bool>(trace.leaves.size()), observers);
  });
}

/// What a program computes, in which kernels run in place and read what others have written.
std::vector<float> train() {
  const Tensor x = made({70, 33}, 1), targets = from_host(std::vector<std::int64_t>(70, 3), {70});
  const Variable w(made({33, 33}, 2)), b(made({33}, 3)), g(made({33}, 4));
  Generator generator(5);
  for (int step = 0; step < 3; ++step) {
    const Tensor hidden = layer_norm(dropout(gelu(linear(x, w, b)), 0.25, generator) + x, g, b);
    const Tensor loss = cross_entropy(hidden * 2, targets) + mean(square(w)) * 0.01;
    const auto gradients = grad(loss, std::vector{w, b, g});
    w.set(w - gradients[0] * 0.1);
    b.set(b - gradients[1] * 0.1);
    g.set(g - gradients[2] * 0.1);
  }
  return concatenate({reshape(w.value(), {-1}), b.value(), g.value()}).to_host<float>();
}

}  // namespace

TEST_CASE("shadow: right kernels pass, and nothing they compute changes") {
  const AtLevel at(Level::fused);
  const std::vector<float> plain = train();
  const Inspecting inspecting({.nan = true, .shadow = true});
  CHECK(train() == plain);
}

TEST_CASE("shadow: every dtype, strided operands, ranges, indices, several results") {
  const AtLevel at(Level::fused);
  const Inspecting inspecting({.shadow = true});
  for (const DType dtype : {f16, bf16, f32, f64}) {
    const Tensor x = made({12, 40}, 1, dtype), w = made({40}, 2, dtype);
    const Tensor columns = gather(x * 2, 1, cast(abs(slice(x, 1, 0, 1)), i64));
    CHECK_NOTHROW((softmax(transpose(x) * 2) + 1).evaluate());
    CHECK_NOTHROW((exp(columns) + 1).evaluate());
    CHECK_NOTHROW((where(arange(0, 40, 1, i64) > 20, x, -x) * w).evaluate());
    const Tensor e = exp(flip(x, {1}));
    CHECK_NOTHROW(evaluate(std::vector{(e * w).ref(), sum(e + 1, {0}).ref(), e.ref()}));
    CHECK_NOTHROW((cast(cast(x, i32) * 3, dtype) / 0.0 * 0.0).evaluate());  // NaN, all alike
  }
}

TEST_CASE("shadow: lists, in place and not") {
  const AtLevel at(Level::fused);
  const Inspecting inspecting({.shadow = true});
  const Tensor g = made({4, 6}, 1), h = made({6}, 2);
  const Variable a(made({4, 6}, 3)), b(made({6}, 4));
  for (int step = 0; step < 3; ++step) {
    const auto moved = foreach_map(
        [](const std::vector<Tensor>& x) {
          const Tensor change = x[0] * 0.5 + tanh(x[1]);
          return std::vector{x[0] - change * 0.1, change};
        },
        {{a.value(), b.value()}, {g * 2, h}});
    a.set(moved[0][0]);
    b.set(moved[0][1]);
    CHECK_NOTHROW(evaluate(std::vector{moved[1][0].ref()}));
  }
}

TEST_CASE("shadow: the norms of a list") {
  const AtLevel at(Level::fused);
  const Inspecting inspecting({.shadow = true});
  for (const DType dtype : {bf16, f32, f64}) {
    std::vector<Tensor> norms;
    for (const Shape& shape : {Shape{}, Shape{7, 3}, Shape{5000}})
      norms.push_back(cast(norm(made(shape, 1, dtype)), f32));
    CHECK_NOTHROW(stack(norms).evaluate());
  }
}

TEST_CASE("shadow: a wrong kernel is named, with its op, line, element and both values") {
  const AtLevel at(Level::fused);
  const Tensor x = floats({0, 1, 2, 3, 4, 5, 6, 7});
  const int line = __LINE__ + 1;
  const std::string chain = shadowed(reshape(x, {2, 4}) * 2 + 0.25, 7);
  if (chain.empty()) return;  // no compiler
  CHECK(chain == fmt::format("internal error, please report: the generated kernel mul_add differs "
                             "from its meaning at [1, 1] of add (f32 [2, 4], shadow_test.cpp:{}): "
                             "it gives 7 (0x40e00000), not 10.25 (0x41240000)",
                             line));
  const std::string part = shadowed(softmax(x) * 2, -1);
  CHECK(contains(part, "differs from its meaning at [5] of mul (f32 [8]"));
  CHECK(contains(shadowed(softmax(x - 1), -1), "at [5] of div of softmax (f32 [8]"));
  const Tensor norms = stack({norm(x), norm(floats({3, 4}))});
  CHECK(contains(shadowed(norms, 3), "differs from its meaning at [0] of concatenate (f32 [2]"));
  CHECK(shadowed(x * 2 - 1, 9) == "none");  // which is right
}

TEST_CASE("shadow: the report of a launch expects what its kernel should have given") {
  const AtLevel at(Level::fused);
  const TemporaryDirectory directory;
  const Tensor x = floats({0, 1, 2, 3, 4, 5, 6, 7});
  const Tensor root = x * 2 + 0.25;
  const std::string error =
      with_wrong_kernel(root, -1, [&](const auto& form, const auto& program, auto& trace) {
        jit::LoweringRecord record;
        record.kernels.push_back({{}, {}, form.lowered->plan.groups[0].function});
        jit::LaunchReport report(directory.path().string(), record);
        jit::Shadow shadow(
            [&](const auto& given, const auto& meant) { report.expect(given, meant); });
        jit::Observer* const observers[] = {&report, &shadow};
        jit::run_plan(form, program, trace, std::vector<bool>(trace.leaves.size()), observers);
      });
  if (error.empty()) return;
  CHECK(contains(error, "it gives -1 "));
  const std::string memory = read_file(directory / "launch.bin");
  REQUIRE(memory.size() == 3 * 32);
  Floats expected(8);
  std::memcpy(expected.data(), memory.data() + 64, 32);
  CHECK(expected == Floats{0.25, 2.25, 4.25, 6.25, 8.25, 10.25, 12.25, 14.25});
}

TEST_CASE("finite check: a NaN that the level eager does not give is no fault of the data") {
  const AtLevel at(Level::fused);
  const Tensor x = floats({0, 1, 2, 3, 4, 5, 6, 7});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::string error =
      with_wrong_kernel(exp(x) + 1, nan, [](const auto& form, const auto& program, auto& trace) {
        jit::FiniteCheck check(trace);
        jit::Observer* const observers[] = {&check};
        const std::vector<bool> donated(trace.leaves.size());
        REQUIRE_FALSE(jit::run_plan(form, program, trace, donated, observers));
        jit::execute(program, trace, donated, observers);
        check.finish();
      });
  if (error.empty()) return;
  CHECK(contains(error,
                 "the generated kernel exp_add gives a NaN or infinity for add "
                 "(shadow_test.cpp:"));
}

}  // namespace sinter::tests
