#include "tools/simgpu/machine/profile.h"

#include "tools/simgpu/machine/settings.h"

namespace simgpu {
namespace {

constexpr int kib = 1024, mib = 1024 * kib;
constexpr std::size_t gib = std::size_t{1} << 30;

constexpr Profile profiles[] = {
    {.name = "sm_80",
     .major = 8,
     .minor = 0,
     .multiprocessors = 108,
     .shared_per_block_optin = 163 * kib,
     .shared_per_multiprocessor = 164 * kib,
     .l2_bytes = 40 * mib,
     .memory_bytes = 40 * gib,
     .clock_khz = 1'410'000,
     .memory_clock_khz = 1'215'000,
     .bus_bits = 5120},
    {.name = "sm_90",
     .major = 9,
     .minor = 0,
     .multiprocessors = 132,
     .shared_per_block_optin = 227 * kib,
     .shared_per_multiprocessor = 228 * kib,
     .l2_bytes = 50 * mib,
     .memory_bytes = 80 * gib,
     .clock_khz = 1'980'000,
     .memory_clock_khz = 2'619'000,
     .bus_bits = 5120},
    {.name = "sm_100",
     .major = 10,
     .minor = 0,
     .multiprocessors = 148,
     .shared_per_block_optin = 227 * kib,
     .shared_per_multiprocessor = 228 * kib,
     .l2_bytes = 126 * mib,
     .memory_bytes = 180 * gib,
     .clock_khz = 1'965'000,
     .memory_clock_khz = 3'996'000,
     .bus_bits = 8192},
};

}  // namespace

const Profile* find_profile(std::string_view name) {
  for (const Profile& profile : profiles)
    if (profile.name == name) return &profile;
  return nullptr;
}

const Profile& profile() {
  static const Profile& chosen = *find_profile(settings().profile);
  return chosen;
}

}  // namespace simgpu
