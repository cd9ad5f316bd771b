// A client of the simulated driver in a process of its own, for the tests of what the environment
// sets and of what is told at exit. Its argument says what it does.
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/simgpu/training_step.h"

namespace {

void require(CUresult result) {
  if (result == CUDA_SUCCESS) return;
  std::printf("error %d\n", static_cast<int>(result));
  std::exit(1);
}

/// Allocates what nobody frees.
void leak() {
  CUdeviceptr lost = 0, kept = 0;
  require(cuMemAlloc(&lost, 1234));
  require(cuMemAlloc(&kept, 5678));
  require(cuMemFree(kept));
}

/// The same, of which a kernel that fails has taken the means to free anything.
void fail() {
  constexpr const char* text =
      ".version 9.0\n.target sm_80\n.address_size 64\n.entry k() { trap; }";
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  require(cuModuleLoadData(&module, text));
  require(cuModuleGetFunction(&function, module, "k"));
  leak();
  require(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  std::printf("%d\n", static_cast<int>(cuCtxSynchronize()));
}

void say_profile() {
  char name[64];
  int multiprocessors = 0;
  require(cuDeviceGetName(name, sizeof name, 0));
  require(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  std::printf("%s, %d\n", name, multiprocessors);
}

/// Two streams write to the same place without an order between them: says who was last.
void race() {
  CUstream gate = nullptr, streams[2] = {};
  CUevent opened = nullptr;
  CUdeviceptr place = 0;
  std::atomic<bool> is_open{false};
  require(cuMemAlloc(&place, 4));
  require(cuStreamCreate(&gate, CU_STREAM_NON_BLOCKING));
  require(cuEventCreate(&opened, CU_EVENT_DISABLE_TIMING));
  require(cuLaunchHostFunc(
      gate,
      [](void* data) {
        while (!*static_cast<std::atomic<bool>*>(data)) std::this_thread::yield();
      },
      &is_open));
  require(cuEventRecord(opened, gate));
  for (unsigned i = 0; i < 2; ++i) {
    require(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    require(cuStreamWaitEvent(streams[i], opened, 0));
    require(cuMemsetD32Async(place, i, 1, streams[i]));
  }
  is_open = true;
  require(cuCtxSynchronize());
  unsigned last = 9;
  require(cuMemcpyDtoH(&last, place, 4));
  std::printf("%u\n", last);
}

/// What training of a small network gives, step by step and replayed.
void train() {
  const std::string ptx = simgpu::training_kernels();
  for (const auto launches : {simgpu::Launches::direct, simgpu::Launches::replayed})
    std::printf("%s\n", simgpu::text_of(simgpu::train(ptx, launches, 20)).c_str());
}

/// What a child is told that was forked beside a GPU in use, and how it ends.
void fork_off() {
  CUdeviceptr memory = 0;
  require(cuMemAlloc(&memory, 64));
  require(cuMemsetD8(memory, 1, 64));
  require(cuCtxSynchronize());
  const pid_t child = fork();
  if (child == 0) {
    CUdeviceptr none = 0;
    const CUresult init = cuInit(0), allocated = cuMemAlloc(&none, 64);
    std::exit(10 * static_cast<int>(init) + static_cast<int>(allocated));
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  require(cuMemFree(memory));
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count == 2 ? arguments[1] : "";
  CUcontext context = nullptr;
  require(cuInit(0));
  require(cuDevicePrimaryCtxRetain(&context, 0));
  require(cuCtxSetCurrent(context));
  if (what == "leak") leak();
  else if (what == "fail") fail();
  else if (what == "profile") say_profile();
  else if (what == "race") race();
  else if (what == "train") train();
  else if (what == "fork") fork_off();
  else return 2;
  return 0;
}
