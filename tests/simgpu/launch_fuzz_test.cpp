// Kernels with words in the wrong places run, or stop with a fault: whatever they do, the machine
// stands, and no other memory than theirs is touched.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/simgpu/captured.h"
#include "tests/simgpu/kernel_file.h"
#include "tests/simgpu/mutate.h"
#include "tests/simgpu/simulated_device.h"
#include "tools/simgpu/ptx/syntax.h"

namespace simgpu {
namespace {

/// A block-wide sum, calls, loops, local and shared memory, atomics, barriers, shuffles and votes.
const char* const everything = R"(.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b32 total;
.global .align 8 .u64 table[2] = {total, twice};
.func (.param .b32 out) twice(.param .b32 in)
{
  .reg .b32 %r<3>;
  .reg .pred %p<2>;
  ld.param.u32 %r1, [in];
  setp.gt.u32 %p1, %r1, 3;
  @%p1 bra DONE;
  {
  .param .b32 passed;
  .param .b32 given;
  add.u32 %r2, %r1, 1;
  st.param.b32 [passed], %r2;
  call.uni (given), twice, (passed);
  ld.param.b32 %r1, [given];
  }
DONE:
  shl.b32 %r1, %r1, 1;
  st.param.b32 [out], %r1;
  ret;
}
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)
{
  .reg .pred %p<6>;
  .reg .b16 %h<4>;
  .reg .b32 %r<20>;
  .reg .f32 %f<8>;
  .reg .b64 %rd<12>;
  .shared .align 16 .b8 tile[1024];
  .local .align 8 .b8 depot[64];
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u32 %r1, [n];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r5, %r3, %r4, %r2;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  ld.global.nc.u32 %r6, [%rd4+4];
  cvt.rn.f32.u32 %f2, %r6;
  fma.rn.f32 %f3, %f1, %f2, %f1;
  sqrt.rn.f32 %f4, %f3;
  mov.u32 %r7, tile;
  shl.b32 %r8, %r2, 2;
  add.u32 %r9, %r7, %r8;
  st.shared.f32 [%r9], %f4;
  setp.eq.u32 %p4, %r2, 0;
  @%p4 st.shared.u32 [tile+512], %r2;
  bar.sync 0;
  ld.shared.u32 %r10, [%r9];
  shfl.sync.bfly.b32 %r11|%p1, %r10, 5, 31, -1;
  vote.sync.ballot.b32 %r12, %p1, -1;
  mov.u64 %rd5, depot;
  st.local.v2.u32 [%rd5+8], {%r11, %r12};
  ld.local.u64 %rd6, [%rd5+8];
  setp.lt.u32 %p2, %r2, 7;
  @%p2 bra $LESS;
  atom.global.add.u32 %r13, [total], %r2;
  red.shared.max.u32 [tile+512], %r13;
  bra.uni $JOIN;
$LESS:
  popc.b32 %r13, %r12;
  prmt.b32 %r13, %r13, %r11, 0x3210;
$JOIN:
  mov.u32 %r14, 0;
$LOOP:
  add.u32 %r14, %r14, 1;
  setp.lt.u32 %p3, %r14, %r1;
  @%p3 bra $LOOP;
  {
  .param .b32 passed;
  .param .b32 given;
  st.param.b32 [passed], %r2;
  call.uni (given), twice, (passed);
  ld.param.b32 %r15, [given];
  }
  and.b32 %r16, %r15, 1;
  ts: .branchtargets $EVEN, $ODD;
  brx.idx %r16, ts;
$EVEN:
  cvt.u16.u32 %h1, %r15;
  div.u32 %r17, %r15, %r13;
  bfe.u32 %r17, %r17, 3, 9;
$ODD:
  cp.async.ca.shared.global [%r9], [%rd4], 4;
  cp.async.wait_all;
  bar.warp.sync -1;
  membar.gl;
  ld.global.u64 %rd7, [table];
  atom.global.cas.b32 %r18, [%rd7], 5, %r17;
  add.s64 %rd8, %rd2, %rd3;
  st.global.u32 [%rd8], %r15;
  exit;
}
)";

class LaunchFuzz {
 public:
  LaunchFuzz(const std::vector<std::string>& texts, std::uint64_t seed)
      : mutator_(texts, seed), random_(seed) {}

  void draw() {
    const std::string text = mutator_.next_of_words();
    CAPTURE(text);
    SimulatedDevice device;
    const auto place = [&device](const std::string&, std::size_t bytes) {
      const auto address = device.memory().allocate(std::min(bytes, most_bytes + 1), "a variable");
      if (bytes > most_bytes || !address) return std::uint64_t{0};
      device.memory().set_initialised(*address, bytes);
      return *address;
    };
    try {
      for (const auto& [name, kernel] : load(text, 90, place).kernels) launch(device, kernel);
    } catch (const ptx::Error&) {
    }
  }
  int launches() const { return launches_; }

 private:
  static constexpr std::size_t most_bytes = 1 << 20;

  void launch(SimulatedDevice& device, const Kernel& kernel) {
    const std::vector<std::uint32_t> words(8192, 3);
    std::vector<std::byte> parameters(kernel.parameter_bytes);
    for (const Parameter& each : kernel.parameters) {
      std::uint64_t value = random_() % 40;
      if (each.bytes == 8) value = reinterpret_cast<std::uint64_t>(device.upload(words));
      std::memcpy(parameters.data() + each.offset, &value, std::min(each.bytes, 8u));
    }
    LaunchConfiguration sizes;
    sizes.grid.x = 1 + static_cast<std::uint32_t>(random_() % 3);
    sizes.block.x = 1 + static_cast<std::uint32_t>(random_() % 100);
    sizes.budget = 20000;
    if (refuse(kernel, sizes, device.profile())) return;
    ++launches_;
    const Captured out(stdout), errors(stderr);
    const auto fault = simgpu::launch(kernel, sizes, parameters, device.profile(), device.memory());
    if (fault) CHECK(fault->text.find("kernel " + kernel.name) != std::string::npos);
  }

  Mutator mutator_;
  std::mt19937_64 random_;
  int launches_ = 0;
};

void check_launches(const std::vector<std::string>& texts, int count, std::uint64_t seed) {
  CAPTURE(seed);
  LaunchFuzz fuzz(texts, seed);
  for (int k = 0; k < count; ++k) fuzz.draw();
  CHECK(fuzz.launches() > count / 10);
}

/// What NVRTC makes of kernels of the tests.
std::vector<std::string> compiled() {
  std::vector<std::string> texts = {everything};
  if (!has_nvrtc()) return texts;
  for (const char* file : {"integers.cu", "memory.cu", "program.cu", "reductions.cu", "warp.cu"})
    texts.push_back(compile_to_ptx(kernel_file(file), "sm_90"));
  return texts;
}

}  // namespace

TEST_CASE("simgpu fuzz: the kernel that is broken runs before") {
  SimulatedDevice device;
  device.load_ptx(everything);
  const auto* in = device.upload(std::vector<std::uint32_t>(8192, 3));
  auto* out = device.allocate<std::uint32_t>(192);
  const auto fault = device.launch("k", {{3}, {64}}, in, out, 9u);
  INFO((fault ? fault->text : ""));
  CHECK_FALSE(fault);
  CHECK(device.download(out, 3) == std::vector<std::uint32_t>{128, 64, 32});
}

TEST_CASE("simgpu fuzz: kernels with words in the wrong places") {
  check_launches({everything}, 200, 30);
}

TEST_SUITE("fuzz_long") {
  TEST_CASE("simgpu fuzz: many kernels with words in the wrong places") {
    const std::vector<std::string> texts = compiled();
    for (std::uint64_t seed = 2000; seed < 2100; ++seed) check_launches(texts, 100, seed);
  }
}

}  // namespace simgpu
