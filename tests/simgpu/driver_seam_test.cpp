#include <cstring>

#include "tests/simgpu/client.h"
#include "tools/simgpu/driver/seam.h"

namespace simgpu {
namespace {

const simgpu_seam& seam() {
  const void* exported = nullptr;
  REQUIRE(cuGetExportTable(&exported, &simgpu_seam_id) == CUDA_SUCCESS);
  const auto* found = static_cast<const simgpu_seam*>(exported);
  REQUIRE(found->size == sizeof(simgpu_seam));
  return *found;
}

/// What another library would enqueue: doubles an int of the device.
struct Doubling {
  CUdeviceptr number;
  int runs = 0, releases = 0;

  static CUresult run(void* data) {
    auto* work = static_cast<Doubling*>(data);
    ++work->runs;
    if (const CUresult result = seam().check_read(work->number, 4, "double");
        result != CUDA_SUCCESS)
      return result;
    *reinterpret_cast<int*>(work->number) *= 2;
    seam().wrote(work->number, 4);
    return CUDA_SUCCESS;
  }
  static void release(void* data) { ++static_cast<Doubling*>(data)->releases; }
  CUresult enqueue(CUstream stream) { return seam().enqueue(stream, "double", run, this, release); }
};

}  // namespace

TEST_CASE("simgpu driver: another library's work runs in stream order") {
  const TestContext context;
  const TestMemory memory(4);
  CHECK(cuMemsetD32Async(memory, 21, 1, nullptr) == CUDA_SUCCESS);
  Doubling doubling{memory};
  CHECK(doubling.enqueue(nullptr) == CUDA_SUCCESS);
  CHECK(read<int>(memory, 1) == std::vector<int>{42});
  CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
  CHECK(doubling.runs == 1);
  CHECK(doubling.releases == 1);
  CHECK(doubling.enqueue(reinterpret_cast<CUstream>(std::uintptr_t{99})) ==
        CUDA_ERROR_INVALID_HANDLE);
  const void* exported = nullptr;
  const CUuuid other{};
  CHECK(cuGetExportTable(&exported, &other) == CUDA_ERROR_NOT_FOUND);
}

TEST_CASE("simgpu driver: another library's work is captured with the rest") {
  const TestContext context;
  const TestMemory memory(4);
  CHECK(cuMemsetD32(memory, 1, 1) == CUDA_SUCCESS);
  CUstream stream = nullptr;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  Doubling doubling{memory};
  CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
  CHECK(doubling.enqueue(stream) == CUDA_SUCCESS);
  CUgraph graph = nullptr;
  CHECK(cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS);
  CUgraphExec executable = nullptr;
  CHECK(cuGraphInstantiate(&executable, graph, 0) == CUDA_SUCCESS);
  CHECK(doubling.runs == 0);
  CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
  for (int i = 0; i < 3; ++i) CHECK(cuGraphLaunch(executable, stream) == CUDA_SUCCESS);
  CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
  CHECK(read<int>(memory, 1) == std::vector<int>{8});
  CHECK(doubling.releases == 0);
  CHECK(cuGraphDestroy(graph) == CUDA_SUCCESS);
  CHECK(doubling.releases == 0);
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
  CHECK(doubling.releases == 1);
  CHECK(cuStreamDestroy(stream) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: another library's work that reads what nobody wrote fails") {
  const TestContext context;
  const TestMemory memory(4);
  CHECK(seam().check_write(memory, 4, "test") == CUDA_SUCCESS);
  CHECK(seam().check_write(memory, 5, "test") == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(seam().check_read(memory, 4, "test") == CUDA_ERROR_LAUNCH_FAILED);
  Doubling doubling{memory};
  CHECK(doubling.enqueue(nullptr) == CUDA_SUCCESS);
  CHECK(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED);
}

}  // namespace simgpu
