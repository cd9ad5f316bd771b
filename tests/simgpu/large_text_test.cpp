// Texts of some hundred kilobytes that ask for far more: what is made of a text grows as it does.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/simgpu/ptx_text.h"
#include "tools/simgpu/code/load.h"
#include "tools/simgpu/ptx/syntax.h"

namespace simgpu {
namespace {

std::string times(int count, const std::string& before, const std::string& after = {}) {
  std::string text;
  for (int k = 0; k < count; ++k) text += before + (after.empty() ? "" : std::to_string(k) + after);
  return text;
}

/// What is wrong with the module; empty where nothing is.
std::string problem(const std::string& items) {
  std::vector<std::unique_ptr<std::byte[]>> memory;
  try {
    load(module_of(items), 90, [&memory](const std::string&, std::size_t bytes) {
      memory.push_back(std::make_unique<std::byte[]>(bytes));
      return reinterpret_cast<std::uint64_t>(memory.back().get());
    });
  } catch (const ptx::Error& error) {
    return error.what();
  }
  return "";
}

void check_too_many(const std::string& items, const char* says) {
  CHECK_MESSAGE(problem(items).find(says) != std::string::npos, says);
}

/// The most that the process has had so far.
long mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

const std::string pointer = ".reg .b64 %f;\nproto: .callprototype () _ ();\n";

}  // namespace

TEST_CASE("simgpu load: jumps with many targets each take no room for each of them") {
  const std::string targets = times(20000, "L,");
  const long before = mebibytes();
  CHECK(problem(".entry k() {\n.reg .b32 %r;\nL:\nts: .branchtargets " + targets + "L;\n" +
                times(20000, "brx.idx %r, ts;\n") + "}") == "");
  CHECK(mebibytes() - before < 1024);
}

TEST_CASE("simgpu load: functions that may call many others through pointers have bounds") {
  const std::string call = "call (), %f, (p), proto;\n", of_one = "(.param .b32 p) {\n";
  check_too_many(times(3000, ".func f", "() {\n.param .b32 p;\n" + pointer + call + "}\n") +
                     times(3000, ".func g", of_one + "}\n") + ".entry k() {\n.reg .b64 %x;\n" +
                     times(3000, "mov.u64 %x, f", ";\n") + times(3000, "mov.u64 %x, g", ";\n") +
                     pointer + "call (), %f, (), proto;\n}",
                 "too many calls");
}

TEST_CASE("simgpu load: calls through pointers have bounds") {
  std::string calls;
  for (int k = 0; k < 60; ++k)
    calls += ".param .b8 p" + std::to_string(k) + "[" + std::to_string(k + 1) + "];\n";
  for (int k = 0; k < 3000; ++k)
    calls +=
        "call (), %f, (p" + std::to_string(k / 60) + ", p" + std::to_string(k % 60) + "), proto;\n";
  check_too_many(times(1500, ".func f", "() { ret; }\n") + ".entry k() {\n.reg .b64 %x;\n" +
                     times(1500, "mov.u64 %x, f", ";\n") + pointer + calls + "}",
                 "too many targets");
}

TEST_CASE("simgpu load: variables have a bound, and so has the text") {
  check_too_many(times(70000, ".global .b8 v", ";\n"), "more than 65536 variables");
  check_too_many(std::string(std::size_t{1} << 26, ' '), "longer than 64 MiB");
}

namespace {

/// Each return gives all results back.
std::string returns(int results, int count) {
  return ".func (" + times(results, ".param .b32 r", ", ") + ".param .b32 r) f() {\n" +
         times(results, ".param .b32 a", ";\n") + ".param .b32 a;\n" + "call (" +
         times(results, "a", ", ") + "a), f, ();\n" + times(count, "ret;\n") + "}\n";
}

std::string calls_of_returns(const std::string& name, int results) {
  return ".entry " + name + "() {\n" + times(results, ".param .b32 a", ";\n") +
         ".param .b32 a;\ncall (" + times(results, "a", ", ") + "a), f, ();\n}\n";
}

}  // namespace

TEST_SUITE("fuzz_long") {
  TEST_CASE("simgpu load: returns of many results have bounds, in a kernel and in all") {
    check_too_many(returns(1000, 5000) + calls_of_returns("k", 1000), "kernel is too long");
    std::string kernels = returns(1000, 1500);
    for (int k = 0; k < 6; ++k) kernels += calls_of_returns("k" + std::to_string(k), 1000);
    check_too_many(kernels, "kernels of the module are too long");
  }

  TEST_CASE("simgpu load: statements of all functions have a bound") {
    const std::string function = "() { " + times(1 << 20, "{}") + "}\n";
    check_too_many(".func f" + function + ".func g" + function + ".func h" + function,
                   "functions of the module are too long");
  }
}

}  // namespace simgpu
