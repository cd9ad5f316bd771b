#include <atomic>
#include <mutex>
#include <thread>

#include "tests/simgpu/client.h"

namespace simgpu {
namespace {

/// The order in which host functions ran.
struct Order {
  std::mutex mutex;
  std::vector<int> numbers;
};
struct Mark {
  Order* order;
  int number;
  static void make(void* data) {
    const auto* mark = static_cast<Mark*>(data);
    const std::lock_guard lock(mark->order->mutex);
    mark->order->numbers.push_back(mark->number);
  }
};

}  // namespace

TEST_CASE("simgpu driver: streams have properties, and end") {
  const TestContext context;
  CUstream stream = nullptr;
  CHECK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -99) == CUDA_SUCCESS);
  unsigned flags = 0;
  int priority = 0;
  CUcontext of = nullptr;
  CHECK(cuStreamGetFlags(stream, &flags) == CUDA_SUCCESS);
  CHECK(flags == CU_STREAM_NON_BLOCKING);
  CHECK(cuStreamGetPriority(stream, &priority) == CUDA_SUCCESS);
  CHECK(priority == -5);
  CHECK(cuStreamGetCtx(stream, &of) == CUDA_SUCCESS);
  CHECK(of == context.get());
  CHECK(cuStreamQuery(stream) == CUDA_SUCCESS);
  CHECK(cuStreamDestroy(stream) == CUDA_SUCCESS);
  CHECK(cuStreamDestroy(stream) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuStreamQuery(stream) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuStreamDestroy(nullptr) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuStreamQuery(reinterpret_cast<CUstream>(std::uintptr_t{0x1234})) ==
        CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuStreamCreate(&stream, 8) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("simgpu driver: a stream does its work in order, and says when it is done") {
  const TestContext context;
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  Gate gate;
  Order order;
  Mark marks[] = {{&order, 0}, {&order, 1}, {&order, 2}};
  CHECK(cuLaunchHostFunc(stream, Gate::wait, &gate) == CUDA_SUCCESS);
  for (Mark& mark : marks) CHECK(cuLaunchHostFunc(stream, Mark::make, &mark) == CUDA_SUCCESS);
  CHECK(cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
  gate.open();
  CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
  CHECK(cuStreamQuery(stream) == CUDA_SUCCESS);
  CHECK(order.numbers == std::vector<int>{0, 1, 2});
}

TEST_CASE("simgpu driver: the legacy stream and blocking streams wait for each other") {
  const TestContext context;
  const TestStream blocking(CU_STREAM_DEFAULT), other(CU_STREAM_NON_BLOCKING);
  Gate gate;
  const TestMemory memory(4);
  CHECK(cuMemsetD32(memory, 1, 1) == CUDA_SUCCESS);
  CHECK(cuStreamSynchronize(nullptr) == CUDA_SUCCESS);
  CHECK(cuLaunchHostFunc(blocking, Gate::wait, &gate) == CUDA_SUCCESS);
  CHECK(cuMemsetD32Async(memory, 2, 1, nullptr) == CUDA_SUCCESS);
  CHECK(cuStreamQuery(nullptr) == CUDA_ERROR_NOT_READY);
  CHECK(cuStreamQuery(CU_STREAM_LEGACY) == CUDA_ERROR_NOT_READY);
  // What does not take part sees the memory as it was.
  unsigned value = 0;
  CHECK(cuMemcpyDtoHAsync(&value, memory, 4, other) == CUDA_SUCCESS);
  CHECK(value == 1);
  gate.open();
  CHECK(cuStreamSynchronize(nullptr) == CUDA_SUCCESS);
  CHECK(read<unsigned>(memory, 1) == std::vector<unsigned>{2});
}

TEST_CASE("simgpu driver: the default stream of a thread is its own") {
  const TestContext context;
  Gate gate;
  CHECK(cuLaunchHostFunc(CU_STREAM_PER_THREAD, Gate::wait, &gate) == CUDA_SUCCESS);
  CHECK(cuStreamQuery(CU_STREAM_PER_THREAD) == CUDA_ERROR_NOT_READY);
  std::thread([&] {
    CHECK(cuCtxSetCurrent(context.get()) == CUDA_SUCCESS);
    CHECK(cuStreamQuery(CU_STREAM_PER_THREAD) == CUDA_SUCCESS);
  }).join();
  gate.open();
  CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: events order streams and mark time") {
  const TestContext context;
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  CUevent before = nullptr, after = nullptr, untimed = nullptr;
  CHECK(cuEventCreate(&before, CU_EVENT_DEFAULT) == CUDA_SUCCESS);
  CHECK(cuEventCreate(&after, CU_EVENT_BLOCKING_SYNC) == CUDA_SUCCESS);
  CHECK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
  float elapsed = -1;
  CHECK(cuEventElapsedTime(&elapsed, before, after) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuEventQuery(before) == CUDA_SUCCESS);
  CHECK(cuEventSynchronize(before) == CUDA_SUCCESS);
  Gate gate;
  Order order;
  Mark first{&order, 1}, second{&order, 2};
  CHECK(cuEventRecord(before, a) == CUDA_SUCCESS);
  CHECK(cuLaunchHostFunc(a, Gate::wait, &gate) == CUDA_SUCCESS);
  CHECK(cuLaunchHostFunc(a, Mark::make, &first) == CUDA_SUCCESS);
  CHECK(cuEventRecord(after, a) == CUDA_SUCCESS);
  CHECK(cuStreamWaitEvent(b, after, 0) == CUDA_SUCCESS);
  CHECK(cuLaunchHostFunc(b, Mark::make, &second) == CUDA_SUCCESS);
  CHECK(cuEventQuery(after) == CUDA_ERROR_NOT_READY);
  CHECK(cuStreamQuery(b) == CUDA_ERROR_NOT_READY);
  CHECK(cuEventElapsedTime(&elapsed, before, after) == CUDA_ERROR_NOT_READY);
  gate.open();
  CHECK(cuStreamSynchronize(b) == CUDA_SUCCESS);
  CHECK(order.numbers == std::vector<int>{1, 2});
  CHECK(cuEventSynchronize(after) == CUDA_SUCCESS);
  CHECK(cuEventElapsedTime(&elapsed, before, after) == CUDA_SUCCESS);
  CHECK(elapsed >= 0);
  CHECK(cuEventRecord(untimed, a) == CUDA_SUCCESS);
  CHECK(cuEventElapsedTime(&elapsed, before, untimed) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuEventDestroy(before) == CUDA_SUCCESS);
  CHECK(cuEventQuery(before) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuEventRecord(before, a) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuEventCreate(&before, 0x80) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("simgpu driver: pageable memory is read when the copy is asked for") {
  const TestContext context;
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  Gate gate;
  const TestMemory a(4), b(4);
  int pageable = 1;
  void* pinned = nullptr;
  CHECK(cuMemAllocHost(&pinned, 4) == CUDA_SUCCESS);
  *static_cast<int*>(pinned) = 1;
  CHECK(cuLaunchHostFunc(stream, Gate::wait, &gate) == CUDA_SUCCESS);
  CHECK(cuMemcpyHtoDAsync(a, &pageable, 4, stream) == CUDA_SUCCESS);
  CHECK(cuMemcpyHtoDAsync(b, pinned, 4, stream) == CUDA_SUCCESS);
  pageable = 2;
  *static_cast<int*>(pinned) = 2;
  gate.open();
  CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
  CHECK(read<int>(a, 1) == std::vector<int>{1});
  CHECK(read<int>(b, 1) == std::vector<int>{2});
  CHECK(cuMemFreeHost(pinned) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: functions of the host may wait for each other, and make no calls") {
  const TestContext context;
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  Gate gate;
  CHECK(cuLaunchHostFunc(a, Gate::wait, &gate) == CUDA_SUCCESS);
  CHECK(cuLaunchHostFunc(
            b, [](void* data) { static_cast<Gate*>(data)->open(); }, &gate) == CUDA_SUCCESS);
  CHECK(cuStreamSynchronize(a) == CUDA_SUCCESS);
  std::atomic<int> result{-1};
  CHECK(cuLaunchHostFunc(
            a, [](void* data) { *static_cast<std::atomic<int>*>(data) = cuCtxSynchronize(); },
            &result) == CUDA_SUCCESS);
  CHECK(cuStreamSynchronize(a) == CUDA_SUCCESS);
  CHECK(result == CUDA_ERROR_NOT_PERMITTED);
  CHECK(cuLaunchHostFunc(a, nullptr, nullptr) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("simgpu driver: a callback is told how the stream is") {
  const TestContext context;
  const TestStream stream(CU_STREAM_DEFAULT);
  std::atomic<int> status{-1};
  CHECK(cuStreamAddCallback(
            stream,
            [](CUstream, CUresult result, void* data) {
              *static_cast<std::atomic<int>*>(data) = result;
            },
            &status, 0) == CUDA_SUCCESS);
  CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
  CHECK(status == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: what is in a stream is done after its end") {
  const TestContext context;
  CUstream stream = nullptr;
  CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT) == CUDA_SUCCESS);
  Gate gate;
  Order order;
  Mark mark{&order, 1};
  CHECK(cuLaunchHostFunc(stream, Gate::wait, &gate) == CUDA_SUCCESS);
  CHECK(cuLaunchHostFunc(stream, Mark::make, &mark) == CUDA_SUCCESS);
  CHECK(cuStreamDestroy(stream) == CUDA_SUCCESS);
  CHECK(order.numbers.empty());
  gate.open();
  CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
  CHECK(order.numbers == std::vector<int>{1});
}

}  // namespace simgpu
