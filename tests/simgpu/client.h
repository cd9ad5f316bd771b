/// \file
/// For the programs that the simulated driver is tested with: written against the toolkit's own
/// header, which they call through libcuda.so.1 as the loader finds it.
#pragma once

#include <cuda.h>
#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace simgpu {

/// A context that is current while it lives, and was not there before.
class TestContext {
 public:
  TestContext() {
    REQUIRE(cuInit(0) == CUDA_SUCCESS);
    REQUIRE(cuCtxCreate(&context_, nullptr, 0, 0) == CUDA_SUCCESS);
  }
  ~TestContext() { cuCtxDestroy(context_); }
  TestContext(const TestContext&) = delete;
  TestContext& operator=(const TestContext&) = delete;
  CUcontext get() const { return context_; }

 private:
  CUcontext context_ = nullptr;
};

/// Memory of the device for the length of a test.
class TestMemory {
 public:
  explicit TestMemory(std::size_t bytes) { REQUIRE(cuMemAlloc(&address_, bytes) == CUDA_SUCCESS); }
  ~TestMemory() { cuMemFree(address_); }
  TestMemory(const TestMemory&) = delete;
  TestMemory& operator=(const TestMemory&) = delete;
  operator CUdeviceptr() const { return address_; }

 private:
  CUdeviceptr address_ = 0;
};

class TestStream {
 public:
  explicit TestStream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    REQUIRE(cuStreamCreate(&stream_, flags) == CUDA_SUCCESS);
  }
  ~TestStream() { cuStreamDestroy(stream_); }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  operator CUstream() const { return stream_; }

 private:
  CUstream stream_ = nullptr;
};

/// A host function that waits until it is let go.
class Gate {
 public:
  void open() { is_open_ = true; }
  static void wait(void* gate) {
    while (!static_cast<Gate*>(gate)->is_open_) std::this_thread::yield();
  }
  /// What is put into the stream from now on waits.
  void close(CUstream stream) { REQUIRE(cuLaunchHostFunc(stream, wait, this) == CUDA_SUCCESS); }

 private:
  std::atomic<bool> is_open_{false};
};

/// A number that the header does not name.
template <class Enumeration>
Enumeration unknown(int value) {
  static_assert(sizeof(Enumeration) == sizeof value);
  Enumeration made;
  std::memcpy(&made, &value, sizeof made);
  return made;
}

/// put(to, value): one thread stores.
inline constexpr const char* put_kernel = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry put(.param .u64 to, .param .u32 value) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [value];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

/// A function of PTX text, in a module of its own.
inline CUfunction test_function(const char* ptx, const char* name) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  REQUIRE(cuModuleLoadData(&module, ptx) == CUDA_SUCCESS);
  REQUIRE(cuModuleGetFunction(&function, module, name) == CUDA_SUCCESS);
  return function;
}

template <class T>
std::vector<T> read(CUdeviceptr from, std::size_t count) {
  std::vector<T> values(count);
  REQUIRE(cuMemcpyDtoH(values.data(), from, count * sizeof(T)) == CUDA_SUCCESS);
  return values;
}

}  // namespace simgpu
