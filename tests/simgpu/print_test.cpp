// printf and assert of kernels. CUDA C++ programming guide, "Formatted output", "Assertion".
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "tests/simgpu/captured.h"
#include "tests/simgpu/checked_block.h"
#include "tools/simgpu/machine/report.h"

namespace simgpu {
namespace {

/// The arguments of a printf, as a kernel lays them out.
class PrintCase {
 public:
  explicit PrintCase(const HostIsa& isa) : block(grid, 6, isa) { arguments_ = grid.allocate(256); }

  std::uint64_t text(const char* characters) {
    const std::size_t bytes = std::strlen(characters) + 1;
    const std::uint64_t at = grid.allocate(bytes);
    std::memcpy(reinterpret_cast<void*>(at), characters, bytes);
    return at;
  }
  template <class T>
  PrintCase& with(T value) {
    used_ = (used_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    std::memcpy(reinterpret_cast<void*>(arguments_ + used_), &value, sizeof value);
    used_ += sizeof(T);
    return *this;
  }
  std::string print(const char* format, std::uint32_t lanes = 1) {
    OneWarp& warp = block.warp(1);
    warp.reset();
    warp.set_active(lanes);
    const std::uint64_t at = text(format);
    const std::uint32_t given = warp.add<std::int32_t>([](int) { return 77; });
    const std::uint32_t first = warp.add<std::uint64_t>([=](int) { return at; });
    const std::uint32_t second = warp.add<std::uint64_t>([this](int) { return arguments_; });
    used_ = 0;
    Captured out(stdout);
    warp.run(find_opcode(block.isa(), "call.vprintf"), {given, first, second});
    result = warp.at<std::int32_t>(given)[__builtin_ctz(lanes)];
    return out.text();
  }

  CheckedGrid grid;
  CheckedBlock block;
  std::int32_t result = 0;

 private:
  std::uint64_t arguments_ = 0;
  std::size_t used_ = 0;
};

}  // namespace

TEST_CASE("simgpu printf: formats as printf of C does, arguments at multiples of their size") {
  for (const HostIsa& isa : host_isas()) {
    PrintCase c(isa);
    CHECK(c.print("plain\n") == "plain\n");
    CHECK(c.result == 0);
    CHECK(c.with(7).with(-2.5).print("%d and %.2f\n") == "7 and -2.50\n");
    CHECK(c.result == 2);
    CHECK(c.with(1)
              .with(std::int64_t{-5})
              .with(2)
              .with(std::uint64_t{1} << 40)
              .print("%d %lld %u %lu|") == "1 -5 2 1099511627776|");
    CHECK(c.result == 4);
    CHECK(c.with(255).with(255).with(8).print("%#x %05X %o") == "0xff 000FF 10");
    CHECK(c.with(6).with(2).with(3.14159).print("[%*.*f]") == "[  3.14]");
    CHECK(c.with(int{'x'}).with(c.text("text")).print("%c-%s-%%") == "x-text-%");
    CHECK(c.with(c.text("text")).print("%-6.2s|") == "te    |");
    CHECK(c.with(1e10).with(0.5).with(1e-5).print("%e %g %G") == "1.000000e+10 0.5 1E-05");
    CHECK(c.with(std::uint64_t{0xabc}).print("%p") == "0xabc");
    CHECK(c.with(-1).print("%hd") == "-1");
    CHECK(c.print("100%") == "100%");
    CHECK(c.with(3).print("%d\n", 0x8000'0011) == "3\n3\n3\n");
    CHECK(c.print("") == "");
    CHECK(c.with(2'000'000'000).with(1).print("%*d").size() == 999'999);
    CHECK(c.with(1).print("%1234567d").size() == 123'456);
    CHECK(c.with(1).with(2).with(3).print("%900000d%900000d%900000d").size() == 1'800'000);
  }
}

TEST_CASE("simgpu printf: what it reads is checked") {
  for (const HostIsa& isa : host_isas()) {
    PrintCase c(isa);
    CHECK(fault_of([&] { c.with(std::uint64_t{16}).print("%s"); }) == FaultKind::out_of_bounds);
    CHECK(fault_of([&] { c.with(c.grid.allocate(4, false)).print("%s"); }) ==
          FaultKind::uninitialised);
  }
}

TEST_CASE("simgpu assert: says in CUDA's words who failed, and ends the launch") {
  for (const HostIsa& isa : host_isas()) {
    PrintCase c(isa);
    OneWarp& warp = c.block.warp(1);
    warp.set_active(0x20);
    const auto text = [&](const char* characters) {
      const std::uint64_t at = c.text(characters);
      return warp.add<std::uint64_t>([=](int) { return at; });
    };
    const std::uint32_t message = text("x > 0"), file = text("kernel.cu");
    const std::uint32_t line = warp.add<std::uint32_t>([](int) { return 12; });
    const std::uint32_t function = text("void f(int)");
    std::string made, problem;
    {
      Captured out(stderr);
      try {
        warp.run(find_opcode(isa, "call.__assertfail"), {message, file, line, function, line});
      } catch (const Fault& fault) {
        CHECK(fault.kind() == FaultKind::asserted);
        CHECK(fault.lane() == 5);
        problem = fault.what();
      }
      made = out.text();
    }
    CHECK(problem == "`x > 0` does not hold in void f(int), kernel.cu:12");
    CHECK(made ==
          "kernel.cu:12: void f(int): block: [2,1,0], thread: [37,0,0] Assertion `x > 0` "
          "failed.\n");
  }
}

TEST_CASE("simgpu report: a fault with its place") {
  Kernel kernel;
  kernel.name = "scale";
  kernel.files = {"", "scale.cu"};
  kernel.origins = {{7, 0, 0, "mov.u32"}, {9, 1, 33, "ld.global.f32"}};
  Grid grid;
  grid.kernel = &kernel;
  grid.size = {4, 3, 2};
  grid.block_size = {16, 8, 1};
  grid.id = 12;
  const Fault fault(FaultKind::misaligned, 5, 0x1002, "reads 4 bytes somewhere");
  const FaultReport report = report_of(fault, grid, {1, 2, {3, 2, 1}});
  CHECK(report.kind == FaultKind::misaligned);
  CHECK(report.text ==
        "simgpu (a simulation, no hardware): misaligned access\n"
        "  reads 4 bytes somewhere\n"
        "  kernel scale, ld.global.f32, line 9 of the PTX, scale.cu:33\n"
        "  launch 12, block (3, 2, 1) of (4, 3, 2), thread (5, 4, 0) of (16, 8, 1), address "
        "0x1002\n");
  const FaultReport of_warp =
      report_of(Fault(FaultKind::trapped, Fault::every_lane, 0, "trap"), grid, {0, 1, {}});
  CHECK(of_warp.text.find("mov.u32, line 7 of the PTX\n") != std::string::npos);
  CHECK(of_warp.text.find("warp 1 (threads from 32)\n") != std::string::npos);
  Captured out(stderr);
  publish(report.text);
  CHECK(out.text() == report.text);
}

}  // namespace simgpu
