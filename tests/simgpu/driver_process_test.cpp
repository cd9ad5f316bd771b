#include <string>

#include "tests/simgpu/client.h"
#include "tests/simgpu/run_client.h"
#include "tests/temporary_directory.h"

namespace simgpu {
TEST_CASE("simgpu driver: what was never freed is told at exit, with who allocated it") {
  const sinter::TemporaryDirectory folder;
  const auto path = folder / "report.txt";
  run_client("SIMGPU_REPORT=" + path.string(), "leak");
  const std::string told = sinter::read_file(path);
  CHECK(told.find("1234 bytes in 1 allocations were never freed") != std::string::npos);
  CHECK(told.find("by cuMemAlloc_v2, called from ") != std::string::npos);
  CHECK(told.find("simgpu_client_process+0x") != std::string::npos);
  CHECK(told.find("5678") == std::string::npos);
}

TEST_CASE("simgpu driver: what a failed program cannot free is no leak") {
  const sinter::TemporaryDirectory folder;
  const auto path = folder / "report.txt";
  CHECK(run_client("SIMGPU_REPORT=" + path.string(), "fail") ==
        std::to_string(CUDA_ERROR_LAUNCH_FAILED) + "\n");
  const std::string told = sinter::read_file(path);
  CHECK(told.find("trap") != std::string::npos);
  CHECK(told.find("never freed") == std::string::npos);
}

TEST_CASE("simgpu driver: a setting that there is not ends the process") {
  for (const char* setting :
       {"SIMGPU_BUDGET=0", "SIMGPU_THREADS=0", "SIMGPU_CHECKS=none", "SIMGPU_=1"}) {
    CAPTURE(setting);
    int status = 0;
    CHECK(run_client(setting, "fail", &status).empty());
    CHECK(status != 0);
  }
}

TEST_CASE("simgpu driver: a forked process has no GPU, and ends") {
  CHECK(run_client("", "fork") == "33\n");  // CUDA_ERROR_NOT_INITIALIZED, twice
}

TEST_CASE("simgpu driver: the environment chooses the profile") {
  CHECK(run_client("SIMGPU_PROFILE=sm_80", "profile") ==
        "simgpu sm_80 (simulated, not hardware), 108\n");
  CHECK(run_client("SIMGPU_PROFILE=sm_100", "profile") ==
        "simgpu sm_100 (simulated, not hardware), 148\n");
  int status = 0;
  CHECK(run_client("SIMGPU_PROFILE=sm_12", "profile", &status).empty());
  CHECK(status != 0);
}

TEST_CASE("simgpu driver: the environment chooses which stream goes first") {
  CHECK(run_client("SIMGPU_ORDER=forward", "race") == "1\n");
  CHECK(run_client("SIMGPU_ORDER=backward", "race") == "0\n");
  // The same seed, the same order.
  const std::string first = run_client("SIMGPU_ORDER=5", "race");
  CHECK(run_client("SIMGPU_ORDER=5", "race") == first);
}

}  // namespace simgpu
