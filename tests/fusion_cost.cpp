// fusion_cost: what the stages of fusion cost on large traces. Prints the milliseconds of CPU time
// of each stage for every kind of trace and 2,500 to 20,000 nodes.
//
//   fusion_cost                 all of them, the best of three runs
//   fusion_cost KIND NODES      one, once: for counting its instructions in `run_stages`

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/sinter.h>

#include "jit/decompose.h"
#include "jit/fuse.h"
#include "jit/gather_folds.h"
#include "jit/plan.h"
#include "jit/simplify.h"
#include "runtime/evaluate.h"

namespace sinter::tests {

constexpr std::array stage_names{"decompose", "simplify", "gather", "fuse", "plan"};

/// What the stages took and made of a trace.
struct StageCosts {
  std::array<double, stage_names.size()> milliseconds{};
  std::size_t primitives = 0, groups = 0, kernels = 0;

  double all() const {
    double sum = 0;
    for (const double each : milliseconds) sum += each;
    return sum;
  }
};

/// Milliseconds that this thread has run for.
double cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// All that happens between a trace that no program fits and the text of kernels.
[[gnu::noinline]] StageCosts run_stages(const jit::Trace& trace) {
  StageCosts costs;
  std::size_t stage = 0;
  double last = cpu_time();
  const auto end_stage = [&] {
    const double now = cpu_time();
    costs.milliseconds[stage++] = now - last;
    last = now;
  };
  jit::Primitives primitives = jit::decompose_trace(trace);
  end_stage();
  jit::simplify(trace, primitives);
  end_stage();
  jit::gather_folds(trace, primitives);
  end_stage();
  jit::Fusion fusion = jit::fuse(trace, primitives);
  end_stage();
  costs.primitives = primitives.steps.size();
  costs.groups = fusion.groups.size();
  const jit::Plan plan = jit::plan(trace, primitives, std::move(fusion));
  end_stage();
  costs.kernels = plan.groups.size() + plan.maps.size() + plan.folds.size();
  return costs;
}

namespace {

using Tensors = std::vector<Tensor>;

Tensor given(const Shape& shape) { return ones(shape).evaluate(); }

/// One value from the one before, over and over.
Tensors record_chain(int units) {
  const Tensor a = given({8, 16}), b = given({16});
  Tensor x = a;
  for (int i = 0; i < units; ++i) x = tanh(x * b + a) * 0.5;
  return {x};
}

/// Transformer blocks without attention, the gradients of all parameters, and a step by them.
Tensors record_blocks(int units) {
  constexpr std::int64_t width = 16;
  std::vector<Variable> parameters;
  const auto parameter = [&](const Shape& shape) {
    parameters.emplace_back(given(shape), fmt::format("p{}", parameters.size()));
    return parameters.back().value();
  };
  Tensor x = given({8, width});
  for (int i = 0; i < units; ++i) {
    const Tensor normed = layer_norm(x, parameter({width}), parameter({width}));
    const Tensor hidden = linear(normed, parameter({2 * width, width}), parameter({2 * width}));
    x = x + linear(gelu(hidden), parameter({width, 2 * width}), parameter({width}));
  }
  const Tensor loss = mean(square(x));
  const Tensors gradients = grad(loss, parameters);
  Tensors squares, values;
  for (const Tensor& gradient : gradients) squares.push_back(reshape(sum(square(gradient)), {1}));
  for (const Variable& each : parameters) values.push_back(each.value());
  const Tensor norm = sqrt(sum(concatenate(squares)));
  return foreach_map([&](const Tensors& v) { return Tensors{v[0] - v[1] / norm}; },
                     {values, gradients})[0];
}

/// Chains that have nothing to do with each other.
Tensors record_islands(int units) {
  const Tensor a = given({8, 16}), b = given({16});
  Tensors roots;
  for (int i = 0; i < units; ++i) roots.push_back(exp(tanh(a * b + 1.0) * 0.5) - b);
  return roots;
}

/// One value that all others read.
Tensors record_fan_out(int units) {
  const Tensor b = given({16}), x = exp(given({8, 16}));
  Tensors roots{x};
  for (int i = 0; i < units; ++i) roots.push_back(tanh(x * b) + x);
  return roots;
}

/// Many values that one sum after the other takes in.
Tensors record_fan_in(int units) {
  const Tensor a = given({8, 16});
  Tensors parts;
  for (int i = 0; i < units; ++i) parts.push_back(exp(a * 0.5));
  Tensor sum = parts[0];
  for (const Tensor& part : parts) sum = sum + part;
  return {sum};
}

/// A residual stream of normed and activated values, without a matrix product to cut it.
Tensors record_stream(int units) {
  const Tensor w = given({16}), b = given({16});
  Tensor x = given({8, 16});
  for (int i = 0; i < units; ++i) x = x + gelu(layer_norm(x, w, b)) + softmax(x);
  return {x, sum(x, {0})};
}

/// What is computed on the way down is read again on the way up, in another order.
Tensors record_skips(int units) {
  const Tensor w = given({16, 16});
  Tensor x = given({8, 16});
  Tensors skips;
  for (int i = 0; i < units; ++i) skips.push_back(x = tanh(matmul(x, w)));
  for (std::size_t i = 0; i < skips.size(); ++i) x = matmul(x, w) + skips[i * 7919 % skips.size()];
  return {x};
}

/// Values that read any two of those before, at rows, columns and single elements.
Tensors record_net(int units) {
  std::uint64_t state = 1;
  const auto below = [&](std::size_t count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state >> 33) % count;
  };
  Tensors known{given({8, 16}), given({16}), given({8, 1})};
  for (int i = 0; i < units; ++i) {
    const Tensor x = known[below(known.size())], y = known[below(known.size())];
    Tensor next = x * y;
    if (i % 9 == 4) next = sum(next, {0}, true);
    if (i % 9 == 8) next = sum(next, {-1}, true);
    known.push_back(tanh(next));
  }
  return known;
}

struct Kind {
  std::string_view name;
  Tensors (*record)(int units);
};
constexpr Kind kinds[] = {
    {"chain", record_chain},     {"blocks", record_blocks}, {"islands", record_islands},
    {"fan_out", record_fan_out}, {"fan_in", record_fan_in}, {"stream", record_stream},
    {"skips", record_skips},     {"net", record_net},
};

std::vector<NodeRef> nodes_of(const Tensors& tensors) {
  std::vector<NodeRef> nodes;
  for (const Tensor& tensor : tensors) nodes.push_back(tensor.ref());
  return nodes;
}

std::size_t step_count(const Kind& kind, int units) {
  const Tensors tensors = kind.record(units);
  const std::vector<NodeRef> roots = nodes_of(tensors);
  const LaunchLock lock;
  return jit::linearise(roots, Level::fused).steps.size();
}

/// body(trace) on a trace of the kind with about so many nodes.
template <typename Body>
void with_trace(const Kind& kind, std::size_t nodes, Body body) {
  constexpr int few = 20;
  const std::size_t each = (step_count(kind, 2 * few) - step_count(kind, few)) / few;
  const Tensors tensors = kind.record(static_cast<int>(nodes / each));
  const std::vector<NodeRef> roots = nodes_of(tensors);
  const LaunchLock lock;
  body(jit::linearise(roots, Level::fused));
}

void print_row(const Kind& kind, std::size_t nodes, int runs) {
  with_trace(kind, nodes, [&](const jit::Trace& trace) {
    StageCosts best = run_stages(trace);
    for (int run = 1; run < runs; ++run) {
      const StageCosts next = run_stages(trace);
      if (next.all() < best.all()) best = next;
    }
    fmt::print("{:8} {:6} {:10} {:6} {:7}", kind.name, trace.steps.size(), best.primitives,
               best.groups, best.kernels);
    for (const double each : best.milliseconds) fmt::print(" {:9.2f}", each);
    fmt::print(" {:9.2f}\n", best.all());
  });
}

int run(const std::vector<std::string_view>& arguments) {
  fmt::print("{:8} {:>6} {:>10} {:>6} {:>7}", "kind", "nodes", "primitives", "groups", "kernels");
  for (const std::string_view name : stage_names) fmt::print(" {:>9}", name);
  fmt::print(" {:>9}\n", "all");
  if (arguments.empty()) {
    for (const Kind& kind : kinds)
      for (const std::size_t nodes : {2500, 5000, 10000, 20000}) print_row(kind, nodes, 3);
    return 0;
  }
  const auto kind = std::find_if(std::begin(kinds), std::end(kinds),
                                 [&](const Kind& each) { return each.name == arguments[0]; });
  std::size_t nodes = 0;
  if (arguments.size() == 2)
    std::from_chars(arguments[1].data(), arguments[1].data() + arguments[1].size(), nodes);
  if (kind == std::end(kinds) || nodes == 0) {
    fmt::print(stderr, "fusion_cost: usage: fusion_cost [KIND NODES]\n");
    return 2;
  }
  print_row(*kind, nodes, 1);
  return 0;
}

}  // namespace
}  // namespace sinter::tests

int main(int count, char** arguments) {
  return sinter::tests::run({arguments + 1, arguments + count});
}
