// tools/inspect kernel: a kernel of a trace becomes a program that runs alone.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "jit/host_process.h"
#include "tests/each_level.h"
#include "tests/inspecting.h"
#include "tests/temporary_directory.h"

namespace sinter::tests {
namespace {

using jit::HostOutcome;
using jit::HostProgram;

HostOutcome run(std::vector<std::string> words) {
  const HostProgram program{std::move(words), {"PATH=" + options().surroundings.search_path}};
  return jit::run_programs({&program, 1}, 1).front();
}

HostOutcome inspect(std::vector<std::string> words) {
  const auto tests = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  words.insert(words.begin(), (tests.parent_path() / "tools/sinter-inspect").string());
  return run(std::move(words));
}

Tensor made(const Shape& shape, std::uint64_t seed, DType dtype) {
  Generator generator(seed);
  return cast(normal(shape, generator), dtype).evaluate();
}

/// A trace of one program, and a place for what is made of it, where programs may run.
struct Traced {
  TemporaryDirectory directory{std::filesystem::temp_directory_path()};
  std::string trace = (directory / "trace").string(), out = (directory / "out").string();

  explicit Traced(const std::function<std::vector<Tensor>()>& record) {
    std::filesystem::create_directory(out);
    const AtLevel at(Level::fused);
    reset_programs();
    const std::vector<Tensor> results = record();
    const Inspecting inspecting({.trace_directory = trace});
    results[0].evaluate();
  }

  std::filesystem::path folder() const {
    return std::filesystem::directory_iterator(trace)->path();
  }
  /// Whether the machine had a compiler for kernels.
  bool is_fused() const {
    return contains(read_file(folder() / "program.jsonl"), "\"fused\":true");
  }
  HostOutcome write(const std::string& kernel) const {
    return inspect({"kernel", kernel, "--trace", trace, "--out", out});
  }
  /// Compiles and runs what was written, by the command at the end of what was printed then.
  HostOutcome try_out(const HostOutcome& written) const {
    const std::string command = written.output.substr(written.output.find("\nc++ ") + 1);
    return run({"/bin/sh", "-c", "cd '" + out + "' && " + command});
  }
};

}  // namespace

TEST_CASE("inspect kernel: one with its memory in the source, and what it does to another result") {
  const Tensor x = made({3, 5}, 1, f32);
  const Traced traced([&] { return std::vector{softmax(x * 0.5 - 1)}; });
  if (!traced.is_fused()) return;
  const std::string name = "mul_sub_amax_sub_exp_sum_div";
  CHECK(contains(inspect({"kernels", "--trace", traced.trace}).output, "    0  " + name));

  const HostOutcome written = traced.write(name);
  REQUIRE(written.exit_status == 0);
  const auto source = std::filesystem::path(traced.out) / (name + ".cpp");
  CHECK(contains(read_file(source), "-o " + name + " && ./" + name + "\n"));
  CHECK_FALSE(std::filesystem::exists(std::filesystem::path(traced.out) / (name + ".bin")));
  const HostOutcome right = traced.try_out(written);
  CHECK(right.exit_status == 0);
  CHECK(contains(right.output, name + ": as expected, "));

  std::string memory = read_file(traced.folder() / "launch.bin");
  memory.back() = static_cast<char>(memory.back() ^ 1);
  write_file(traced.folder() / "launch.bin", memory);
  const HostOutcome wrong = traced.try_out(traced.write("0"));
  CHECK(wrong.exit_status == 1);
  CHECK(contains(wrong.output, "access 1, element 14: gives 0x"));
  CHECK(contains(wrong.output, name + ": NOT as expected, "));
}

TEST_CASE("inspect kernel: one with much memory, in place, over strides, with sums and numbers") {
  const Tensor x = made({90, 200}, 1, bf16), w = made({200}, 2, bf16);
  const Traced traced([&] {
    Generator generator(3);
    const Tensor kept = dropout(exp(transpose(x)), 0.25, generator);
    return std::vector{concatenate({flatten(sum(kept * 2, {0}) + 1), flatten(kept * 0.5)})};
  });
  if (!traced.is_fused()) return;
  const HostOutcome written = traced.write("0");
  REQUIRE(written.exit_status == 0);
  const std::string source = written.output.substr(0, written.output.find(".cpp:"));
  CHECK(std::filesystem::file_size(source + ".bin") > 90 * 200 * 2);
  const HostOutcome right = traced.try_out(written);
  CHECK_MESSAGE(right.exit_status == 0, right.output);
}

TEST_CASE("inspect kernel: what cannot be written is said in one line") {
  const Tensor x = made({3, 5}, 1, f32);
  const Traced traced([&] { return std::vector{exp(x * 0.5)}; });
  if (!traced.is_fused()) return;
  const auto refused = [&](const HostOutcome& outcome, std::string_view part) {
    CHECK(outcome.exit_status == 1);
    CHECK(outcome.output.starts_with("sinter-inspect: "));
    CHECK_MESSAGE(contains(outcome.output, part), outcome.output);
  };
  refused(traced.write("exp"), "exp: no program of ");
  refused(traced.write("1"), "1: no program of ");
  refused(inspect({"kernel", "0", "--trace", traced.out}), "holds no program");
  refused(inspect({"kernels", "--trace", traced.out + "/none"}), "No such file");
  refused(inspect({"kernel", "0", "--trace", traced.trace, "--out", traced.out + "/none"}),
          "cannot be written");

  const auto program = traced.folder() / "program.jsonl";
  const std::string lines = read_file(program);
  std::string other = lines;
  other.replace(other.find("\"prelude\":\"") + 11, 8, "12345678");
  write_file(program, other);
  refused(traced.write("0"), "another build of sinter");
  write_file(program, lines.substr(0, lines.size() / 2));
  refused(traced.write("0"), "program.jsonl:");
  write_file(program, lines);
  std::filesystem::resize_file(traced.folder() / "launch.bin", 3);
  refused(traced.write("0"), "shorter than launch.jsonl says");
  std::filesystem::remove(traced.folder() / "launch.jsonl");
  refused(traced.write("0"), "did not run");

  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{},
                                             {"fly"},
                                             {"kernel"},
                                             {"kernel", "0", "--trace"},
                                             {"kernel", "0", "--fly", "x"},
                                             {"kernels", "0", "--trace", traced.trace},
                                             {"kernels"}})
    CHECK(inspect(wrong).exit_status == 2);
  CHECK(inspect({"--help"}).exit_status == 0);
}

}  // namespace sinter::tests
