// What programs do wrong, and what they do while it is in progress.
#include <array>
#include <chrono>

#include "tests/simgpu/client.h"

namespace simgpu {
namespace {

/// deep(to, depth): the sum of 1 to `depth`, by a function that calls itself as often.
constexpr const char* text = R"(
.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 result) sum(.param .b32 n) {
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  ld.param.u32 %r1, [n];
  mov.u32 %r4, 0;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra DONE;
  sub.u32 %r2, %r1, 1;
  {
    .param .b32 less;
    .param .b32 of_less;
    st.param.b32 [less], %r2;
    call.uni (of_less), sum, (less);
    ld.param.b32 %r3, [of_less];
  }
  add.u32 %r4, %r3, %r1;
DONE:
  st.param.b32 [result], %r4;
  ret;
}
.visible .entry deep(.param .u64 to, .param .u32 depth) {
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [depth];
  {
    .param .b32 all;
    .param .b32 of_all;
    st.param.b32 [all], %r1;
    call.uni (of_all), sum, (all);
    ld.param.b32 %r2, [of_all];
  }
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

/// late(to): counts to a million before it stores.
constexpr const char* late_kernel = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry late(.param .u64 to) {
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [to];
  mov.u32 %r1, 0;
AGAIN:
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 1000000;
  @%p1 bra AGAIN;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

CUresult launch(CUfunction function, CUstream stream, void** each, void** extra = nullptr) {
  return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, each, extra);
}

CUresult put(CUstream stream, CUfunction function, CUdeviceptr to, unsigned value) {
  void* each[] = {&to, &value};
  return launch(function, stream, each);
}

}  // namespace

TEST_CASE("simgpu driver: parameters are given each by itself, or all in a buffer") {
  const TestContext context;
  const CUfunction function = test_function(put_kernel, "put");
  const TestMemory memory(4);
  struct {
    CUdeviceptr to;
    unsigned value;
  } all{memory, 7};
  std::size_t bytes = 12, fewer = 8;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_BUFFER_POINTER, &all,
                   CU_LAUNCH_PARAM_END};
  CHECK(launch(function, nullptr, nullptr, extra) == CUDA_SUCCESS);
  CHECK(read<unsigned>(memory, 1) == std::vector<unsigned>{7});
  void* each[] = {&all.to, &all.value};
  CHECK(launch(function, nullptr, each, extra) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launch(function, nullptr, nullptr, nullptr) == CUDA_ERROR_INVALID_VALUE);
  void* lacking[] = {&all.to, nullptr};
  CHECK(launch(function, nullptr, lacking) == CUDA_ERROR_INVALID_VALUE);
  extra[1] = &fewer;
  CHECK(launch(function, nullptr, nullptr, extra) == CUDA_ERROR_INVALID_VALUE);
  void* no_size[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &all, CU_LAUNCH_PARAM_END};
  CHECK(launch(function, nullptr, nullptr, no_size) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("simgpu driver: a function runs in streams of its own context") {
  const TestContext a;
  const CUfunction function = test_function(put_kernel, "put");
  const TestMemory memory(4);
  const TestContext b;
  const TestStream stream;
  CHECK(put(stream, function, memory, 1) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(put(nullptr, function, memory, 1) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuMemcpyPeer(memory, a.get(), memory, nullptr, 4) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(cuMemsetD32(memory, 3, 1) == CUDA_SUCCESS);
  CHECK(cuMemcpyPeer(memory, a.get(), memory, b.get(), 4) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: functions call themselves as deep as the limit of the context allows") {
  const auto run = [](CUfunction function, CUdeviceptr to) {
    unsigned depth = 3000;
    void* each[] = {&to, &depth};
    CHECK(launch(function, nullptr, each) == CUDA_SUCCESS);
    return cuCtxSynchronize();
  };
  {
    const TestContext context;
    const TestMemory memory(4);
    const CUfunction function = test_function(text, "deep");
    CHECK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 512 << 10) == CUDA_SUCCESS);
    CHECK(run(function, memory) == CUDA_SUCCESS);
    CHECK(read<unsigned>(memory, 1) == std::vector<unsigned>{3000 * 3001 / 2});
  }
  const TestContext context;
  const TestMemory memory(4);
  std::size_t bytes = 0;
  CHECK(cuCtxGetLimit(&bytes, CU_LIMIT_STACK_SIZE) == CUDA_SUCCESS);
  CHECK(bytes == 1024);
  CHECK(run(test_function(text, "deep"), memory) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("simgpu driver: after a fault a program can still clear up") {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUgraph graph = nullptr;
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  REQUIRE(cuCtxCreate(&context, nullptr, 0, 0) == CUDA_SUCCESS);
  CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT) == CUDA_SUCCESS);
  CHECK(cuEventCreate(&event, 0) == CUDA_SUCCESS);
  CHECK(cuGraphCreate(&graph, 0) == CUDA_SUCCESS);
  CHECK(put(stream, test_function(put_kernel, "put"), 64, 1) == CUDA_SUCCESS);
  CHECK(cuStreamSynchronize(stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(cuEventRecord(event, stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(cuEventQuery(event) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdevice device = -1;
  CUcontext current = nullptr;
  CHECK(cuCtxGetDevice(&device) == CUDA_SUCCESS);
  CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS);
  CHECK(current == context);
  CHECK(cuCtxPopCurrent(&current) == CUDA_SUCCESS);
  CHECK(cuCtxPushCurrent(context) == CUDA_SUCCESS);
  CHECK(cuStreamDestroy(stream) == CUDA_SUCCESS);
  CHECK(cuEventDestroy(event) == CUDA_SUCCESS);
  CHECK(cuGraphDestroy(graph) == CUDA_SUCCESS);
  CHECK(cuCtxDestroy(context) == CUDA_SUCCESS);
  CHECK(cuCtxDestroy(context) == CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("simgpu driver: memory that a stream frees is gone for work that does not wait for it") {
  const TestContext context;
  const TestStream a, b;
  Gate gate;
  CUdeviceptr address = 0;
  CHECK(cuMemAllocAsync(&address, 4, a) == CUDA_SUCCESS);
  gate.close(a);
  CHECK(cuMemsetD32Async(address, 1, 1, a) == CUDA_SUCCESS);
  CHECK(cuMemFreeAsync(address, b) == CUDA_SUCCESS);
  CHECK(cuStreamSynchronize(b) == CUDA_SUCCESS);
  CHECK(cuMemFree(address) == CUDA_ERROR_INVALID_VALUE);
  gate.open();
  CHECK(cuStreamSynchronize(a) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("simgpu driver: memory is freed once, by its stream or with its context") {
  CUcontext first = nullptr;
  CUdeviceptr address = 0;
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  REQUIRE(cuCtxCreate(&first, nullptr, 0, 0) == CUDA_SUCCESS);
  CHECK(cuMemAlloc(&address, 4) == CUDA_SUCCESS);
  const TestContext second;
  const TestStream stream;
  Gate gate;
  gate.close(stream);
  CHECK(cuMemFreeAsync(address, stream) == CUDA_SUCCESS);
  CHECK(cuMemFree(address) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuCtxDestroy(first) == CUDA_SUCCESS);
  gate.open();
  CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: a function that occupancy asks may make calls") {
  const TestContext context;
  const CUfunction function = test_function(put_kernel, "put");
  int blocks = 0, threads = 0;
  const auto shared_of = [](int) -> std::size_t {
    CUdevice device = -1;
    return cuCtxGetDevice(&device) == CUDA_SUCCESS ? 1024 : std::size_t{1} << 40;
  };
  CHECK(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, function, shared_of, 0, 0) ==
        CUDA_SUCCESS);
  CHECK(threads > 0);
}

TEST_CASE("simgpu driver: a context may be destroyed while another thread copies") {
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  void* found = nullptr;
  REQUIRE(cuGetProcAddress("cuMemcpyHtoD", &found, CUDA_VERSION,
                           CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr) == CUDA_SUCCESS);
  const auto copy = reinterpret_cast<decltype(&cuMemcpyHtoD)>(found);
  for (int round = 0; round < 20; ++round) {
    CUcontext context = nullptr;
    CUdeviceptr address = 0;
    REQUIRE(cuCtxCreate(&context, nullptr, 0, 0) == CUDA_SUCCESS);
    CHECK(cuMemAlloc(&address, 4) == CUDA_SUCCESS);
    Gate gate;
    std::atomic<bool> is_closed{false};
    CUresult result = CUDA_SUCCESS;
    std::thread copies([&] {
      CHECK(cuCtxSetCurrent(context) == CUDA_SUCCESS);
      gate.close(CU_STREAM_PER_THREAD);
      is_closed = true;
      result = copy(address, &round, sizeof round);
    });
    while (!is_closed) std::this_thread::yield();
    std::thread opens([&] { gate.open(); });
    CHECK(cuCtxDestroy(context) == CUDA_SUCCESS);
    copies.join();
    opens.join();
    CHECK((result == CUDA_SUCCESS || result == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
           result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_ILLEGAL_ADDRESS));
  }
}

TEST_CASE("simgpu driver: a context may be destroyed while a library is unloaded") {
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  for (int round = 0; round < 10; ++round) {
    CUcontext context = nullptr;
    CUlibrary library = nullptr;
    REQUIRE(cuCtxCreate(&context, nullptr, 0, 0) == CUDA_SUCCESS);
    CHECK(cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0) ==
          CUDA_SUCCESS);
    Gate gate;
    gate.close(nullptr);
    std::thread unloads([&] { CHECK(cuLibraryUnload(library) == CUDA_SUCCESS); });
    std::thread opens([&] { gate.open(); });
    CHECK(cuCtxDestroy(context) == CUDA_SUCCESS);
    unloads.join();
    opens.join();
    CHECK(cuLibraryUnload(library) == CUDA_ERROR_INVALID_HANDLE);
  }
}

TEST_CASE("simgpu driver: memory stays until the kernel that runs is done") {
  const TestContext context;
  const CUfunction function = test_function(late_kernel, "late");
  const TestStream gated, other;
  CUdeviceptr address = 0;
  CHECK(cuMemAlloc(&address, 4) == CUDA_SUCCESS);
  Gate gate;
  gate.close(gated);
  std::atomic<bool> begins{false};
  std::thread frees([&] {
    CHECK(cuCtxSetCurrent(context.get()) == CUDA_SUCCESS);
    begins = true;
    CHECK(cuMemFree(address) == CUDA_SUCCESS);
  });
  while (!begins) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(10));  // it waits for the gate
  // From the event the device goes on to the kernel at once, so that it runs when the gate opens.
  Gate start;
  start.close(other);
  CUevent begun = nullptr;
  CHECK(cuEventCreate(&begun, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
  CHECK(cuEventRecord(begun, other) == CUDA_SUCCESS);
  void* each[] = {&address};
  CHECK(launch(function, other, each) == CUDA_SUCCESS);
  start.open();
  CHECK(cuEventSynchronize(begun) == CUDA_SUCCESS);
  gate.open();
  frees.join();
  CHECK(cuStreamSynchronize(other) == CUDA_SUCCESS);
  CHECK(cuEventDestroy(begun) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: of two threads that unregister memory, one does") {
  const TestContext context;
  std::array<int, 4> words{};
  CHECK(cuMemHostRegister(words.data(), sizeof words, 0) == CUDA_SUCCESS);
  Gate gate;
  gate.close(nullptr);
  std::array<CUresult, 2> results{};
  std::array<std::thread, 2> threads;
  for (std::size_t i = 0; i < threads.size(); ++i)
    threads[i] = std::thread([&, i] {
      CHECK(cuCtxSetCurrent(context.get()) == CUDA_SUCCESS);
      results[i] = cuMemHostUnregister(words.data());
    });
  gate.open();
  for (std::thread& thread : threads) thread.join();
  CHECK((results[0] == CUDA_SUCCESS) != (results[1] == CUDA_SUCCESS));
  CHECK(cuMemHostRegister(words.data(), sizeof words, 0) == CUDA_SUCCESS);
  CHECK(cuMemHostUnregister(words.data()) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: threads use a context at once, each its own stream") {
  const TestContext context;
  const CUfunction function = test_function(put_kernel, "put");
  std::array<std::thread, 4> threads;
  for (unsigned i = 0; i < threads.size(); ++i)
    threads[i] = std::thread([&, i] {
      CHECK(cuCtxSetCurrent(context.get()) == CUDA_SUCCESS);
      const TestStream stream;
      for (unsigned round = 0; round < 20; ++round) {
        CUdeviceptr address = 0;
        unsigned value = 0;
        CHECK(cuMemAllocAsync(&address, 4, stream) == CUDA_SUCCESS);
        CHECK(put(stream, function, address, i * 100 + round) == CUDA_SUCCESS);
        CHECK(cuMemcpyDtoHAsync(&value, address, 4, stream) == CUDA_SUCCESS);
        CHECK(cuMemFreeAsync(address, stream) == CUDA_SUCCESS);
        CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
        CHECK(value == i * 100 + round);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
}

}  // namespace simgpu
