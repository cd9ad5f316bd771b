// Whole numbers and their bits: what has an intrinsic, what takes inline assembly, and indices.

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }
using Wide = long long;
using Natural = unsigned long long;

extern "C" __global__ void wide_operations(Wide* out, const Wide* a, const Wide* b, int n) {
  const int i = place();
  if (i >= n) return;
  const Wide x = a[i], y = b[i];
  const Natural p = x, q = y;
  const Wide results[] = {x / y,
                          x % y,
                          (Wide)(p / q),
                          (Wide)(p % q),
                          __mul64hi(x, y),
                          (Wide)__umul64hi(p, q),
                          llabs(x),
                          __popcll(p),
                          __clzll(x),
                          __ffsll(x),
                          (Wide)__brevll(p),
                          min(x, y),
                          (Wide)max(p, q),
                          x >> (y & 63),
                          (Wide)(p >> (q & 63)),
                          x << (y & 63)};
  out[i] = results[i % 16];
}
extern "C" __global__ void narrow_operations(int* out, const int* a, const int* b, int n) {
  const int i = place();
  if (i >= n) return;
  const int x = a[i], y = b[i];
  const unsigned p = x, q = y;
  switch (i % 20) {
    case 0: out[i] = __mulhi(x, y); break;
    case 1: out[i] = __umulhi(p, q); break;
    case 2: out[i] = __mul24(x, y); break;
    case 3: out[i] = __umul24(p, q); break;
    case 4: out[i] = __popc(x); break;
    case 5: out[i] = __clz(x); break;
    case 6: out[i] = __ffs(x); break;
    case 7: out[i] = __brev(p); break;
    case 8: out[i] = __sad(x, y, 7u); break;
    case 9: out[i] = __usad(p, q, 7u); break;
    case 10: out[i] = __hadd(x, y); break;
    case 11: out[i] = __rhadd(x, y); break;
    case 12: out[i] = __uhadd(p, q); break;
    case 13: out[i] = __funnelshift_l(p, q, x & 63); break;
    case 14: out[i] = __funnelshift_r(p, q, x & 63); break;
    case 15: out[i] = __funnelshift_lc(p, q, x & 63); break;
    case 16: out[i] = __funnelshift_rc(p, q, x & 63); break;
    case 17: out[i] = abs(x); break;
    case 18: out[i] = max(x / 2, y / 2) - min(x / 2, y / 2); break;
    default: out[i] = umin(p, q) ^ umax(p, q); break;
  }
}
extern "C" __global__ void permuted_bytes(unsigned* out, const unsigned* a, const unsigned* b) {
  const unsigned x = a[place()], y = b[place()];
  out[3 * place()] = __byte_perm(x, y, 0x5140);
  out[3 * place() + 1] = __byte_perm(x, y, x >> 9);
  asm("prmt.b32.rc8 %0, %1, %2, %3;" : "=r"(out[3 * place() + 2]) : "r"(x), "r"(y), "r"(y & 3));
}
extern "C" __global__ void bit_fields(unsigned* out, const unsigned* a, const unsigned* b) {
  const unsigned x = a[place()], y = b[place()], from = y & 31, count = y >> 8 & 31;
  unsigned* to = out + 5 * place();
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(to[0]) : "r"(x), "r"(from), "r"(count));
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(to[1]) : "r"(x), "r"(from), "r"(count));
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(to[2]) : "r"(y), "r"(x), "r"(from), "r"(count));
  asm("bfind.u32 %0, %1;" : "=r"(to[3]) : "r"(x >> from));
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(to[4]) : "r"(from), "r"(count));
}
extern "C" __global__ void logic_of_three(unsigned* out, const unsigned* a, const unsigned* b) {
  const unsigned x = a[place()], y = b[place()], z = x * 2654435761u;
  unsigned majority, chosen, parity;
  asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(majority) : "r"(x), "r"(y), "r"(z));
  asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(chosen) : "r"(x), "r"(y), "r"(z));
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(parity) : "r"(x), "r"(y), "r"(z));
  out[3 * place()] = majority;
  out[3 * place() + 1] = chosen;
  out[3 * place() + 2] = parity;
}
extern "C" __global__ void four_at_once(int* out, const int* a, const int* b) {
  const int x = a[place()], y = b[place()];
  int* to = out + 6 * place();
  to[0] = __dp4a(x, y, 5);
  to[1] = __dp4a((unsigned)x, (unsigned)y, 5u);
  to[2] = __vadd4(x, y);
  to[3] = __vabsdiffu4(x, y);
  to[4] = __vmaxs2(x, y);
  to[5] = __dp2a_lo(x, y, 9);
}
extern "C" __global__ void saturated(int* out, const int* a, const int* b) {
  const int x = a[place()], y = b[place()];
  asm("add.sat.s32 %0, %1, %2;" : "=r"(out[3 * place()]) : "r"(x), "r"(y));
  asm("sub.sat.s32 %0, %1, %2;" : "=r"(out[3 * place() + 1]) : "r"(x), "r"(y));
  asm("cvt.sat.s8.s32 %0, %1;" : "=r"(out[3 * place() + 2]) : "r"(x >> 20));
}
// 128 bits out of carries.
extern "C" __global__ void carried(Natural* out, const Natural* a, const Natural* b) {
  const Natural x = a[place()], y = b[place()];
  Natural low, high, minus;
  asm("{\n\tadd.cc.u64 %0, %3, %4;\n\taddc.u64 %1, %3, 0;\n\tsub.cc.u64 %2, %3, %4;\n\t"
      "subc.u64 %2, %2, 0;\n\t}"
      : "=&l"(low), "=&l"(high), "=&l"(minus)
      : "l"(x), "l"(y));
  out[3 * place()] = low;
  out[3 * place() + 1] = high;
  out[3 * place() + 2] = minus;
}
// An element of a tensor with strides, the index in parts by division.
template <class Index>
__device__ void strided(float* out, const float* a, Index n, Index columns, Index rows, Index s0,
                        Index s1, Index s2) {
  const Index i = blockIdx.x * (Index)blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Index column = i % columns, rest = i / columns;
  out[i] = a[rest / rows * s0 + rest % rows * s1 + column * s2];
}
extern "C" __global__ void strided_32(float* out, const float* a, unsigned n, unsigned columns,
                                      unsigned rows, unsigned s0, unsigned s1, unsigned s2) {
  strided<unsigned>(out, a, n, columns, rows, s0, s1, s2);
}
extern "C" __global__ void strided_64(float* out, const float* a, Wide n, Wide columns, Wide rows,
                                      Wide s0, Wide s1, Wide s2) {
  strided<Wide>(out, a, n, columns, rows, s0, s1, s2);
}
// Divisors that the compiler knows become products.
extern "C" __global__ void known_divisors(Wide* out, const Wide* a, int n) {
  const int i = place();
  if (i >= n) return;
  const Wide x = a[i];
  const int y = (int)x;
  out[i] = x / 48 + x % 1000003 * 7 + y / 7 + (unsigned)y % 641u + (y / -24 << 3) +
           (Wide)((Natural)x / 10u);
}
extern "C" __global__ void gathered(float* out, const float* table, const Wide* rows, int n,
                                    int columns, int count) {
  const int i = place();
  if (i >= n) return;
  Wide row = rows[i / columns];
  if (row < 0) row += count;
  out[i] = table[row * columns + i % columns];
}
// Loops of different lengths in each lane.
extern "C" __global__ void common_divisors(unsigned* out, const unsigned* a, const unsigned* b) {
  unsigned x = a[place()], y = b[place()], steps = 0;
  while (y != 0) {
    const unsigned rest = x % y;
    x = y;
    y = rest;
    ++steps;
  }
  out[2 * place()] = x;
  out[2 * place() + 1] = steps;
}
extern "C" __global__ void collatz(int* out, int limit) {
  Natural x = place() + 1;
  int steps = 0;
  for (; x != 1; ++steps) {
    if (steps == limit) break;
    if (x % 2 == 0) {
      x /= 2;
      continue;
    }
    x = 3 * x + 1;
  }
  out[place()] = steps;
}
extern "C" __global__ void square_roots(unsigned* out, const unsigned* a) {
  const unsigned x = a[place()];
  unsigned root = 0;
  for (unsigned bit = 1u << 15; bit != 0; bit >>= 1) {
    const unsigned next = root | bit;
    if (next * next <= x) root = next;
  }
  out[place()] = root;
}
// Digits in a local buffer, from the end.
extern "C" __global__ void decimals(char* out, const unsigned* a) {
  char digits[12];
  unsigned x = a[place()];
  int at = 12;
  do digits[--at] = '0' + x % 10;
  while ((x /= 10) != 0);
  for (int k = 0; k < 12; ++k) out[12 * place() + k] = at + k < 12 ? digits[at + k] : ' ';
}
// Philox with 10 rounds.
extern "C" __global__ void philox(uint4* out, Natural seed, Natural offset) {
  unsigned c[4] = {(unsigned)place(), 0, (unsigned)offset, (unsigned)(offset >> 32)};
  unsigned k0 = seed, k1 = seed >> 32;
  for (int round = 0; round < 10; ++round) {
    const unsigned low0 = 0xd2511f53u * c[0], high0 = __umulhi(0xd2511f53u, c[0]);
    const unsigned low1 = 0xcd9e8d57u * c[2], high1 = __umulhi(0xcd9e8d57u, c[2]);
    c[0] = high1 ^ c[1] ^ k0;
    c[1] = low1;
    c[2] = high0 ^ c[3] ^ k1;
    c[3] = low0;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  out[place()] = make_uint4(c[0], c[1], c[2], c[3]);
}
struct Packed {
  unsigned low : 5;
  int middle : 9;
  unsigned high : 18;
};
extern "C" __global__ void struct_fields(Packed* out, const Packed* a) {
  Packed p = a[place()];
  p.low += 3;
  p.middle = -p.middle;
  p.high ^= p.low;
  out[place()] = p;
}
