// Lanes of a warp that work together, as CUDA C++ has it.

extern "C" __global__ void shuffles(const int* values, int* out) {
  const int lane = threadIdx.x & 31, v = values[threadIdx.x];
  out[0 * 64 + threadIdx.x] = __shfl_sync(~0u, v, (lane * 7 + 3) & 31);
  out[1 * 64 + threadIdx.x] = __shfl_up_sync(~0u, v, 3);
  out[2 * 64 + threadIdx.x] = __shfl_down_sync(~0u, v, 5, 16);
  out[3 * 64 + threadIdx.x] = __shfl_xor_sync(~0u, v, 9);
  out[4 * 64 + threadIdx.x] = __shfl_sync(~0u, v, 2, 8);
}

// Sums over each warp, of doubles: two shuffles each.
extern "C" __global__ void sums(const double* values, double* out) {
  double sum = values[threadIdx.x];
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
  out[threadIdx.x] = sum;
}

// Inclusive sums over parts of a warp that a scan goes through in steps.
extern "C" __global__ void scan(const int* values, int* out) {
  int sum = values[threadIdx.x];
  const int lane = threadIdx.x & 31;
  for (int apart = 1; apart < 32; apart *= 2) {
    const int other = __shfl_up_sync(~0u, sum, apart);
    if (lane >= apart) sum += other;
  }
  out[threadIdx.x] = sum;
}

// Keeps what is even, in order: a vote tells where.
extern "C" __global__ void compact(const int* values, int* out, int* count) {
  const int lane = threadIdx.x, v = values[lane];
  const unsigned kept = __ballot_sync(~0u, v % 2 == 0);
  if (v % 2 == 0) out[__popc(kept & ((1u << lane) - 1))] = v;
  if (lane == 0) *count = __popc(kept);
}

extern "C" __global__ void votes(const int* values, unsigned* out) {
  const int lane = threadIdx.x, v = values[lane];
  const unsigned halves = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  unsigned result = __any_sync(halves, v == 3) | __all_sync(halves, v < 40) << 1;
  out[lane] = result;
  out[32 + lane] = __match_any_sync(~0u, v & 3);
  int equal;
  out[64 + lane] = __match_all_sync(halves, lane / 16 == 0 ? 5 : v, &equal);
  out[96 + lane] = equal;
  out[128 + lane] = __match_any_sync(~0u, (long long)v << 33);
}

// Lanes that part, and work in groups of those that are there.
extern "C" __global__ void groups(const int* values, unsigned* out) {
  const int lane = threadIdx.x, v = values[lane];
  out[lane] = 0;
  if (v % 3 == 0) {
    const unsigned here = __activemask();
    out[lane] = __reduce_add_sync(here, (unsigned)v);
    __syncwarp(here);
    out[32 + lane] = __reduce_max_sync(here, v) - __reduce_min_sync(here, v);
  } else {
    const unsigned here = __activemask();
    out[lane] = __reduce_xor_sync(here, (unsigned)v) | __reduce_or_sync(here, 1u << 31);
    out[32 + lane] = __reduce_and_sync(here, (unsigned)v | 0xff00u);
  }
}

// Half a warp leaves; the other half names all lanes, which is right: those that have left are not
// waited for.
extern "C" __global__ void rest(int* out) {
  if (threadIdx.x >= 16) return;
  out[threadIdx.x] = __reduce_add_sync(~0u, threadIdx.x) + __shfl_xor_sync(~0u, threadIdx.x, 1);
}

// Wrong: it reads the values of lanes that are not there.
extern "C" __global__ void absent(int* out) {
  if (threadIdx.x < 20) out[threadIdx.x] = __shfl_down_sync(0x000fffffu, threadIdx.x, 4);
}

// Lanes name others that have left by then: nobody waits for those.
extern "C" __global__ void alone(int* out) {
  if (threadIdx.x < 8) out[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 0);
}
