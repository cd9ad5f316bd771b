#include "tests/simgpu/kernel_file.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace simgpu {

std::string kernel_file(const std::string& name) {
  const std::string path = std::string(SIMGPU_TEST_KERNELS "/") + name;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("there is no " + path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace simgpu
