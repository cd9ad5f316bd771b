// SINTER_TRACE_DIR: what is written of a program, and what happens where nothing can be written.
#include "jit/report.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/each_level.h"
#include "tests/inspecting.h"
#include "tests/log_recorder.h"
#include "tests/temporary_directory.h"

namespace sinter::tests {
namespace {

using Json = nlohmann::json;

/// The records of a file of a report, in order.
std::vector<Json> records(const std::filesystem::path& path) {
  std::istringstream lines(read_file(path));
  std::vector<Json> all;
  for (std::string line; std::getline(lines, line);) all.push_back(Json::parse(line));
  return all;
}

std::vector<Json> of_kind(const std::vector<Json>& all, const std::string& kind) {
  std::vector<Json> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [&](const Json& record) { return record.at("record") == kind; });
  return found;
}

/// The folders of all programs, by name.
std::vector<std::filesystem::path> programs(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

/// The folder of the one program that evaluating `record()` builds at a level.
template <class Record>
std::filesystem::path reported(const TemporaryDirectory& directory, Level level, Record record) {
  reset_programs();
  const AtLevel at(level);
  const Inspecting inspecting({.trace_directory = directory.path().string()});
  record().evaluate();
  const auto folders = programs(directory.path());
  REQUIRE(folders.size() == 1);
  return folders[0];
}

bool is_fused(const std::vector<Json>& program) { return program.at(0).at("fused"); }

std::vector<std::string> names_of(const std::vector<Json>& stages) {
  std::vector<std::string> names;
  for (const Json& stage : stages) {
    names.push_back(stage.at("name"));
    CHECK(stage.at("nanoseconds") >= 0);
  }
  return names;
}

}  // namespace

TEST_CASE("report: a program at the level fused, from the graph to its first run") {
  const TemporaryDirectory directory;
  const Tensor x = reshape(floats({0, 1, 2, 3, 4, 5, 6, 7}), {2, 4}).evaluate();
  const int line = __LINE__ + 2;
  const auto folder =
      reported(directory, Level::fused, [&] { return matmul(softmax(x * 2), transpose(x)) + 1; });
  const auto program = records(folder / "program.jsonl");
  if (!is_fused(program)) return;  // no compiler

  CHECK(program[0].at("level") == "fused");
  CHECK(names_of(of_kind(program, "stage")) ==
        std::vector<std::string>{"linearise", "match", "decompose", "fuse", "schedule and plan",
                                 "emit", "build"});
  const auto steps = of_kind(program, "step");
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [](const Json& step) { return step.at("op") == "softmax"; });
  REQUIRE(found != steps.end());
  CHECK(found->at("dtype") == "f32");
  CHECK(found->at("shape") == Json({2, 4}));
  CHECK(found->at("line").get<std::string>().ends_with(fmt::format("report_test.cpp:{}", line)));
  CHECK(steps.at(found->at("inputs")[0].at("step").get<std::size_t>()).at("op") == "mul");
  CHECK(of_kind(program, "leaf").size() == 1);

  const Json build = of_kind(program, "build").at(0);
  CHECK(build.at("known").get<int>() + build.at("from_disk").get<int>() +
            build.at("compiled").get<int>() ==
        1);
  const auto kernels = of_kind(program, "kernel");
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].at("source").get<std::string>().starts_with("SINTER_KERNEL("));
  CHECK(contains(kernels[0].at("loop"), "reduce sum"));
  REQUIRE(of_kind(program, "group").size() == 1);
  CHECK(of_kind(program, "group")[0].at("members").size() > 4);

  const auto operations = of_kind(program, "operation");
  const auto generated = std::find_if(operations.begin(), operations.end(),
                                      [](const Json& o) { return o.contains("kernels"); });
  REQUIRE(generated != operations.end());
  CHECK(generated->at("name") == kernels[0].at("name"));
  CHECK(generated->at("reads") == 32);
  CHECK(generated->at("writes") == 32);
  const Json plan = of_kind(program, "plan").at(0);
  CHECK(plan.at("operations") == operations.size());
  CHECK(plan.at("peak") == 48);  // softmax and the product

  const auto run = records(folder / "launch.jsonl");
  CHECK(of_kind(run, "time").size() == operations.size());
  CHECK(names_of(of_kind(run, "stage")) == std::vector<std::string>{"launch"});
  const Json launch = of_kind(run, "launch").at(0);
  CHECK(launch.at("columns") == 4);
  CHECK(launch.at("memory").size() == 2);
  CHECK(read_file(folder / "launch.bin").size() == 3 * 32);  // read, and written before and after
}

TEST_CASE("report: each member of a group has its role") {
  const TemporaryDirectory directory;
  const Tensor x = reshape(floats({0, 1, 2, 3, 4, 5, 6, 7}), {2, 4}).evaluate();
  const auto folder =
      reported(directory, Level::fused, [&] { return cast(sum(exp(x), {0}), f64); });
  const auto groups = of_kind(records(folder / "program.jsonl"), "group");
  REQUIRE(groups.size() == 1);
  std::vector<std::string> roles;
  for (const Json& member : groups[0].at("members")) roles.push_back(member.at("role"));
  CHECK(roles == std::vector<std::string>{"elementwise", "column_sum", "cast_sum"});
}

TEST_CASE("report: why merges were refused") {
  const TemporaryDirectory directory;
  const Tensor x = floats({0, 1, 2, 3}), y = reshape(floats({1, 2, 3}), {3, 1}).evaluate();
  const auto folder = reported(directory, Level::fused, [&] { return (x * 2) * y + exp(y); });
  const auto refused = of_kind(records(folder / "program.jsonl"), "refused");
  REQUIRE_FALSE(refused.empty());
  CHECK_FALSE(refused[0].at("reason").get<std::string>().empty());
  CHECK(contains(refused[0].at("line"), "report_test.cpp:"));
}

TEST_CASE("report: at the level eager steps are operations") {
  const TemporaryDirectory directory;
  const Tensor x = floats({1, 2, 3});
  const auto folder = reported(directory, Level::eager, [&] { return exp(x) * 0.5; });
  const auto program = records(folder / "program.jsonl");
  CHECK_FALSE(is_fused(program));
  const auto operations = of_kind(program, "operation");
  REQUIRE(operations.size() == 3);  // with the number
  CHECK(of_kind(program, "step").at(1).at("slots") == Json({0.5}));
  CHECK(operations[2].at("reads") == 16);
  CHECK(operations[2].at("dying").size() == 2);
  CHECK(of_kind(program, "plan").at(0).at("peak") == 28);
  CHECK(of_kind(records(folder / "launch.jsonl"), "time").size() == 3);
}

TEST_CASE("report: views hold what they show, and ends with the last of them") {
  const TemporaryDirectory directory;
  const Tensor x = reshape(floats({1, 2, 3, 4, 5, 6}), {2, 3}).evaluate();
  const auto folder =
      reported(directory, Level::eager, [&] { return sum(exp(transpose(exp(x)))); });
  std::vector<std::int64_t> held;
  for (const Json& operation : of_kind(records(folder / "program.jsonl"), "operation"))
    held.push_back(operation.at("held"));
  CHECK(held == std::vector<std::int64_t>{24, 24, 48, 28, 4});
}

TEST_CASE("report: a program that fails is reported, and one that was built before is not") {
  const TemporaryDirectory directory;
  const Tensor x = floats({1, 2, 3}), at = from_host(std::vector<std::int64_t>{7}, {1});
  const AtLevel level(Level::eager);
  (x * 3).evaluate();
  const Inspecting inspecting({.trace_directory = directory.path().string()});
  (x * 4).evaluate();
  CHECK(programs(directory.path()).empty());
  CHECK_THROWS_AS(index_select(x - 2, 0, at).evaluate(), UsageError);
  REQUIRE(programs(directory.path()).size() == 1);
  CHECK(std::filesystem::exists(programs(directory.path())[0] / "launch.jsonl"));
}

TEST_CASE("report: where nothing can be written the program runs, with one warning") {
  const TemporaryDirectory directory;
  write_file(directory / "file", "");
  const LogRecorder log;
  const Inspecting inspecting({.trace_directory = (directory / "file" / "deeper").string()});
  reset_programs();
  const Tensor x = floats({1, 2, 3});
  CHECK((x * 5).to_host<float>() == Floats{5, 10, 15});
  CHECK((x - 5).to_host<float>() == Floats{-4, -3, -2});
  REQUIRE(log.records.size() == 1);
  CHECK(log.records[0].channel == LogChannel::warning);
  CHECK(contains(log.records[0].message, "SINTER_TRACE_DIR: "));
}

}  // namespace sinter::tests
