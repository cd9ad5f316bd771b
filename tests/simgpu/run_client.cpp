#include "tests/simgpu/run_client.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>

namespace simgpu {

std::string run_client(const std::string& settings, const std::string& what, int* status) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string command = "env " + settings + " " +
                              (folder / "simgpu_client_process").string() + " " + what +
                              " 2>/dev/null";
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string printed;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) printed += static_cast<char>(c);
  const int ended = pclose(pipe);
  if (status != nullptr) *status = ended;
  else CHECK(ended == 0);
  return printed;
}

}  // namespace simgpu
