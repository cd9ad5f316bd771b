// Checks of kernels/vector.h and of the f64 and integer functions, compiled once for each
// instruction set.
#include "kernels/math.h"

namespace sinter {
namespace {

using kernels::Vec;
using kernels::VecD;
using kernels::VecF;
using kernels::VecI;
using kernels::VecI32;
namespace m = kernels::m;

#define EXPECT(...)                          \
  do {                                       \
    if (!(__VA_ARGS__)) return #__VA_ARGS__; \
  } while (false)

constexpr std::int64_t lowest = INT64_MIN, highest = INT64_MAX;
constexpr double infinity = __builtin_inf(), nan = __builtin_nan("");

template <class T>
bool same(T a, T b) {
  if constexpr (static_cast<T>(0.5) == 0) return a == b;
  else return (a != a && b != b) || kernels::as_int(a) == kernels::as_int(b);
}

/// Whether the vector form gives what the scalar form gives, lane by lane.
template <class T, class F>
bool lanes_agree(const T* x, const T* y, F f) {
  T result[16];
  f(Vec<T>::load(x), Vec<T>::load(y)).store(result);
  for (int i = 0; i < 16; ++i)
    if (!same(result[i], f(x[i], y[i]))) return false;
  return true;
}

template <class T>
const char* memory_fault() {
  T numbers[32], out[18];
  for (int i = 0; i < 32; ++i) numbers[i] = static_cast<T>(i - 7);
  for (int n = 0; n <= 16; ++n) {
    Vec<T>::load_partial(numbers + 1, n, T{99}).store(out);  // unaligned
    for (int i = 0; i < 16; ++i) EXPECT(out[i] == (i < n ? numbers[i + 1] : T{99}));
    for (T& element : out) element = T{55};
    Vec<T>::load(numbers).store_partial(out + 1, n);
    EXPECT(out[0] == T{55});
    for (int i = 0; i < 17; ++i) EXPECT(out[i + 1] == (i < n ? numbers[i] : T{55}));
  }
  Vec<T>::iota().store(out);
  for (int i = 0; i < 16; ++i) EXPECT(out[i] == static_cast<T>(i));
  Vec<T>(static_cast<T>(-3)).store(out);
  for (int i = 0; i < 16; ++i) EXPECT(out[i] == static_cast<T>(-3));
  return nullptr;
}

const char* fold_fault() {
  float x[16];
  for (int i = 0; i < 16; ++i) x[i] = 1.0f + 0x1p-23f * static_cast<float>(i * i * i);
  float by_halves[16];
  for (int i = 0; i < 16; ++i) by_halves[i] = x[i];
  for (int half = 8; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) by_halves[i] += by_halves[i + half];
  EXPECT(fold(VecF::load(x), [](float a, float b) { return a + b; }) == by_halves[0]);
  return nullptr;
}

const char* conversion_fault() {
  const double d[16] = {0.0,         -0.0,       1.5,         -1e300,      1e-310, infinity,
                        nan,         16777217.0, 1 + 0x1p-24, 1 + 0x3p-24, 3.0,    -7.9,
                        123456789.0, 1e-45,      -2.5,        0x1p62};
  float f[16];
  to_f32(VecD::load(d)).store(f);
  for (int i = 0; i < 16; ++i) EXPECT(same(f[i], static_cast<float>(d[i])));
  double back[16];
  to_f64(VecF::load(f)).store(back);
  for (int i = 0; i < 16; ++i) EXPECT(same(back[i], static_cast<double>(f[i])));
  std::int64_t n[16] = {0, 1, -1, lowest, highest, 16777217, -16777219, 0x7fffffbfffffffff};
  for (int i = 8; i < 16; ++i) n[i] = (std::int64_t{1} << (i * 4)) + i;
  to_f32(VecI::load(n)).store(f);
  for (int i = 0; i < 16; ++i) EXPECT(f[i] == static_cast<float>(n[i]));  // rounded once
  to_f64(VecI::load(n)).store(back);
  for (int i = 0; i < 16; ++i) EXPECT(back[i] == static_cast<double>(n[i]));
  std::int32_t low[16];
  to_i32(VecI::load(n)).store(low);
  for (int i = 0; i < 16; ++i) EXPECT(low[i] == static_cast<std::int32_t>(n[i]));
  std::int64_t wide[16];
  to_i64(VecI32::load(low)).store(wide);
  for (int i = 0; i < 16; ++i) EXPECT(wide[i] == low[i]);
  to_f32(VecI32::load(low)).store(f);
  for (int i = 0; i < 16; ++i) EXPECT(f[i] == static_cast<float>(low[i]));
  to_i64(VecD(-2.9)).store(wide);
  for (int i = 0; i < 16; ++i) EXPECT(wide[i] == -2);
  std::uint8_t bytes[16];
  store_u8(VecI32::load(low), bytes);
  for (int i = 0; i < 16; ++i) EXPECT(bytes[i] == static_cast<std::uint8_t>(low[i]));
  kernels::load_u8(bytes).store(low);
  for (int i = 0; i < 16; ++i) EXPECT(low[i] == bytes[i]);
  return nullptr;
}

/// Every 16-bit pattern through the vector's conversions and through the scalar ones.
const char* half_fault() {
  for (int first = 0; first < 65536; first += 16) {
    std::uint16_t bits[16], back[16];
    for (int i = 0; i < 16; ++i) bits[i] = static_cast<std::uint16_t>(first + i);
    float f[16];
    kernels::load_bf16(bits).store(f);
    for (int i = 0; i < 16; ++i) EXPECT(same(f[i], kernels::from_bf16<float>(bits[i])));
    store_bf16(VecF::load(f), back);
    for (int i = 0; i < 16; ++i) EXPECT(back[i] == (bits[i] | (f[i] != f[i] ? 0x40 : 0)));
    kernels::load_f16(bits).store(f);
    for (int i = 0; i < 16; ++i) EXPECT(same(f[i], kernels::from_f16<float>(bits[i])));
    store_f16(VecF::load(f), back);
    for (int i = 0; i < 16; ++i)
      EXPECT(back[i] == (f[i] != f[i] ? (bits[i] & 0x8000) | 0x7e00 : bits[i]));
  }
  return nullptr;
}

#define AGREE(name) \
  EXPECT(lanes_agree(x, y, [](const auto& a, const auto& b) { return m::name(a, b); }))
#define AGREE_UNARY(name) \
  EXPECT(lanes_agree(x, y, [](const auto& a, const auto&) { return m::name(a); }))

template <class T>
const char* common_fault(const T* x, const T* y) {
  EXPECT(lanes_agree(x, y, [](const auto& a, const auto& b) { return a + b; }));
  EXPECT(lanes_agree(x, y, [](const auto& a, const auto& b) { return a - b; }));
  EXPECT(lanes_agree(x, y, [](const auto& a, const auto& b) { return a * b; }));
  EXPECT(lanes_agree(x, y, [](const auto& a, const auto& b) { return m::where(a, b, a); }));
  AGREE(maximum);
  AGREE(minimum);
  AGREE(less);
  AGREE(less_equal);
  AGREE(equal);
  AGREE(not_equal);
  AGREE(greater);
  AGREE(greater_equal);
  AGREE(logical_and);
  AGREE(logical_or);
  AGREE(logical_xor);
  AGREE(fmod);
  AGREE(remainder);
  AGREE(floor_divide);
  AGREE(pow);
  AGREE_UNARY(logical_not);
  AGREE_UNARY(abs);
  AGREE_UNARY(sign);
  AGREE_UNARY(relu);
  AGREE_UNARY(square);
  AGREE_UNARY(isnan);
  AGREE_UNARY(isinf);
  AGREE_UNARY(isfinite);
  AGREE_UNARY(floor);
  AGREE_UNARY(ceil);
  AGREE_UNARY(trunc);
  AGREE_UNARY(round);
  return nullptr;
}

const char* integer_fault(const std::int64_t* x, const std::int64_t* y) {
  if (const char* fault = common_fault(x, y)) return fault;
  AGREE(bitwise_and);
  AGREE(bitwise_or);
  AGREE(bitwise_xor);
  AGREE(shift_left);
  AGREE(shift_right);
  AGREE_UNARY(bitwise_not);
  return nullptr;
}

const char* double_fault(const double* x, const double* y) {
  if (const char* fault = common_fault(x, y)) return fault;
  EXPECT(lanes_agree(x, y, [](const auto& a, const auto& b) { return a / b; }));
  EXPECT(lanes_agree(x, y, [](const auto& a, const auto& b) { return m::fma(a, b, b); }));
  AGREE(copysign);
  AGREE(atan2);
  AGREE_UNARY(sqrt);
  AGREE_UNARY(reciprocal);
  AGREE_UNARY(exp);
  EXPECT(m::exp(1.0) == 0x1.5bf0a8b14576ap1);  // on every path; e is one place less
  AGREE_UNARY(gelu);
  AGREE_UNARY(tanh);
  return nullptr;
}

/// All pairs out of 16 numbers.
template <class T, class F>
const char* for_all_pairs(const T* numbers, F check) {
  for (int turn = 0; turn < 16; ++turn) {
    T turned[16];
    for (int i = 0; i < 16; ++i) turned[i] = numbers[(i + turn) % 16];
    if (const char* fault = check(numbers, turned)) return fault;
  }
  return nullptr;
}

}  // namespace

namespace SINTER_ISA {

const char* vector_fault() {
  const std::int64_t integers[16] = {0,       1,          -1, 2,  -2, 3,  -7, lowest,
                                     highest, lowest + 1, 63, 64, 65, 10, 7,  1000003};
  const double doubles[16] = {0.0,       -0.0, 1.0,   -1.0,   0.5,   2.0,  -3.0, infinity,
                              -infinity, nan,  1e300, 5e-324, -7.25, 1e-5, 2.5,  10.0};
  const char* (*const checks[])() = {memory_fault<float>,
                                     memory_fault<double>,
                                     memory_fault<std::int32_t>,
                                     memory_fault<std::int64_t>,
                                     fold_fault,
                                     conversion_fault,
                                     half_fault};
  for (const auto check : checks)
    if (const char* fault = check()) return fault;
  if (const char* fault = for_all_pairs(integers, integer_fault)) return fault;
  return for_all_pairs(doubles, double_fault);
}

}  // namespace SINTER_ISA
}  // namespace sinter
