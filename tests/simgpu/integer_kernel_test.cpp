#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/simgpu/ptx_text.h"
#include "tests/simgpu/simulated_device.h"

namespace simgpu {
namespace {

using U32 = std::uint32_t;

}  // namespace

TEST_CASE("simgpu integers: the carry flag of a lane outlives what other lanes do") {
  SimulatedDevice device;
  // Odd lanes set their flags in between; even ones have theirs from the first addition.
  device.load_ptx(module_of(kernel_of("k", R"(
and.b32 %b, %t, 1;
setp.ne.u32 %p, %b, 0;
sub.u32 %c, %t, 16;
add.cc.u32 %a, %c, 16;
@!%p bra KEEP;
add.cc.u32 %a, %t, 0;
KEEP:
addc.u32 %a, %t, 100;
)" + store_a)));
  U32* out = device.allocate<U32>(32);
  CHECK_FALSE(device.launch("k", {{1}, {32}}, out));
  const std::vector<U32> found = device.download(out, 32);
  for (U32 t = 0; t < 32; ++t) CHECK(found[t] == t + 100 + (t % 2 == 0 && t < 16 ? 1 : 0));
}

TEST_CASE("simgpu integers: a trap ends the launch, and the report says where") {
  SimulatedDevice device;
  device.load_ptx(module_of(kernel_of("k", R"(
setp.eq.u32 %p, %t, 37;
@%p trap;
mov.u32 %a, %clock;
)" + store_a)));
  const auto fault = device.launch("k", {{1}, {64}}, device.allocate<U32>(64));
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::trapped);
  CHECK(fault->text.find("trap") != std::string::npos);
  CHECK(fault->text.find("37") != std::string::npos);
}

}  // namespace simgpu
