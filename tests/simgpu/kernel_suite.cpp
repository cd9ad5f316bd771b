#include "tests/simgpu/kernel_suite.h"

#include <fmt/format.h>

#include <set>

#include "tests/simgpu/kernel_file.h"

namespace simgpu {

/// Splitmix64 (Steele, Lea and Flood, 2014).
std::uint64_t random_word(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t word = seed * 0xd134'2543'de82'ef95u + (index + 1) * 0x9e37'79b9'7f4a'7c15u;
  word = (word ^ word >> 30) * 0xbf58'476d'1ce4'e5b9u;
  word = (word ^ word >> 27) * 0x94d0'49bb'1331'11ebu;
  return word ^ word >> 31;
}

std::string number_text(long double value) { return fmt::format("{:.20g}", value); }

void check_ran(const std::optional<FaultReport>& fault) {
  if (fault) FAIL_CHECK(fault->text);
}

LaunchConfiguration threads(std::size_t count) {
  const auto blocks = static_cast<std::uint32_t>((count + 95) / 96);
  return grid(blocks, 96);
}
LaunchConfiguration grid(std::uint32_t blocks, std::uint32_t block, std::uint32_t shared) {
  return {{blocks, 1, 1}, {block, 1, 1}, shared};
}

void check_kernels(const char* file, const std::vector<KernelRow>& rows,
                   std::initializer_list<const char*> options,
                   std::initializer_list<const char*> profiles) {
  std::set<std::string> names;
  for (const KernelRow& each : rows) names.insert(each.name);
  for (const char* profile : profiles) {
    CAPTURE(profile);
    SimulatedDevice device(profile);
    device.load_cuda(kernel_file(file), options);
    CHECK(device.kernel_count() == names.size());
    for (const KernelRow& each : rows) {
      CAPTURE(each.name);
      each.check(device);
    }
  }
}

}  // namespace simgpu
