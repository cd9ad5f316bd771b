/// \file
/// Kernels for the tests of the cache: number n adds n to some elements.
#pragma once

#include <string>
#include <vector>

#include "jit/kernel_cache.h"

namespace sinter::jit {

inline constexpr const char* test_prelude =
    "using element = float;\n"
    "static inline element* elements(const void* p) {\n"
    "  return static_cast<element*>(const_cast<void*>(p));\n"
    "}\n";

inline KernelSource kernel_adding(int number) {
  return {"add " + std::to_string(number),
          "struct Addend { element value; };\n"
          "extern \"C\" void SINTER_KERNEL_NAME(const void* p, long first, long last) {\n"
          "  const Addend addend{" +
              std::to_string(number) +
              "};\n"
              "  for (long i = first; i < last; ++i) elements(p)[i] += addend.value;\n"
              "}\n"};
}

inline std::vector<KernelSource> kernels_adding(int first, int count) {
  std::vector<KernelSource> sources;
  for (int i = 0; i < count; ++i) sources.push_back(kernel_adding(first + i));
  return sources;
}

inline bool adds(KernelFunction kernel, int number) {
  float values[4] = {1, 2, 3, 4};
  if (kernel == nullptr) return false;
  kernel(values, 1, 3);
  const float added = static_cast<float>(number);
  return values[0] == 1 && values[1] == 2 + added && values[2] == 3 + added && values[3] == 4;
}

/// Loads kernels and tries each.
inline bool load_and_try(KernelCache& cache, int first, int count) {
  const auto functions = cache.load(kernels_adding(first, count), test_prelude, "strict");
  if (!functions || functions->size() != static_cast<std::size_t>(count)) return false;
  for (int i = 0; i < count; ++i)
    if (!adds((*functions)[static_cast<std::size_t>(i)], first + i)) return false;
  return true;
}

}  // namespace sinter::jit
