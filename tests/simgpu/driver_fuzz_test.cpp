// Calls in random order with handles that are good, gone or none: whatever comes back, the driver
// stands, and a new context works.
#include <array>
#include <functional>
#include <random>

#include "tests/simgpu/client.h"

namespace simgpu {
namespace {

/// mark(): stores to the variable `marked` of its module.
constexpr const char* mark_kernel = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .u32 marked;
.visible .entry mark() {
  .reg .b32 %r<2>;
  mov.u32 %r1, 1;
  st.global.u32 [marked], %r1;
  ret;
}
)";

/// Handles of a type that the calls have given, and some that no call gave.
template <class Handle>
class Handles {
 public:
  explicit Handles(std::mt19937& random) : random_(random) {}
  Handle* fresh() { return &all_.emplace_back(); }
  Handle any() const { return all_[random_() % all_.size()]; }

 private:
  std::mt19937& random_;
  std::vector<Handle> all_{Handle{}, reinterpret_cast<Handle>(std::uintptr_t{1}),
                           reinterpret_cast<Handle>(std::uintptr_t{0x5302'0000'0000'0010})};
};

constexpr std::size_t most_threads = 3;

class Fuzz {
 public:
  /// \param thread of those that there are at once
  explicit Fuzz(unsigned seed, std::size_t thread = 0)
      : random_(seed), host_(host[thread]), pageable_(pageable[thread]) {
    cuMemHostAlloc(&pinned_, 5000, 0);
  }
  ~Fuzz() { cuMemFreeHost(pinned_); }
  Fuzz(const Fuzz&) = delete;
  Fuzz& operator=(const Fuzz&) = delete;

  void call() {
    const std::function<void()> calls[] = {
        [&] { cuStreamCreate(streams_.fresh(), number(2)); },
        [&] { cuStreamDestroy(streams_.any()); },
        [&] { cuStreamQuery(streams_.any()); },
        [&] { cuStreamSynchronize(streams_.any()); },
        [&] { cuStreamBeginCapture(streams_.any(), static_cast<CUstreamCaptureMode>(number(3))); },
        [&] { cuStreamEndCapture(streams_.any(), graphs_.fresh()); },
        [&] { cuStreamWaitEvent(streams_.any(), events_.any(), number(2)); },
        [&] {
          cuLaunchHostFunc(
              streams_.any(), [](void*) {}, nullptr);
        },
        [&] { cuEventCreate(events_.fresh(), number(4)); },
        [&] { cuEventDestroy(events_.any()); },
        [&] { cuEventRecordWithFlags(events_.any(), streams_.any(), number(2)); },
        [&] { cuEventQuery(events_.any()); },
        [&] { cuEventSynchronize(events_.any()); },
        [&] { cuMemAlloc(&addresses_[number(8)], number(5000)); },
        [&] { cuMemAllocAsync(&addresses_[number(8)], number(5000), streams_.any()); },
        [&] { cuMemFree(address()); },
        [&] { cuMemFreeAsync(address(), streams_.any()); },
        [&] { cuMemsetD8Async(address(), 1, number(5000), streams_.any()); },
        [&] { cuMemsetD2D32(address(), number(100), 1, number(40), number(40)); },
        [&] { cuMemcpyDtoDAsync(address(), address(), number(5000), streams_.any()); },
        [&] { cuMemcpyHtoDAsync(address(), host_memory(), number(5000), streams_.any()); },
        [&] { cuMemcpyDtoH(host_memory(), address(), number(5000)); },
        [&] { cuMemHostRegister(host_part(), 1 + number(900), number(16)); },
        [&] { cuMemHostUnregister(host_part()); },
        [&] { cuMemHostGetDevicePointer(&addresses_[number(8)], host_part(), 0); },
        [&] { cuGraphCreate(graphs_.fresh(), number(2)); },
        [&] { cuGraphClone(graphs_.fresh(), graphs_.any()); },
        [&] { cuGraphDestroy(graphs_.any()); },
        [&] { add_node(); },
        [&] { cuGraphDestroyNode(nodes_.any()); },
        [&] { add_edge(); },
        [&] { cuGraphInstantiate(executables_.fresh(), graphs_.any(), number(9)); },
        [&] { cuGraphLaunch(executables_.any(), streams_.any()); },
        [&] { cuGraphExecDestroy(executables_.any()); },
        [&] { update(); },
        [&] { cuModuleLoadData(modules_.fresh(), mark_kernel); },
        [&] { cuModuleGetFunction(functions_.fresh(), modules_.any(), "mark"); },
        [&] { cuModuleGetGlobal(&addresses_[number(8)], nullptr, modules_.any(), "marked"); },
        [&] { cuModuleUnload(modules_.any()); },
        [&] {
          cuLaunchKernel(functions_.any(), 1, 1, 1, 1 + number(32), 1, 1, 0, streams_.any(),
                         nullptr, nullptr);
        },
        [&] { cuCtxSynchronize(); },
    };
    calls[random_() % std::size(calls)]();
  }

 private:
  unsigned number(unsigned end) { return static_cast<unsigned>(random_() % end); }
  CUdeviceptr address() { return addresses_[number(8)] + (number(4) == 0 ? number(64) : 0); }
  /// Nothing that is registered: the device may be writing to that.
  void* host_memory() { return number(2) == 0 ? pinned_ : pageable_.data(); }
  char* host_part() { return host_.data() + 1000 * number(5); }
  void add_node() {
    const CUgraphNode after = nodes_.any();
    const std::size_t count = number(2);
    const CUgraph graph = graphs_.any();
    const CUDA_MEMSET_NODE_PARAMS set{address(), 0, 7, 1 + number(4), number(100), 1};
    CUcontext context = nullptr;
    cuCtxGetCurrent(&context);
    switch (number(4)) {
      case 0: cuGraphAddEmptyNode(nodes_.fresh(), graph, &after, count); break;
      case 1: cuGraphAddMemsetNode(nodes_.fresh(), graph, &after, count, &set, context); break;
      case 2: cuGraphAddChildGraphNode(nodes_.fresh(), graph, &after, count, graphs_.any()); break;
      default: cuGraphAddEventWaitNode(nodes_.fresh(), graph, &after, count, events_.any()); break;
    }
  }
  void add_edge() {
    const CUgraphNode from = nodes_.any(), to = nodes_.any();
    cuGraphAddDependencies(graphs_.any(), &from, &to, nullptr, 1);
  }
  void update() {
    CUgraphExecUpdateResultInfo info{};
    cuGraphExecUpdate(executables_.any(), graphs_.any(), &info);
  }

  std::mt19937 random_;
  Handles<CUstream> streams_{random_};
  Handles<CUevent> events_{random_};
  Handles<CUgraph> graphs_{random_};
  Handles<CUgraphNode> nodes_{random_};
  Handles<CUgraphExec> executables_{random_};
  Handles<CUmodule> modules_{random_};
  Handles<CUfunction> functions_{random_};
  CUdeviceptr addresses_[8] = {};
  using HostMemory = std::array<char, 5000>;
  /// For each thread. Work that is in a queue yet may touch what is registered.
  static inline std::array<HostMemory, most_threads> host{}, pageable{};
  HostMemory &host_, &pageable_;
  void* pinned_ = nullptr;
};

void check_that_it_stands(unsigned value) {
  const TestContext context;
  const TestMemory memory(4);
  CHECK(cuMemsetD32(memory, value, 1) == CUDA_SUCCESS);
  CHECK(read<unsigned>(memory, 1) == std::vector<unsigned>{value});
}

void check_seed(unsigned seed, int calls) {
  CAPTURE(seed);
  {
    const TestContext context;
    Fuzz fuzz(seed);
    for (int i = 0; i < calls; ++i) fuzz.call();
  }
  check_that_it_stands(seed);
}

/// Threads use a context until it is destroyed, and a few calls longer.
void check_threads(unsigned seed, int calls) {
  CAPTURE(seed);
  CUcontext context = nullptr;
  REQUIRE(cuCtxCreate(&context, nullptr, 0, 0) == CUDA_SUCCESS);
  std::atomic<int> made{0};
  std::array<std::thread, most_threads> threads;
  for (std::size_t thread = 0; thread < threads.size(); ++thread)
    threads[thread] = std::thread([&, thread] {
      cuCtxSetCurrent(context);
      Fuzz fuzz(seed + static_cast<unsigned>(thread), thread);
      for (int i = 0; i < calls; ++i, ++made) fuzz.call();
    });
  while (made < calls) std::this_thread::yield();
  CHECK(cuCtxDestroy(context) == CUDA_SUCCESS);
  for (std::thread& thread : threads) thread.join();
  check_that_it_stands(seed);
}

}  // namespace

TEST_CASE("simgpu driver: calls in any order leave it standing") {
  for (unsigned seed = 0; seed < 20; ++seed) check_seed(seed, 400);
}

TEST_CASE("simgpu driver: calls of threads in any order leave it standing") {
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  for (unsigned seed = 0; seed < 10; ++seed) check_threads(seed, 300);
}

TEST_SUITE("fuzz_long") {
  TEST_CASE("simgpu driver: many calls in any order") {
    for (unsigned seed = 1000; seed < 4000; ++seed) check_seed(seed, 1000);
  }
  TEST_CASE("simgpu driver: many calls of threads in any order") {
    REQUIRE(cuInit(0) == CUDA_SUCCESS);
    for (unsigned seed = 1000; seed < 2000; ++seed) check_threads(seed, 600);
  }
}

}  // namespace simgpu
