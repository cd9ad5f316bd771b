// Memory of the host that kernels work on: what cuMemHostAlloc gave, and what the program
// registered.
#include <memory>

#include "tests/simgpu/client.h"

namespace simgpu {
namespace {

/// change(at): adds 1 to a word; look(to, at): copies it.
constexpr const char* text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry change(.param .u64 at) {
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [at];
  ld.global.u32 %r1, [%rd1];
  add.s32 %r2, %r1, 1;
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry count(.param .u64 at) {
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [at];
  red.add.u32 [%rd1], 1;
  ret;
}
.visible .entry look(.param .u64 to, .param .u64 at) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [at];
  ld.u32 %r1, [%rd2];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

/// What comes of it at the end.
CUresult run(const char* name, CUdeviceptr first, CUdeviceptr second = 0, unsigned threads = 1) {
  const CUfunction function = test_function(text, name);
  void* parameters[] = {&first, &second};
  const CUresult launched =
      cuLaunchKernel(function, 2, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr);
  return launched == CUDA_SUCCESS ? cuCtxSynchronize() : launched;
}
/// By one thread of one block.
CUresult run_once(const char* name, CUdeviceptr first, CUdeviceptr second = 0) {
  const CUfunction function = test_function(text, name);
  void* parameters[] = {&first, &second};
  const CUresult launched =
      cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr);
  return launched == CUDA_SUCCESS ? cuCtxSynchronize() : launched;
}

CUdeviceptr device_pointer(void* host) {
  CUdeviceptr address = 0;
  REQUIRE(cuMemHostGetDevicePointer(&address, host, 0) == CUDA_SUCCESS);
  return address;
}

/// Words of the program, registered while it lives.
struct Registered {
  explicit Registered(unsigned flags) {
    REQUIRE(cuMemHostRegister(&words[1], 8, flags) == CUDA_SUCCESS);
  }
  ~Registered() { cuMemHostUnregister(&words[1]); }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  int words[5] = {10, 20, 30, 40, 50};
};

}  // namespace

TEST_CASE("simgpu driver: kernels work on pinned memory, within its bounds") {
  for (const unsigned flags :
       {0u, unsigned{CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE}}) {
    const TestContext context;
    void* host = nullptr;
    REQUIRE(cuMemHostAlloc(&host, 8, flags) == CUDA_SUCCESS);
    auto* words = static_cast<int*>(host);
    words[0] = 10;
    words[1] = 20;
    const CUdeviceptr at = device_pointer(host);
    CHECK(run_once("change", at + 4) == CUDA_SUCCESS);
    CHECK(run("count", at, 0, 40) == CUDA_SUCCESS);
    CHECK(words[0] == 90);
    CHECK(words[1] == 21);
    CHECK(run_once("change", at + 8) == CUDA_ERROR_ILLEGAL_ADDRESS);
  }
  const TestContext context;
  void* host = nullptr;
  REQUIRE(cuMemAllocHost(&host, 8) == CUDA_SUCCESS);
  const CUdeviceptr at = device_pointer(host);
  REQUIRE(cuMemFreeHost(host) == CUDA_SUCCESS);
  CHECK(run_once("count", at) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("simgpu driver: kernels work on registered memory, within its bounds") {
  for (const unsigned flags : {0u, unsigned{CU_MEMHOSTREGISTER_DEVICEMAP}}) {
    const TestContext context;
    Registered memory(flags);
    const CUdeviceptr at = device_pointer(&memory.words[1]);
    CHECK(device_pointer(&memory.words[2]) == at + 4);
    CHECK(run_once("change", at + 4) == CUDA_SUCCESS);
    CHECK(run("count", at, 0, 40) == CUDA_SUCCESS);
    CHECK(memory.words[1] == 100);
    CHECK(memory.words[2] == 31);
    const TestMemory other(4);
    CHECK(run_once("look", other, at) == CUDA_SUCCESS);
    CHECK(read<int>(other, 1) == std::vector<int>{100});
    unsigned got = 9;
    CHECK(cuMemHostGetFlags(&got, &memory.words[1]) == CUDA_SUCCESS);
    CHECK(got == flags);
  }
  for (const int offset : {-4, 6, 8}) {
    CAPTURE(offset);
    const TestContext context;
    Registered memory(0);
    const CUdeviceptr at = device_pointer(&memory.words[1]);
    const CUresult wrong = offset == 6 ? CUDA_ERROR_MISALIGNED_ADDRESS : CUDA_ERROR_ILLEGAL_ADDRESS;
    CHECK(run_once("change", at + static_cast<CUdeviceptr>(offset)) == wrong);
    CHECK(memory.words[0] == 10);
    CHECK(memory.words[3] == 40);
  }
}

TEST_CASE("simgpu driver: memory registered for reading is not written") {
  const TestContext context;
  Registered memory(CU_MEMHOSTREGISTER_READ_ONLY);
  const CUdeviceptr at = device_pointer(&memory.words[1]);
  const TestMemory other(4);
  CHECK(run_once("look", other, at) == CUDA_SUCCESS);
  CHECK(run_once("change", at) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(memory.words[1] == 20);
}

TEST_CASE("simgpu driver: what is unregistered is out of reach") {
  int words[2] = {1, 2};
  CUdeviceptr at = 0;
  {
    const TestContext context;
    REQUIRE(cuMemHostRegister(words, 8, CU_MEMHOSTREGISTER_PORTABLE) == CUDA_SUCCESS);
    at = device_pointer(words);
    REQUIRE(cuMemHostUnregister(words) == CUDA_SUCCESS);
    CUdeviceptr none = 0;
    CHECK(cuMemHostGetDevicePointer(&none, words, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(run_once("change", at) == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(words[0] == 1);
  }
  // Registered again, in part, until the context is gone.
  auto context = std::make_unique<TestContext>();
  REQUIRE(cuMemHostRegister(words + 1, 4, 0) == CUDA_SUCCESS);
  CHECK(run_once("change", at + 4) == CUDA_SUCCESS);
  CHECK(words[1] == 3);
  CHECK(run_once("change", at) == CUDA_ERROR_ILLEGAL_ADDRESS);
  context = nullptr;
  context = std::make_unique<TestContext>();
  CHECK(cuMemHostUnregister(words + 1) == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  CHECK(run_once("change", at + 4) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("simgpu driver: copies and sets take registered memory as the device's") {
  const TestContext context;
  Registered memory(0);
  const CUdeviceptr at = device_pointer(&memory.words[1]);
  const TestMemory other(8);
  CHECK(cuMemcpyDtoD(other, at, 8) == CUDA_SUCCESS);
  CHECK(read<int>(other, 2) == std::vector<int>{20, 30});
  CHECK(cuMemsetD32(at, 7, 2) == CUDA_SUCCESS);
  CHECK(memory.words[2] == 7);
  CHECK(cuMemsetD32(at, 7, 3) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemcpyDtoD(other, at + 4, 8) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemcpyDtoD(at, other, 4) == CUDA_SUCCESS);
  CHECK(memory.words[1] == 20);
  CHECK(memory.words[3] == 40);
  CUdeviceptr found = 0;
  CHECK(cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at) == CUDA_SUCCESS);
  CHECK(found == at);
}

}  // namespace simgpu
