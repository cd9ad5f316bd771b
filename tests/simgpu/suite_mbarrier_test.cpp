// Barriers that are objects in shared memory: tests/simgpu/kernels/mbarrier.cu.
#include <algorithm>

#include "tests/simgpu/kernel_suite.h"

namespace simgpu {
namespace {

using S32 = std::int32_t;

/// The row commits a fault: one of those.
template <class... Arguments>
KernelRow fault_row(const char* name, std::uint32_t threads, const std::vector<FaultKind>& kinds,
                    Arguments... arguments) {
  return {name, [=](SimulatedDevice& device) {
            Checks checks;
            const auto fault =
                device.launch(name, grid(1, threads), place(device, checks, arguments)...);
            REQUIRE(fault);
            INFO(fault->text);
            CHECK(std::find(kinds.begin(), kinds.end(), fault->kind) != kinds.end());
          }};
}

std::vector<KernelRow> barrier_rows() {
  const auto a = words<S32>(32 * 7, 1);
  std::vector<S32> sums(96);
  for (std::size_t t = 32; t < 128; ++t)
    for (std::size_t r = 0; r < 7; ++r)
      sums[t - 32] += a[r * 32 + (t + r) % 32] * static_cast<S32>(r + 1);
  // In the first round all threads, then half of them.
  std::vector<S32> rounds(512, -1);
  for (S32 t = 0; t < 128; ++t) rounds[static_cast<std::size_t>(t)] = 127 - t;
  for (S32 round = 1; round < 4; ++round)
    for (S32 t = 0; t < 64; ++t)
      rounds[static_cast<std::size_t>(round * 128 + t)] = (63 - t) * (round + 1);
  const auto fours = numbers<float>(256, 2, -1, 1);
  std::vector<float> reversed;
  for (std::size_t k = 64; k-- > 0;)
    reversed.insert(reversed.end(), &fours[4 * k], &fours[4 * k] + 4);
  const auto unwritten = exactly(std::vector<S32>(128));
  return {
      row("relayed", grid(1, 128), exactly(sums), a, 7, 0),
      row("by_state", grid(1, 128), exactly(rounds, std::vector<S32>(512, -1))),
      row("copies_arrive", grid(1, 64), exactly(reversed), fours),
      fault_row("relayed", 128, {FaultKind::shared_race, FaultKind::uninitialised}, unwritten, a, 7,
                1),
      fault_row("no_barrier", 32, {FaultKind::illegal_instruction}, unwritten, 0),
      fault_row("no_barrier", 32, {FaultKind::uninitialised}, unwritten, -1),
  };
}

}  // namespace

TEST_CASE("simgpu suite: barriers that are objects in shared memory" *
          doctest::skip(!has_nvrtc())) {
  std::vector<KernelRow> rows = barrier_rows();
  check_kernels("mbarrier.cu", rows, {}, {"sm_80"});
  const auto a = numbers<float>(512, 3, -1, 1);
  std::vector<float> reversed = a;
  std::reverse(reversed.begin(), reversed.begin() + 256);
  std::reverse(reversed.begin() + 256, reversed.end());
  rows.push_back(row("in_bulk", grid(2, 256), exactly(reversed), a, 0));
  rows.push_back(fault_row("in_bulk", 256, {FaultKind::shared_race, FaultKind::uninitialised},
                           exactly(reversed), a, 1));
  check_kernels("mbarrier.cu", rows, {}, {"sm_90", "sm_100"});
}

}  // namespace simgpu
