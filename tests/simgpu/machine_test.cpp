#include <doctest/doctest.h>

#include "tests/simgpu/ptx_text.h"
#include "tests/simgpu/simulated_device.h"

namespace simgpu {
namespace {

struct Run {
  std::optional<FaultReport> fault;
  std::vector<std::uint32_t> words;
  LaunchCounts counts;
};

/// Runs the kernel `k` of the text, which stores a word for each thread of each block.
Run run(const std::string& text, Size3 block, Size3 grid = {}, std::int64_t budget = 0) {
  SimulatedDevice device;
  device.load_ptx(module_of(text));
  const std::size_t words = block.count() * grid.count();
  auto* out = device.upload(std::vector<std::uint32_t>(words, 0xdead));
  LaunchConfiguration sizes{grid, block};
  sizes.budget = budget;
  Run result;
  result.fault = device.launch("k", sizes, out);
  result.words = device.download(out, words);
  result.counts = device.counts();
  return result;
}

void check_fault(const Run& run, FaultKind kind) {
  REQUIRE(run.fault);
  INFO(run.fault->text);
  CHECK(run.fault->kind == kind);
}

template <class Value>
void check_words(const Run& run, Value value) {
  if (run.fault) FAIL(run.fault->text);
  for (std::uint32_t i = 0; i < run.words.size(); ++i) {
    CAPTURE(i);
    CHECK(run.words[i] == value(i));
  }
}

TEST_CASE("simgpu machine: lanes that part meet again") {
  const Run both = run(kernel_of("k", R"(
setp.lt.u32 %p, %t, 5;
@%p bra LOW;
add.u32 %a, %t, 100;
bra JOIN;
LOW:
add.u32 %a, %t, 200;
JOIN:
add.u32 %a, %a, 1;
)" + store_a),
                       {32});
  check_words(both, [](std::uint32_t t) { return t + (t < 5 ? 201 : 101); });
  // ld, mov, setp, bra, add, bra, add; then the warp is whole for add, mul, add, st, ret.
  CHECK(both.counts.warp_instructions == 12);
  CHECK(both.counts.lane_instructions == 3 * 32 + 5 + 27 + 27 + 5 + 5 * 32);
}

TEST_CASE("simgpu machine: loops of different lengths, one in the other") {
  const Run loops = run(kernel_of("k", R"(
mov.u32 %a, 0;
mov.u32 %b, 0;
OUTER:
setp.ge.u32 %p, %b, %t;
@%p bra DONE;
mov.u32 %c, 0;
INNER:
setp.ge.u32 %q, %c, %b;
@%q bra NEXT;
add.u32 %a, %a, 1;
add.u32 %c, %c, 1;
bra INNER;
NEXT:
add.u32 %b, %b, 1;
bra OUTER;
DONE:
)" + store_a),
                        {70});
  check_words(loops, [](std::uint32_t t) { return t * (t - 1) / 2; });
}

TEST_CASE("simgpu machine: blocks of every shape, and what threads know of themselves") {
  for (const Size3 block : {Size3{1, 1, 1}, Size3{33, 1, 1}, Size3{5, 7, 3}, Size3{1024, 1, 1}}) {
    const Run shapes = run(kernel_of("k", R"(
mov.u32 %a, %tid.z;
mov.u32 %b, %ntid.y;
mov.u32 %c, %tid.y;
mad.lo.u32 %a, %a, %b, %c;
mov.u32 %b, %ntid.x;
mad.lo.u32 %a, %a, %b, %t;
mov.u32 %c, %ctaid.z;
mov.u32 %d, %nctaid.y;
mul.lo.u32 %c, %c, %d;
mov.u32 %d, %ctaid.y;
add.u32 %c, %c, %d;
mov.u32 %d, %nctaid.x;
mul.lo.u32 %c, %c, %d;
mov.u32 %d, %ctaid.x;
add.u32 %c, %c, %d;
mov.u32 %d, %ntid.z;
mul.lo.u32 %b, %b, %d;
mov.u32 %d, %ntid.y;
mul.lo.u32 %b, %b, %d;
mad.lo.u32 %a, %c, %b, %a;
mov.u32 %t, %a;
)" + store_a),
                           block, {2, 3, 2});
    check_words(shapes, [](std::uint32_t i) { return i; });
  }
}

TEST_CASE("simgpu machine: a barrier passes what warps have stored") {
  const std::string shared = ".shared .align 4 .b8 words[4096];\n";
  const auto exchange = [&](const std::string& barrier) {
    return kernel_of("k", R"(
mov.u32 %b, words;
mad.lo.u32 %c, %t, 4, %b;
st.shared.u32 [%c], %c;
bar.sync 0;
st.shared.u32 [%c], %t;
)" + barrier + R"(
xor.b32 %d, %t, 32;
mad.lo.u32 %c, %d, 4, %b;
ld.shared.u32 %a, [%c];
)" + count_blocks + store_a,
                     shared);
  };
  for (const char* barrier : {"bar.sync 0;", "barrier.sync 3;", "bar.sync 1, 128;"})
    check_words(run(exchange(barrier), {128}, {3}),
                [](std::uint32_t i) { return (i % 128) ^ 32u; });
  check_fault(run(exchange(""), {128}), FaultKind::shared_race);
}

TEST_CASE("simgpu machine: reductions at a barrier") {
  check_words(run(kernel_of("k", R"(
setp.lt.u32 %p, %t, 37;
bar.red.popc.u32 %a, 0, %p;
bar.red.and.pred %q, 0, %p;
bar.red.or.pred %r, 0, %p;
@%q add.u32 %a, %a, 1000;
@%r add.u32 %a, %a, 2000;
)" + count_blocks + store_a),
                  {64}, {2}),
              [](std::uint32_t) { return 2037u; });
}

TEST_CASE("simgpu machine: some warps arrive, others wait") {
  check_words(run(kernel_of("k", R"(
mov.u32 %b, words;
setp.ge.u32 %p, %t, 32;
@%p bra PRODUCE;
bar.sync 2, 64;
mad.lo.u32 %c, %t, 4, %b;
ld.shared.u32 %a, [%c];
bra DONE;
PRODUCE:
sub.u32 %d, %t, 32;
mad.lo.u32 %c, %d, 4, %b;
add.u32 %a, %t, 500;
st.shared.u32 [%c], %a;
bar.arrive 2, 64;
DONE:
)" + store_a,
                            ".shared .align 4 .b8 words[128];\n"),
                  {64}),
              [](std::uint32_t t) { return t < 32 ? t + 532 : t + 500; });
}

TEST_CASE("simgpu machine: barriers that threads do not share are faults") {
  const auto kernel = [](const std::string& condition, const std::string& other) {
    return kernel_of("k", condition + R"(
@%p bra OTHER;
bar.sync 0;
bra DONE;
OTHER:
)" + other + R"(
DONE:
mov.u32 %a, 7;
)" + store_a);
  };
  const std::string by_lane = "and.b32 %b, %t, 1;\nsetp.eq.u32 %p, %b, 1;\n";
  const std::string by_warp = "setp.lt.u32 %p, %t, 32;\n";
  check_fault(run(kernel(by_lane, "bar.sync 0;"), {64}), FaultKind::divergent_barrier);
  check_fault(run(kernel(by_warp, "bar.sync 1;"), {64}), FaultKind::divergent_barrier);
  check_fault(run(kernel(by_warp, "bar.sync 0, 64;"), {64}), FaultKind::divergent_barrier);
  // Who has left is not waited for.
  for (const std::string& left : {kernel(by_lane, "ret;"), kernel(by_warp, "ret;")})
    CHECK_FALSE(run(left, {64}).fault);
  // Whole warps may come to one barrier at different places.
  check_words(run(kernel(by_warp, "bar.sync 0;"), {64}), [](std::uint32_t) { return 7u; });
}

TEST_CASE("simgpu machine: lanes, warps and blocks may wait for one another") {
  const auto text = [](const std::string& who) {
    return ".global .align 4 .u32 flag = 0;\n" + kernel_of("k", who + R"(
@%p bra SET;
WAIT:
ld.relaxed.gpu.global.u32 %a, [flag];
setp.eq.u32 %q, %a, 0;
@%q bra WAIT;
bra DONE;
SET:
mov.u32 %a, 9;
st.relaxed.gpu.global.u32 [flag], %a;
DONE:
)" + store_a);
  };
  const auto nine = [](std::uint32_t) { return 9u; };
  check_words(run(text("setp.eq.u32 %p, %t, 31;"), {32}), nine);
  check_words(run(text("setp.ge.u32 %p, %t, 32;"), {64}), nine);
  const Run blocks = run(text(R"(
mov.u32 %b, %ctaid.x;
setp.eq.u32 %p, %b, 2;
mad.lo.u32 %t, %b, 32, %t;
)"),
                         {32}, {5});
  check_words(blocks, nine);
  check_fault(run(text("setp.eq.u32 %p, %t, 99;"), {32}, {}, 1 << 22), FaultKind::no_progress);
}

TEST_CASE("simgpu machine: functions are called from where lanes are") {
  const std::string twice = R"(
.func (.param .b32 result) twice(.param .b32 value) {
.reg .b32 %v;
.reg .pred %odd;
ld.param.u32 %v, [value];
and.b32 %v, %v, 1;
setp.eq.u32 %odd, %v, 1;
ld.param.u32 %v, [value];
@%odd bra ODD;
add.u32 %v, %v, %v;
st.param.b32 [result], %v;
ret;
ODD:
mad.lo.u32 %v, %v, 2, 1000;
st.param.b32 [result], %v;
ret;
}
)";
  const std::string call = R"({
.param .b32 value;
.param .b32 result;
st.param.b32 [value], %t;
call.uni (result), twice, (value);
ld.param.b32 %a, [result];
})";
  check_words(run(twice + kernel_of("k", R"(
setp.lt.u32 %p, %t, 9;
mov.u32 %a, 1;
@%p bra SKIP;
)" + call + R"(
SKIP:
add.u32 %a, %a, 1;
)" + store_a),
                  {40}),
              [](std::uint32_t t) { return t < 9 ? 2 : 2 * t + 1 + (t % 2 == 1 ? 1000 : 0); });
}

TEST_CASE("simgpu machine: a branch to one of many places") {
  check_words(run(kernel_of("k", R"(
places: .branchtargets ZERO, ONE, TWO;
rem.u32 %b, %t, 3;
brx.idx %b, places;
ZERO:
mov.u32 %a, 10;
bra DONE;
ONE:
mov.u32 %a, 11;
bra DONE;
TWO:
mov.u32 %a, 12;
DONE:
)" + store_a),
                  {45}),
              [](std::uint32_t t) { return 10 + t % 3; });
}

TEST_CASE("simgpu machine: who is missing from a warp-wide instruction") {
  const auto meeting = [](const std::string& condition, const std::string& other) {
    return kernel_of("k", condition + R"(
@%p bra OTHER;
bar.warp.sync 0xffffffff;
bra DONE;
OTHER:
)" + other + R"(
DONE:
mov.u32 %a, 7;
)" + store_a);
  };
  const std::string odd = "and.b32 %b, %t, 1;\nsetp.eq.u32 %p, %b, 1;\n";
  // The same meeting at two places.
  check_words(run(meeting(odd, "bar.warp.sync 0xffffffff;"), {64}),
              [](std::uint32_t) { return 7u; });
  // Who has left is not waited for.
  const Run left = run(meeting(odd, "ret;"), {32});
  CHECK_FALSE(left.fault);
  // Who is not in its own mask.
  check_fault(run(meeting(odd, "bar.warp.sync 0x55555555;"), {32}), FaultKind::absent_lane);
}

TEST_CASE("simgpu machine: local and shared variables lie where their alignment says") {
  for (const std::string space : {"local", "shared"}) {
    CAPTURE(space);
    const std::string variables = "." + space + " .align 4 .b8 few[4];\n." + space +
                                  " .align 256 .b8 own[8];\n.reg .b64 %at;\n";
    check_words(
        run(kernel_of("k", variables + "mov.u64 %at, own;\ncvta." + space + R"(.u64 %at, %at;
cvt.u32.u64 %a, %at;
and.b32 %a, %a, 255;
)" + store_a),
            {64}),
        [](std::uint32_t) { return 0u; });
  }
}

TEST_CASE("simgpu machine: launches that no GPU takes are refused") {
  SimulatedDevice device;
  device.load_ptx(module_of(R"(
.entry plain() { ret; }
.entry bounded() .maxntid 64, 1, 1 { ret; }
.entry exact() .reqntid 64, 1, 1 { ret; }
.entry shares() { .shared .align 4 .b8 words[40000]; .reg .b32 %a; mov.u32 %a, words; ret; }
)"));
  const auto refused = [&](const char* name, Size3 grid, Size3 block, std::uint32_t shared = 0) {
    return refuse(device.kernel(name), {grid, block, shared}, device.profile()).has_value();
  };
  CHECK_FALSE(refused("plain", {1}, {1024}));
  CHECK(refused("plain", {1}, {1025}));
  CHECK(refused("plain", {1}, {0}));
  CHECK(refused("plain", {0}, {1}));
  CHECK(refused("plain", {1, 65536}, {1}));
  CHECK(refused("plain", {1}, {1, 1, 65}));
  CHECK(refused("plain", {1}, {64, 32}));
  CHECK_FALSE(refused("bounded", {1}, {64}));
  CHECK(refused("bounded", {1}, {65}));
  CHECK_FALSE(refused("exact", {1}, {64}));
  CHECK(refused("exact", {1}, {63}));
  CHECK_FALSE(refused("shares", {1}, {1}, 227 * 1024 - 40000));
  CHECK(refused("shares", {1}, {1}, 227 * 1024 - 40000 + 1));
}

}  // namespace
}  // namespace simgpu
