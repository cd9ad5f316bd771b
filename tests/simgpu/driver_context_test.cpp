#include <thread>

#include "tests/simgpu/client.h"

namespace simgpu {
namespace {

CUcontext current() {
  CUcontext context = nullptr;
  CHECK(cuCtxGetCurrent(&context) == CUDA_SUCCESS);
  return context;
}

}  // namespace

TEST_CASE("simgpu driver: the primary context lives while it is retained") {
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  unsigned flags = 0;
  int active = -1;
  CHECK(cuDevicePrimaryCtxGetState(0, &flags, &active) == CUDA_SUCCESS);
  CHECK(active == 0);
  CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_ERROR_INVALID_CONTEXT);
  CUcontext first = nullptr, second = nullptr;
  CHECK(cuDevicePrimaryCtxRetain(&first, 0) == CUDA_SUCCESS);
  CHECK(cuDevicePrimaryCtxRetain(&second, 0) == CUDA_SUCCESS);
  CHECK(first == second);
  CHECK(cuDevicePrimaryCtxRetain(&second, 3) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(cuCtxDestroy(first) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS);
  CHECK(cuDevicePrimaryCtxGetState(0, &flags, &active) == CUDA_SUCCESS);
  CHECK(active == 1);
  CHECK(cuCtxSetCurrent(first) == CUDA_SUCCESS);
  CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS);
  CHECK(cuCtxSynchronize() == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK(cuDevicePrimaryCtxRetain(&second, 0) == CUDA_SUCCESS);
  CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
  CHECK(cuDevicePrimaryCtxReset(0) == CUDA_SUCCESS);
  CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS);
  CHECK(cuCtxSetCurrent(nullptr) == CUDA_SUCCESS);
  CHECK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD) == CUDA_SUCCESS);
  CHECK(cuDevicePrimaryCtxGetState(0, &flags, &active) == CUDA_SUCCESS);
  CHECK(flags == CU_CTX_SCHED_YIELD);
  CHECK(cuDevicePrimaryCtxSetFlags(0, 0) == CUDA_SUCCESS);
  CHECK(cuDevicePrimaryCtxSetFlags(0, 0x1000) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("simgpu driver: each thread has a stack of contexts") {
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  CHECK(cuCtxSynchronize() == CUDA_ERROR_INVALID_CONTEXT);
  CUcontext popped = nullptr;
  CHECK(cuCtxPopCurrent(&popped) == CUDA_ERROR_INVALID_CONTEXT);
  const TestContext a;
  CHECK(current() == a.get());
  {
    const TestContext b;
    CHECK(current() == b.get());
    CHECK(cuCtxPopCurrent(&popped) == CUDA_SUCCESS);
    CHECK(popped == b.get());
    CHECK(current() == a.get());
    CHECK(cuCtxPushCurrent(b.get()) == CUDA_SUCCESS);
    std::thread([] {
      CHECK(current() == nullptr);
      CHECK(cuCtxSynchronize() == CUDA_ERROR_INVALID_CONTEXT);
    }).join();
  }
  CHECK(current() == a.get());
  CHECK(cuCtxPushCurrent(reinterpret_cast<CUcontext>(std::uintptr_t{12345})) ==
        CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("simgpu driver: a context has limits, flags and priorities") {
  const TestContext context;
  std::size_t bytes = 0;
  CHECK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096) == CUDA_SUCCESS);
  CHECK(cuCtxGetLimit(&bytes, CU_LIMIT_STACK_SIZE) == CUDA_SUCCESS);
  CHECK(bytes == 4096);
  CHECK(cuCtxGetLimit(&bytes, unknown<CUlimit>(99)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuCtxGetLimit(&bytes, CU_LIMIT_CIG_ENABLED) == CUDA_ERROR_UNSUPPORTED_LIMIT);
  unsigned version = 0;
  CHECK(cuCtxGetApiVersion(context.get(), &version) == CUDA_SUCCESS);
  CHECK(version >= 3020);
  int least = 0, greatest = 0;
  CHECK(cuCtxGetStreamPriorityRange(&least, &greatest) == CUDA_SUCCESS);
  CHECK(least == 0);
  CHECK(greatest == -5);
  CUdevice device = -1;
  CHECK(cuCtxGetDevice(&device) == CUDA_SUCCESS);
  CHECK(device == 0);
}

TEST_CASE("simgpu driver: what was destroyed with its context is known as such") {
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUcontext destroyed = nullptr;
  {
    const TestContext context;
    destroyed = context.get();
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT) == CUDA_SUCCESS);
    CHECK(cuEventCreate(&event, 0) == CUDA_SUCCESS);
  }
  CHECK(cuCtxSetCurrent(destroyed) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(cuStreamSynchronize(stream) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuEventQuery(event) == CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace simgpu
