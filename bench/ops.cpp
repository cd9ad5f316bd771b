// ops: what calling costs. Prints the host's time a node for recording, finding the program and
// letting go, the time of single ops, and how near their kernels come to what they could reach.

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <sinter/sinter.h>

#include "bench/instruction_counter.h"
#include "bench/median.h"
#include "bench/op_case.h"
#include "bench/reach.h"
#include "models/arguments.h"

namespace sinter {
namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

struct HostCost {
  double record_ns = 0, linearise_ns = 0, match_ns = 0, execute_ns = 0, commit_ns = 0;
  /// Instructions a node; nothing where the machine does not count them for programs.
  std::optional<double> record_instructions, evaluate_instructions;
};

/// A graph like a training step's: elementwise, reductions, views, on tensors without elements, so
/// that only the host's part is left.
Tensor record_graph(const Tensor& x, int rounds) {
  Tensor y = x;
  for (int i = 0; i < rounds; ++i) {
    y = tanh(y * x + y);
    y = y - mean(y, {1}, true);
    y = reshape(transpose(y), {x.size(0), x.size(1)});
  }
  return y;
}

constexpr int nodes_a_round = 7;

void count_instructions(const Tensor& x, int rounds, HostCost& cost) {
  const double nodes = nodes_a_round * rounds;
  const InstructionCounter counter;
  const auto start = counter.read();
  const Tensor y = record_graph(x, rounds);
  const auto recorded = counter.read();
  y.evaluate();
  const auto evaluated = counter.read();
  if (!start || !recorded || !evaluated) return;
  cost.record_instructions = static_cast<double>(*recorded - *start) / nodes;
  cost.evaluate_instructions = static_cast<double>(*evaluated - *recorded) / nodes;
}

HostCost measure_host(int rounds, int repeats) {
  const Tensor x = zeros({0, 64}).evaluate();
  record_graph(x, rounds).evaluate();
  std::vector<double> record, linearise, match, execute, commit;
  const double nodes = nodes_a_round * rounds;
  for (int i = 0; i < repeats; ++i) {
    const EvaluationStatistics before = evaluation_statistics();
    const Clock::time_point start = Clock::now();
    const Tensor y = record_graph(x, rounds);
    record.push_back(nanoseconds_since(start) / nodes);
    y.evaluate();
    const EvaluationStatistics after = evaluation_statistics();
    const auto each = [&](std::uint64_t EvaluationStatistics::*member) {
      return static_cast<double>(after.*member - before.*member) / nodes;
    };
    linearise.push_back(each(&EvaluationStatistics::linearise_ns));
    match.push_back(each(&EvaluationStatistics::match_ns));
    execute.push_back(each(&EvaluationStatistics::execute_ns));
    commit.push_back(each(&EvaluationStatistics::commit_ns));
  }
  HostCost cost{
      median(record), median(linearise), median(match), median(execute), median(commit), {}, {}};
  count_instructions(x, rounds, cost);
  return cost;
}

std::vector<OpCase> op_cases(std::int64_t rows, std::int64_t width) {
  Generator generator(1);
  const auto random = [&](const Shape& shape) { return normal(shape, generator).evaluate(); };
  const Tensor x = random({rows, width}), y = random({rows, width}), w = random({width, width}),
               gain = random({width}), bias = random({width});
  const Tensor targets = random_integers({rows}, 0, width, generator).evaluate();
  const auto with_gradient = [](const std::function<Tensor(const Tensor&)>& f, const Tensor& at) {
    return [f, at] {
      const Tensor result = f(at);
      return vjp({result}, {ones_like(result)}, {at});
    };
  };
  return {
      {"add", [=] { return std::vector{x + y}; }},
      {"gelu_tanh(x * w + b) + x", [=] { return std::vector{gelu_tanh(x * gain + bias) + x}; }},
      {"sum of columns", [=] { return std::vector{sum(x, {0})}; }},
      {"softmax", [=] { return std::vector{softmax(x)}; }},
      {"softmax with gradient", with_gradient([](const Tensor& a) { return softmax(a); }, x)},
      {"layer_norm", [=] { return std::vector{layer_norm(x, gain, bias)}; }},
      {"layer_norm with gradient",
       with_gradient([=](const Tensor& a) { return layer_norm(a, gain, bias); }, x)},
      {"cross_entropy with gradient",
       with_gradient([=](const Tensor& a) { return cross_entropy(a, targets); }, x)},
      {"matmul", [=] { return std::vector{matmul(x, w)}; }},
      {"cast to bf16", [=] { return std::vector{cast(x, bf16)}; }},
  };
}

std::vector<OpCase> adam_cases() {
  return {adam_case("Adam, 12 tensors of a million", 12, {1024, 1024}),
          adam_case("Adam, 200 tensors of 60000", 200, {300, 200}),
          adam_case("Adam, 200 tensors of 512", 200, {512})};
}

void print_ops(std::int64_t rows, std::int64_t width, int repeats, bool json,
               nlohmann::ordered_json& report) {
  std::vector<OpCase> ops = op_cases(rows, width);
  for (OpCase& op : adam_cases()) ops.push_back(std::move(op));
  for (const OpCase& op : ops) {
    const double us = microseconds(op, repeats);
    report["microseconds"][op.name] = us;
    if (!json) fmt::print("{:<30}{:>12.1f} us\n", op.name, us);
  }
}

void print_reach(std::int64_t rows, std::int64_t width, int repeats, bool json,
                 nlohmann::ordered_json& report) {
  for (const Reach& reach : measure_reach(rows, width, repeats)) {
    report["reach"][reach.name] = {{"microseconds", reach.microseconds},
                                   {"gb_s", reach.rate},
                                   {"copy_gb_s", reach.copy_rate},
                                   {"cached_gb_s", reach.cached_rate},
                                   {"share", reach.share()}};
    if (!json)
      fmt::print("{:<30}{:>7.1f} GB/s; a copy {:.1f}, in cache {:.1f}: {:.0f} % of the lower\n",
                 reach.name, reach.rate, reach.copy_rate, reach.cached_rate, 100 * reach.share());
  }
}

int run(std::span<const char* const> arguments) {
  std::int64_t rows = 4096, width = 1024;
  int repeats = 30;
  bool json = false, host_only = false, help_asked = false;
  const std::vector<models::Option> options{
      {"rows", "of the operands", rows},
      {"width", "of the operands", width},
      {"repeats", "times each is run; the median is printed", repeats},
      {"host-only", "only what the host does", host_only},
      {"json", "one line of JSON in place of the tables", json},
      {"help", "this list", help_asked},
  };
  models::read_arguments(arguments, options);
  if (help_asked) {
    fmt::print("ops [options]\n{}", models::help(options));
    return 0;
  }
  if (rows < 1 || width < 1 || repeats < 1)
    throw UsageError("--rows, --width and --repeats are at least 1");
  const HostCost host = measure_host(200, repeats);
  nlohmann::ordered_json report{{"record_ns", host.record_ns},
                                {"linearise_ns", host.linearise_ns},
                                {"match_ns", host.match_ns},
                                {"execute_ns", host.execute_ns},
                                {"commit_ns", host.commit_ns}};
  if (!json)
    fmt::print(
        "host, ns a node: record {:.0f}, linearise {:.0f}, match {:.0f}, run nothing {:.0f}, "
        "commit {:.0f}\n",
        host.record_ns, host.linearise_ns, host.match_ns, host.execute_ns, host.commit_ns);
  if (!json && host.record_instructions)
    fmt::print("host, instructions a node: record {:.0f}, evaluate {:.0f}\n",
               *host.record_instructions, *host.evaluate_instructions);
  if (!json && !host.record_instructions)
    fmt::print("host, instructions a node: this machine does not count them for programs\n");
  if (!host_only) {
    print_ops(rows, width, repeats, json, report);
    print_reach(rows, width, repeats, json, report);
  }
  if (json) fmt::print("{}\n", report.dump());
  return 0;
}

}  // namespace
}  // namespace sinter

int main(int count, char** arguments) {
  return sinter::models::run_program("ops", sinter::run, count, arguments);
}
