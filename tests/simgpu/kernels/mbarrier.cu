// Barriers that are objects in shared memory: threads arrive without waiting, and wait for a phase.

__device__ unsigned at_shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
using Barrier = unsigned long long;
__device__ void init(Barrier* b, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at_shared(b)), "r"(count) : "memory");
}
__device__ Barrier arrive(Barrier* b) {
  Barrier state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at_shared(b)) : "memory");
  return state;
}
__device__ void wait(Barrier* b, unsigned parity) {
  unsigned over;
  do
    asm volatile(
        "{\n\t.reg .pred p;\n\tmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(over)
        : "r"(at_shared(b)), "r"(parity)
        : "memory");
  while (!over);
}

// Warp 0 fills two tiles in turn, the others empty them.
extern "C" __global__ void relayed(int* out, const int* a, int rounds, int careless) {
  __shared__ int tiles[2][32];
  __shared__ Barrier full[2], empty[2];
  const int t = threadIdx.x;
  if (t < 2) init(full + t, 32), init(empty + t, 96);
  __syncthreads();
  if (t < 32) {
    for (int r = 0; r < rounds; ++r) {
      if (r >= 2) wait(empty + r % 2, r / 2 - 1 & 1);
      tiles[r % 2][t] = a[r * 32 + t];
      arrive(full + r % 2);
    }
    return;
  }
  int sum = 0;
  for (int r = 0; r < rounds; ++r) {
    if (!careless) wait(full + r % 2, r / 2 & 1);
    sum += tiles[r % 2][(t + r) % 32] * (r + 1);
    arrive(empty + r % 2);
  }
  out[t - 32] = sum;
}
// Each thread waits for the phase that it arrived in. Some leave for good: fewer are waited for.
extern "C" __global__ void by_state(int* out) {
  __shared__ Barrier barrier;
  __shared__ int box[128];
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, 128);
  __syncthreads();
  for (int round = 0; round < 4; ++round) {
    box[t] = t * (round + 1);
    Barrier state;
    if (round == 1 && t >= 64) {
      asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
                   : "=l"(state)
                   : "r"(at_shared(&barrier))
                   : "memory");
      return;
    }
    state = arrive(&barrier);
    unsigned over = 0;
    while (!over)
      asm volatile(
          "{\n\t.reg .pred p;\n\tmbarrier.test_wait.shared.b64 p, [%1], %2;\n\t"
          "selp.u32 %0, 1, 0, p;\n\t}"
          : "=r"(over)
          : "r"(at_shared(&barrier)), "l"(state)
          : "memory");
    out[round * 128 + t] = box[round == 0 ? 127 - t : 63 - t];
    state = arrive(&barrier);
    wait(&barrier, 1);
  }
}
// Asynchronous copies arrive by themselves.
extern "C" __global__ void copies_arrive(float4* out, const float4* a) {
  __shared__ float4 tile[64];
  __shared__ Barrier barrier;
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, 64);
  __syncthreads();
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at_shared(tile + t)), "l"(a + t)
               : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at_shared(&barrier))
               : "memory");
  wait(&barrier, 0);
  out[t] = tile[63 - t];
}
// Wrong: a barrier of no threads; one that nobody has initialised.
extern "C" __global__ void no_barrier(int* out, int count) {
  __shared__ Barrier barrier;
  if (threadIdx.x == 0 && count >= 0) init(&barrier, count);
  __syncwarp();
  out[threadIdx.x] = (int)arrive(&barrier);
}
#if __CUDA_ARCH__ >= 900
// A row in one copy, whose bytes the barrier counts; and back in one.
extern "C" __global__ void in_bulk(float* out, const float* a, int careless) {
  __shared__ __align__(16) float row[256], turned[256];
  __shared__ Barrier barrier;
  const int t = threadIdx.x;
  if (t == 0) {
    init(&barrier, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(at_shared(&barrier))
        : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, "
        "[%2];" ::"r"(at_shared(row)),
        "l"(a + blockIdx.x * 256), "r"(at_shared(&barrier))
        : "memory");
  }
  __syncwarp();
  if (!careless) __syncthreads();
  unsigned over = careless;
  while (!over)
    asm volatile(
        "{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0, 100;\n"
        "\tselp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(over)
        : "r"(at_shared(&barrier))
        : "memory");
  turned[t] = row[255 - t];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t != 0) return;
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(out + blockIdx.x * 256),
      "r"(at_shared(turned))
      : "memory");
  asm volatile("cp.async.bulk.commit_group;");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
#endif
