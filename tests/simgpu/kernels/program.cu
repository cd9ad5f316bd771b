// What makes a program: functions that call themselves and each other, through pointers and tables;
// jumps, lambdas, structures; what ends a kernel and what it prints.

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }

__noinline__ __device__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
extern "C" __global__ void recursion(int* out, int most) {
  out[place()] = fibonacci(place() % most);
}
__noinline__ __device__ bool is_odd(unsigned n);
__noinline__ __device__ bool is_even(unsigned n) { return n == 0 ? true : is_odd(n - 1); }
__noinline__ __device__ bool is_odd(unsigned n) { return n == 0 ? false : is_even(n - 1); }
extern "C" __global__ void mutual_recursion(int* out) {
  out[place()] = is_even(place() % 13) + 2 * is_odd(place() % 7);
}
// Each call writes into variables of the one before it.
__noinline__ __device__ void descend(int* above, int depth, int by) {
  int here[3] = {depth, by, 0};
  if (depth > 0) descend(here + depth % 2, depth - 1, by + 1);
  *above += here[0] * 10 + here[1] + here[2];
}
extern "C" __global__ void recursion_with_memory(int* out) {
  int value = place();
  descend(&value, place() % 6, 3);
  out[place()] = value;
}
struct Node {
  int value;
  int left, right;  // -1 where there is none
};
__noinline__ __device__ long long walked(const Node* nodes, int at, int depth) {
  if (at < 0) return depth;
  const long long left = walked(nodes, nodes[at].left, depth + 1);
  return 3 * left + 5 * walked(nodes, nodes[at].right, depth + 1) + nodes[at].value;
}
extern "C" __global__ void tree_walk(long long* out, const Node* nodes) {
  out[place()] = walked(nodes, place(), 0);
}
// Towers of Hanoi, whose moves all lanes of a warp make at their own pace.
__noinline__ __device__ int moved(int discs, int from, int to) {
  if (discs == 0) return 0;
  const int by = 6 - from - to;
  const int before = moved(discs - 1, from, by);
  return before + moved(discs - 1, by, to) + from * discs;
}
extern "C" __global__ void towers(int* out) {
  if (place() % 3 == 0) return;
  out[place()] = moved(place() % 8, 1, 3);
}
__noinline__ __device__ int chained(int n, int step) {
  return n == 0 ? 0 : chained(n - step, step) * 3 ^ n;
}
extern "C" __global__ void chain(int* out, int step) { out[place()] = chained(place(), step); }

// Frames of 64 bytes.
__noinline__ __device__ int filled(int n) {
  volatile int own[16];
  own[n % 16] = n;
  return n == 0 ? 0 : filled(n - 1) + own[n % 16];
}
extern "C" __global__ void large_frames(int* out, int depth) { out[place()] = filled(depth); }

using Operation = int (*)(int, int);
__noinline__ __device__ int added(int a, int b) { return a + b; }
__noinline__ __device__ int subtracted(int a, int b) { return a - b; }
__noinline__ __device__ int multiplied(int a, int b) { return a * b; }
__device__ int to_power(int a, int b) { return b == 0 ? 1 : a * to_power(a, b - 1); }
__device__ Operation table[3] = {added, subtracted, multiplied};
__constant__ Operation constants[2] = {multiplied, added};
extern "C" __global__ void function_pointers(int* out, int n) {
  const int i = place();
  const Operation first = table[i % 3];
  const Operation second = i & 1 ? to_power : constants[n];
  out[i] = first(i, n + 2) * 1000 + second(i % 5, 3);
}
extern "C" __global__ void null_pointer(int* out, int n) {
  Operation chosen = place() < n ? added : nullptr;
  out[place()] = chosen(place(), 1);
}
// A sum over a function that is passed, which passes itself on.
__noinline__ __device__ int folded(Operation combine, const int* values, int count) {
  if (count == 1) return values[0];
  const int half = count / 2;
  return combine(folded(combine, values, half), folded(combine, values + half, count - half));
}
extern "C" __global__ void folds(int* out, const int* values, int count) {
  out[place()] = folded(table[place() % 3], values + place() % 4, count);
}
struct Shape {
  int size;
  __device__ explicit Shape(int of) : size(of) {}
  __device__ virtual int area(int scale) const = 0;
  __device__ virtual int corners() const { return 0; }
};
struct Square : Shape {
  using Shape::Shape;
  __device__ int area(int scale) const override { return size * size * scale; }
  __device__ int corners() const override { return 4; }
};
struct Strip : Shape {
  int width;
  __device__ Strip(int of, int across) : Shape(of), width(across) {}
  __device__ int area(int scale) const override { return size * width + scale; }
};
extern "C" __global__ void virtual_functions(int* out) {
  Square square(place());
  Strip strip(place(), 7);
  const Shape* shape = place() % 3 == 0 ? static_cast<const Shape*>(&square) : &strip;
  out[place()] = shape->area(5) * 10 + shape->corners();
}

template <class F>
__noinline__ __device__ int twice(F f, int x) {
  return f(f(x));
}
extern "C" __global__ void lambdas(int* out, int n) {
  const int own = place();
  const auto step = [=](int x) { return x * n + own; };
  out[own] = own % 2 == 0 ? twice(step, 3) : twice([&](int x) { return step(x) - own; }, n);
}
template <int n>
struct Power {
  __device__ static long long of(long long x) { return x * Power<n - 1>::of(x); }
};
template <>
struct Power<0> {
  __device__ static long long of(long long) { return 1; }
};
extern "C" __global__ void templates(long long* out) {
  const int x = place() - 40;
  out[place()] = Power<3>::of(x) - Power<7>::of(x) / (Power<2>::of(x) + 1);
}
// A machine of states: a table of jumps in a loop.
extern "C" __global__ void state_machine(int* out, const unsigned char* text, int bytes) {
  int state = place() % 4, count = 0;
  for (int i = 0; i < bytes; ++i) {
    switch (text[(i + place()) % bytes]) {
      case 0: state = (state + 1) % 4; break;
      case 1: state ^= 3; break;
      case 2: count += state; break;
      case 3:
        if (state == 2) goto done;
        break;
      case 4:
        count -= 7;
        state = 0;
        break;
      case 5: count *= 3; break;
      case 6: count ^= i; break;
      case 7: state = count & 3; break;
      default: ++count;
    }
  }
done:
  out[place()] = count * 4 + state;
}
// Loops in loops, left in the middle.
extern "C" __global__ void first_pair(int* out, const int* values, int n, int wanted) {
  int found = -1, looked = 0;
  for (int i = place() % n; i < n && found < 0; ++i) {
    if (values[i] > wanted) continue;
    for (int k = i + 1; k < n; ++k) {
      ++looked;
      if (values[i] + values[k] != wanted + place() % 3) continue;
      found = i * n + k;
      break;
    }
  }
  out[2 * place()] = found;
  out[2 * place() + 1] = looked;
}
struct Matrix {
  double cells[3][3];
};
__noinline__ __device__ Matrix times(const Matrix& a, Matrix b) {
  Matrix made;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) {
      made.cells[r][c] = 0;
      for (int k = 0; k < 3; ++k) made.cells[r][c] += a.cells[r][k] * b.cells[k][c];
    }
  return made;
}
extern "C" __global__ void structures(double* out, Matrix given) {
  Matrix power = given;
  for (int k = 0; k < place() % 4; ++k) power = times(given, power);
  out[place()] = power.cells[place() % 3][place() / 3 % 3];
}
// Registers and labels of an assembly text are its own, wherever it is put.
__device__ unsigned rotated_until_odd(unsigned x) {
  unsigned steps;
  asm("{\n\t.reg .pred odd;\n\t.reg .u32 word, bit;\n\tmov.u32 word, %1;\n\tmov.u32 %0, 0;\n"
      "AGAIN:\n\tand.b32 bit, word, 1;\n\tsetp.ne.u32 odd, bit, 0;\n\t@odd bra DONE;\n\t"
      "shf.r.wrap.b32 word, word, word, 1;\n\tadd.u32 %0, %0, 1;\n\tbra AGAIN;\nDONE:\n\t}"
      : "=r"(steps)
      : "r"(x));
  return steps;
}
extern "C" __global__ void scoped_assembly(unsigned* out, const unsigned* a) {
  const unsigned first = rotated_until_odd(a[place()] | 0x80000000u);
  out[place()] = first * 100 + rotated_until_odd(~a[place()] | 0x40000000u);
}
// Whole blocks, warps and halves of warps that leave before others meet.
extern "C" __global__ void early_exits(int* out, int last_block) {
  __shared__ int box[64];
  const int t = threadIdx.x;
  if (blockIdx.x > last_block) return;
  if (t >= 80) return;
  if (t >= 64) {
    out[place()] = __popc(__ballot_sync(0xffff, t % 2));
    return;
  }
  box[t] = t * t;
  asm volatile("bar.sync 1, 64;" ::: "memory");
  out[place()] = box[63 - t];
}
extern "C" __global__ void __launch_bounds__(64, 4) bounded(int* out) { out[place()] = place(); }

extern "C" __global__ void printed(const double* values, const char* name) {
  if (place() == 1) printf("%s %d: %5.2f %lld %c%%\n", name, place(), values[1], 1ll << 40, 'x');
}
extern "C" __global__ void asserted(const int* values, int most) {
  assert(values[place()] < most && "too great");
}
extern "C" __global__ void trapped(const int* values) {
  if (values[place()] == 5) __trap();
}
extern "C" __global__ void clocks(long long* out) {
  const long long start = clock64();
  unsigned sm, sms;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%nsmid;" : "=r"(sms));
  __nanosleep(20);
  unsigned long long first, second;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(first)::"memory");
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(second)::"memory");
  out[place()] = (clock64() > start) + 2 * (sm < sms) + 4 * (second >= first);
}
#if __CUDA_ARCH__ >= 900
// The launch after this one may begin early.
extern "C" __global__ void dependent(float* out, const float* a) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[place()] = a[place()] + 1;
  asm volatile("griddepcontrol.launch_dependents;");
}
#endif
