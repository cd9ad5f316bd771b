#include "tests/simgpu/toolkit.h"

#include <cstdlib>
#include <filesystem>

namespace simgpu {

std::string toolkit_headers() {
  const char* named = std::getenv("SINTER_CUDA_PATH");
  const std::string place = std::string(named != nullptr ? named : "/usr/local/cuda") + "/include";
  return std::filesystem::exists(place + "/cuda_fp16.h") ? place : "";
}

std::string library_headers() {
  for (const std::string& toolkit : {toolkit_headers(), std::string("/usr/local/cuda/include")})
    if (std::filesystem::exists(toolkit + "/cccl/cuda/std/type_traits")) return toolkit + "/cccl";
  return "";
}

}  // namespace simgpu
