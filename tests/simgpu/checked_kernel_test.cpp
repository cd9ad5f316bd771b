// Kernels of CUDA C++ that commit a fault, each beside its nearest right neighbour; and right
// kernels that order accesses between blocks in the ways that published code does.
#include <doctest/doctest.h>

#include <string>

#include "tests/simgpu/kernel_case.h"

namespace simgpu {

TEST_CASE("simgpu kernels: a loop that runs one too far" * doctest::skip(!has_nvrtc())) {
  KernelCase c(
      kernel("for (int at = i; at < n; at += gridDim.x * blockDim.x)\n    data[at] += 1;"));
  CHECK(c.run(4, 128, 4096) == nothing);
  CHECK(c.run(4, 128, 4097) == FaultKind::out_of_bounds);
  CHECK(c.text.find("0 bytes behind the end of allocation") != std::string::npos);
  CHECK(c.text.find("kernel k, ld.global") != std::string::npos);
  CHECK(c.text.find("block (0, 0, 0) of (4, 1, 1), thread (0, 0, 0) of (128, 1, 1)") !=
        std::string::npos);
  CHECK(c.text.find(":5") != std::string::npos);  // of the source
}

TEST_CASE("simgpu kernels: a sum in shared memory with a barrier in each step, or all but one" *
          doctest::skip(!has_nvrtc())) {
  const std::string body = R"(
  __shared__ int sums[256];
  sums[t] = data[i];
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
    if (step != n) __syncthreads();
  }
  if (t == 0) more[b] = sums[0];)";
  KernelCase c(kernel(body));
  CHECK(c.run(16, 256) == nothing);
  CHECK(c.word(c.more, 1) == 256 * 256 + 255 * 128);
  CHECK(c.run(16, 256, 64) == FaultKind::shared_race);
}

TEST_CASE("simgpu kernels: a tile that is used again needs a barrier behind its use" *
          doctest::skip(!has_nvrtc())) {
  const std::string body = R"(
  __shared__ int tile[128];
  int sum = 0;
  for (int k = 0; k < 8; ++k) {
    tile[t] = data[k * 128 + t];
    __syncthreads();
    for (int j = 0; j < 128; ++j) sum += tile[j] * j;
    if (n == 0) __syncthreads();
  }
  more[i] = sum;)";
  KernelCase c(kernel(body));
  CHECK(c.run(8, 128) == nothing);
  CHECK(c.run(8, 128, 1) == FaultKind::shared_race);
}

TEST_CASE("simgpu kernels: who arrives at a barrier does not know that others have come" *
          doctest::skip(!has_nvrtc())) {
  const std::string body = R"(
  __shared__ int box[2][32];
  int sum = 0;
  for (int k = 0; k < 8; ++k) {
    if (t < 32) {
      if (k >= 2 && n == 0) asm volatile("bar.sync %0, 64;" :: "r"(3 + k % 2) : "memory");
      box[k % 2][t] = data[k * 32 + t];
      asm volatile("bar.arrive %0, 64;" :: "r"(1 + k % 2) : "memory");
    } else {
      asm volatile("bar.sync %0, 64;" :: "r"(1 + k % 2) : "memory");
      sum += box[k % 2][63 - t];
      if (k < 6 && n == 0) asm volatile("bar.arrive %0, 64;" :: "r"(3 + k % 2) : "memory");
    }
  }
  more[i] = sum;)";
  KernelCase c(kernel(body));
  CHECK(c.run(2, 64) == nothing);
  CHECK(c.word(c.more, 63) == 32 * 28);
  CHECK(c.run(2, 64, 1) == FaultKind::shared_race);
}

TEST_CASE("simgpu kernels: shared and local memory that nobody has written" *
          doctest::skip(!has_nvrtc())) {
  KernelCase shared(kernel(R"(
  extern __shared__ int tile[];
  for (int at = t; at < n; at += blockDim.x) tile[at] = at;
  __syncthreads();
  more[i] = tile[t];)"));
  CHECK(shared.run(2, 128, 128, 512) == nothing);
  CHECK(shared.run(2, 128, 127, 512) == FaultKind::uninitialised);
  CHECK(shared.run(2, 128, 129, 512) == FaultKind::out_of_bounds);
  KernelCase local(kernel(R"(
  int own[8];
  for (int k = 0; k < n; ++k) own[data[k] % 8] = k;
  more[i] = own[data[t % 8] % 8];)"));
  CHECK(local.run(2, 128, 8) == nothing);
  CHECK(local.run(2, 128, 7) == FaultKind::uninitialised);
  KernelCase longer(kernel("int own[8] = {};\n  own[t + n] = 1;\n  more[i] = own[t % 8];"));
  CHECK(longer.run(1, 8) == nothing);
  CHECK(longer.run(1, 8, 1) == FaultKind::wrong_space);
  CHECK(longer.text.find("at offset 32 of the 32 bytes of local memory of its thread") !=
        std::string::npos);
}

TEST_CASE("simgpu kernels: vectors at an address that is no multiple of their size" *
          doctest::skip(!has_nvrtc())) {
  KernelCase c(kernel("reinterpret_cast<int4*>(more + n)[i] = reinterpret_cast<int4*>(data)[i];"));
  CHECK(c.run(2, 64, 4) == nothing);
  CHECK(c.run(2, 64, 2) == FaultKind::misaligned);
}

TEST_CASE("simgpu kernels: blocks that write the same, plainly or by atomics" *
          doctest::skip(!has_nvrtc())) {
  KernelCase c(kernel("if (n == 0) atomicAdd(more + t, data[i]);\n  else more[t] += data[i];"));
  CHECK(c.run(8, 64) == nothing);
  CHECK(c.word(c.more, 1) == 8 * 1 + 64 * 28);
  CHECK(c.run(8, 64, 1) == FaultKind::global_race);
}

TEST_CASE("simgpu kernels: the last block adds up" * doctest::skip(!has_nvrtc())) {
  const std::string body = R"(
  __shared__ int sum;
  __shared__ bool is_last;
  if (t == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, data[i]);
  __syncthreads();
  if (t == 0) {
    more[b] = sum;
    if (n == 0) __threadfence();
    is_last = atomicInc(reinterpret_cast<unsigned*>(more + 2048), gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  if (t == 0) sum = 0;
  __syncthreads();
  for (int k = t; k < gridDim.x; k += blockDim.x) atomicAdd(&sum, more[k]);
  __syncthreads();
  if (t == 0) more[2049] = sum;)";
  KernelCase c(kernel(body));
  CHECK(c.run(40, 96) == nothing);
  CHECK(c.word(c.more, 2049) == 3840 * 3839 / 2);
  CHECK(c.run(40, 96, 1) == FaultKind::global_race);
}

TEST_CASE("simgpu kernels: the last block sets the counter back" * doctest::skip(!has_nvrtc())) {
  const std::string body = R"(
  __shared__ unsigned ticket;
  more[1 + i] = data[i];
  __threadfence();
  __syncthreads();
  if (t == 0) ticket = atomicInc(reinterpret_cast<unsigned*>(more), gridDim.x);
  __syncthreads();
  if (n == 1 && ticket == 3 && t == 33) more[0] = 0;
  if (ticket != gridDim.x - 1) return;
  int sum = 0;
  for (int at = t; at < gridDim.x * blockDim.x; at += blockDim.x) sum += more[1 + at];
  data[t] = sum;
  if (t == 33) more[0] = 0;)";
  KernelCase c(kernel(body));
  CHECK(c.run(8, 64) == nothing);
  CHECK(c.word(c.data, 3) == 8 * 3 + 64 * 28);
  CHECK(c.word(c.more, 0) == 0);
  CHECK(c.run(8, 64, 1) == FaultKind::global_race);  // another block does it
}

TEST_CASE("simgpu kernels: counters set back by the later of two blocks, many thousands of times" *
          doctest::skip(!has_nvrtc())) {
  // Blocks that begin one behind the other share a counter in each lane: on two threads of the host
  // (one a core unless SIMGPU_THREADS says otherwise) they come to it at the same time.
  SimulatedDevice device;
  device.load_cuda(kernel(R"(
  more[i] = i;
  __threadfence();
  int* counter = data + b / 2 * 32 + t;
  if (atomicAdd(counter, 1) != 1) return;
  *counter = n == 0 ? 0 : more[i] + more[i ^ 32];)"));
  constexpr std::uint32_t blocks = 2048;
  int* data = device.upload(std::vector<int>(blocks / 2 * 32));
  int* more = device.upload(std::vector<int>(blocks * 32));
  for (int n = 0; n < 20; ++n) {
    const auto report = device.launch("k", {{blocks}, {32}}, data, more, n % 2);
    if (report) FAIL(report->text);
    if (n % 2 == 0) continue;
    CHECK(device.download(data + 32 * 3 + 5, 1)[0] == (6 * 32 + 5) + (7 * 32 + 5));
    device.free(data);
    data = device.upload(std::vector<int>(blocks / 2 * 32));
  }
}

TEST_CASE("simgpu kernels: a scan that looks back at the blocks before" *
          doctest::skip(!has_nvrtc())) {
  const std::string body = R"(
  __shared__ int number, before, last;
  if (t == 0) number = atomicAdd(more + 4000, 1);
  __syncthreads();
  int own = data[number * 64 + t];
  __shared__ int scan[64];
  scan[t] = own;
  __syncthreads();
  for (int step = 1; step < 64; step *= 2) {
    int left = t >= step ? scan[t - step] : 0;
    __syncthreads();
    scan[t] += left;
    __syncthreads();
  }
  volatile int* flags = more + 3000;
  if (t == 0) {
    before = 0;
    if (number > 0) {
      while (flags[number - 1] == 0) {}
      __threadfence();
      before = more[2000 + number - 1];
    }
    more[2000 + number] = before + scan[63];
    if (n == 0) __threadfence();
    flags[number] = 1;
  }
  __syncthreads();
  more[number * 64 + t] = before + scan[t];)";
  KernelCase c(kernel(body));
  CHECK(c.run(30, 64) == nothing);
  for (const int at : {0, 63, 64, 1000, 1919})
    CHECK(c.word(c.more, static_cast<std::size_t>(at)) == at * (at + 1) / 2);
  CHECK(c.run(30, 64, 1) == FaultKind::global_race);
}

TEST_CASE("simgpu kernels: a lock around plain accesses" * doctest::skip(!has_nvrtc())) {
  const std::string body = R"(
  if (t != 0) return;
  for (int k = 0; k < 5; ++k) {
    while (atomicCAS(more, 0, 1) != 0) {}
    __threadfence();
    more[64] += b;
    if (n == 0) __threadfence();
    atomicExch(more, 0);
  })";
  KernelCase c(kernel(body));
  CHECK(c.run(16, 32) == nothing);
  CHECK(c.word(c.more, 64) == 5 * 120);
  CHECK(c.run(16, 32, 1) == FaultKind::global_race);
}

TEST_CASE("simgpu kernels: a barrier of the grid" * doctest::skip(!has_nvrtc())) {
  const std::string before = R"(
__device__ void meet(int* counter, int round, bool fence) {
  __syncthreads();
  if (threadIdx.x == 0) {
    if (fence) __threadfence();
    atomicAdd(counter, 1);
    while (*reinterpret_cast<volatile int*>(counter) < round * gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
})";
  const std::string body = R"(
  for (int round = 1; round <= 6; ++round) {
    int left = data[(i + 1) % (gridDim.x * blockDim.x)];
    meet(more, 2 * round - 1, n == 0);
    data[i] = left;
    meet(more, 2 * round, n == 0);
  })";
  KernelCase c(kernel(body, before));
  CHECK(c.run(6, 64) == nothing);
  CHECK(c.word(c.data, 100) == 106);
  CHECK(c.run(6, 64, 1) == FaultKind::global_race);
}

TEST_CASE("simgpu kernels: a loop of compare-and-swap begins with a plain read" *
          doctest::skip(!has_nvrtc())) {
  const std::string before = R"(
__device__ void scale(unsigned short* at) {
  unsigned short old = *at, assumed;
  do {
    assumed = old;
    old = atomicCAS(at, assumed, (unsigned short)(3 * assumed));
  } while (old != assumed);
}
__device__ void raise(double* at, double by) {
  unsigned long long* bits = reinterpret_cast<unsigned long long*>(at);
  double now = *at;
  while (true) {
    const double seen = __longlong_as_double(
        atomicCAS(bits, __double_as_longlong(now), __double_as_longlong(now + by)));
    if (__double_as_longlong(seen) == __double_as_longlong(now)) break;
    now = seen;
  }
})";
  const std::string body = R"(
  if (t == 0) {
    scale(reinterpret_cast<unsigned short*>(data + 1));
    raise(reinterpret_cast<double*>(more), 0.5);
  }
  if (n == 1) atomicCAS(more + 2, 0, data[1]);
  if (n == 2 && b == 3) data[1] = 5;)";
  KernelCase c(kernel(body, before));
  CHECK(c.run(6, 64) == nothing);
  CHECK(c.word(c.data, 1) == 3 * 3 * 3 * 3 * 3 * 3);
  CHECK(c.device.download(reinterpret_cast<const double*>(c.more), 1)[0] == 3);
  CHECK(c.run(6, 64, 1) == FaultKind::global_race);  // a read that no swap looks at again
  CHECK(c.run(6, 64, 2) == FaultKind::global_race);  // a plain write
}

TEST_CASE("simgpu kernels: threads leave, and the rest of the block meets" *
          doctest::skip(!has_nvrtc())) {
  const std::string body = R"(
  __shared__ int sums[32];
  if (t < 32) sums[t] = 0;
  __syncthreads();
  atomicAdd(&sums[t % 32], data[i]);
  if (t >= n) return;
  __syncthreads();
  const int sum = sums[t];
  __syncthreads();
  sums[(t + 1) % 32] = sum;
  __syncthreads();
  more[b * 32 + t] = sums[t];)";
  KernelCase c(kernel(body));
  for (const int left : {32, 8}) {
    CAPTURE(left);
    CHECK(c.run(3, 256, left) == nothing);
    CHECK(c.word(c.more, 32 + 5) == 8 * (256 + 4) + 32 * 28);
  }
}

TEST_CASE("simgpu kernels: half numbers beside each other from different blocks" *
          doctest::skip(!has_nvrtc())) {
  KernelCase c(kernel(R"(
  short* to = reinterpret_cast<short*>(more);
  if (t == 0) to[b] = static_cast<short>(data[b]);
  to += 2048;
  if (t < 3) to[b * 3 + t - n] = 1;)"));
  CHECK(c.run(64, 32) == nothing);
  CHECK(c.run(64, 32, 1) == nothing);
}

TEST_CASE("simgpu kernels: a pipeline of asynchronous copies, with its waits and without" *
          doctest::skip(!has_nvrtc())) {
  const std::string before = R"(
__device__ void copy(int* to, const int* from) {
  unsigned at;
  asm("{ .reg .u64 a; .reg .u32 h; cvta.to.shared.u64 a, %1; mov.b64 {%0, h}, a; }"
      : "=r"(at) : "l"(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int groups> __device__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
})";
  const std::string body = R"(
  __shared__ __align__(16) int stages[2][512];
  copy(&stages[0][4 * t], data + 4 * t);
  commit();
  int sum = 0;
  for (int k = 0; k < 7; ++k) {
    copy(&stages[(k + 1) % 2][4 * t], data + 512 * (k + 1) + 4 * t);
    commit();
    if (n == 1) wait<2>(); else wait<1>();
    if (n != 2) __syncthreads();
    sum += stages[k % 2][(4 * t + 77) % 512];
    if (n != 3) __syncthreads();
  }
  more[i] = sum;
  if (n == 4) more[i] += stages[1][t];)";
  KernelCase c(kernel(body, before));
  CHECK(c.run(2, 128) == nothing);
  int expected = 0;
  for (int k = 0; k < 7; ++k) expected += 512 * k + (4 * 3 + 77) % 512;
  CHECK(c.word(c.more, 128 + 3) == expected);
  CHECK(c.run(2, 128, 1) == FaultKind::missing_wait);
  // What exactly is found first depends on the order of warps.
  CHECK(c.run(2, 128, 2) != nothing);
  CHECK(c.run(2, 128, 3) != nothing);
  CHECK(c.run(2, 128, 4) == FaultKind::missing_wait);
}

TEST_CASE("simgpu kernels: use of freed memory" * doctest::skip(!has_nvrtc())) {
  KernelCase c(kernel("more[i] = data[i];"));
  auto* data = c.device.upload(std::vector<int>(64));
  auto* more = c.device.upload(std::vector<int>(64));
  const LaunchConfiguration sizes = {{1, 1, 1}, {64, 1, 1}};
  CHECK_FALSE(c.device.launch("k", sizes, data, more, 0));
  c.device.free(data);
  const auto report = c.device.launch("k", sizes, data, more, 0);
  REQUIRE(report);
  CHECK(report->kind == FaultKind::use_after_free);
  CHECK(report->text.find("freed by") != std::string::npos);
}

}  // namespace simgpu
