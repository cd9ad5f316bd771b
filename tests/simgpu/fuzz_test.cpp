#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/simgpu/mutate.h"
#include "tests/simgpu/simulated_device.h"
#include "tools/simgpu/code/load.h"
#include "tools/simgpu/ptx/syntax.h"

namespace simgpu {
namespace {

/// Something of everything that the parser reads.
const char* const everything = R"(.version 8.0
.target sm_80
.address_size 64
.file 1 "a.cu", 3, 4
.extern .shared .align 16 .b8 dyn[];
.shared .align 4 .b8 tile[64];
.global .align 4 .b8 bytes[6] = {1, 0x2, 03};
.const .f32 numbers[2][2] = {{1.5, 0f3F800000}, {-2}};
.global .u64 where[2] = {bytes+1, generic(numbers)+4};
.global .u8 packed[8] = {0xFF(generic(bytes)), 0xFF00(bytes+4)};
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.func (.param .b32 out) f(.param .b32 in, .param .align 4 .b8 s[12])
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [in];
  ld.param.u32 %r2, [s+8];
  add.s32 %r1, %r1, %r2;
  st.param.b32 [out+0], %r1;
  ret;
}
.visible .entry k(.param .u64 .ptr .global .align 4 k_param_0, .param .u32 n, .param .align 4 .b8 s[16])
.maxntid 128, 1, 1
.minnctapersm 2
{
  .reg .pred %p<4>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<5>;
  .local .align 8 .b8 depot[24];
  .loc 1 7 3
  ld.param.u32 %r1, [n];
  ld.param.v2.u32 {%r2, %r3}, [s+8];
  add.s32 %r4, %r1, %tid.x;
  mul.lo.s32 %r5, %r4, -7;
  vote.sync.any.pred %p1, !%p2, -1;
  @!%p1 bra $L1;
  shfl.sync.bfly.b32 %r6|%p3, %r5, 16, 31, -1;
  bar.sync 0;
  .pragma "nounroll";
$L1:
  .loc 1 9 1, function_name $L__info_string0, inlined_at 1 2 41
  { .reg .b32 t; L: add.s32 t, %r5, tile; @%p3 bra L; }
  {
  .param .b32 param0;
  st.param.b32 [param0+0], %r5;
  .param .align 4 .b8 param1[12];
  st.param.b32 [param1+8], 5;
  .param .b32 retval0;
  call.uni (retval0), f, (param0, param1);
  ld.param.b32 %r7, [retval0+0];
  }
  ts: .branchtargets $L1, $L2;
  brx.idx %r7, ts;
$L2:
  add.s64 %rd1, depot+8, dyn;
  mad.lo.s32 %r8, 0b11, 017, %r7;
  exit;
}
.section .debug_str
{
$L__info_string0:
.b8 95,90
}
)";

/// Variables of up to a mebibyte have room.
void load_text(const std::string& text) {
  std::vector<std::unique_ptr<std::byte[]>> memory;
  load(text, 90, [&memory](const std::string&, std::size_t bytes) -> std::uint64_t {
    constexpr std::size_t most = 1 << 20;
    if (bytes > most) return 0;
    memory.push_back(std::make_unique<std::byte[]>(bytes));
    return reinterpret_cast<std::uint64_t>(memory.back().get());
  });
}

void check_broken(const std::vector<std::string>& texts, int count, std::uint64_t seed = 20) {
  CAPTURE(seed);
  Mutator mutator(texts, seed);
  int refused = 0;
  for (int k = 0; k < count; ++k) {
    const std::string text = mutator.next();
    CAPTURE(text);
    try {
      load_text(text);
    } catch (const ptx::Error& error) {
      ++refused;
      CHECK(error.position().line >= 1);
      CHECK(error.position().column >= 1);
    }
  }
  CHECK(refused > count / 2);
}

}  // namespace

TEST_CASE("simgpu fuzz: the text that is broken is whole before") { load_text(everything); }

TEST_CASE("simgpu fuzz: a broken text loads or is an error with a place in it") {
  check_broken({everything}, 600);
}

namespace {

/// What NVRTC makes of a kernel with functions, tables, a ring and a shuffle.
std::string compiled() {
  const std::string source = R"(
__device__ int table[4] = {3, 5, 7, 9};
__device__ int* entries[2] = {table + 1, table + 3};
__noinline__ __device__ int part(int a, short b) { return a * b + *entries[a & 1]; }
extern "C" __global__ void k(int* out, int choice) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  int ring[16];
  for (int i = 0; i < 16; ++i) ring[i] = part(t, i);
  tile[t] = ring[(t + choice) & 15];
  __syncthreads();
  out[t] = tile[63 - t] + __shfl_xor_sync(~0u, t, 5);
})";
  return compile_to_ptx(source, "sm_90");
}

}  // namespace

TEST_CASE("simgpu fuzz: what NVRTC wrote, broken" * doctest::skip(!has_nvrtc())) {
  check_broken({compiled(), everything}, 300);
}

TEST_SUITE("fuzz_long") {
  TEST_CASE("simgpu fuzz: many broken texts") {
    std::vector<std::string> texts = {everything};
    if (has_nvrtc()) texts.push_back(compiled());
    for (std::uint64_t seed = 1000; seed < 1400; ++seed) check_broken(texts, 500, seed);
  }
}

}  // namespace simgpu
