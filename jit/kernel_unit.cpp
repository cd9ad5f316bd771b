#include "jit/kernel_unit.h"

#include <algorithm>
#include <numeric>

namespace sinter::jit {
namespace {

/// A namespace for each kernel, so that two may define a struct of one name, and a symbol that the
/// object shows while what the prelude defines stays inside.
void append_kernel(std::string& unit, const StoredKernel& kernel) {
  unit += "\n#define SINTER_KERNEL_NAME " + kernel.symbol + "\n";
  unit += "#pragma GCC visibility push(default)\n";
  unit += "namespace " + kernel.symbol + "_scope {\n";
  unit += kernel.body;
  unit += "\n}\n#pragma GCC visibility pop\n#undef SINTER_KERNEL_NAME\n";
}

}  // namespace

std::vector<std::string> split_into_units(std::string_view prelude,
                                          std::span<const StoredKernel> kernels, std::size_t most) {
  std::vector<std::size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return kernels[a].body.size() > kernels[b].body.size();
  });
  std::vector<std::string> units(std::clamp<std::size_t>(most, 1, kernels.size()),
                                 std::string(prelude));
  const auto shorter = [](const std::string& a, const std::string& b) {
    return a.size() < b.size();
  };
  for (const std::size_t i : order)
    append_kernel(*std::min_element(units.begin(), units.end(), shorter), kernels[i]);
  return units;
}

}  // namespace sinter::jit
