/// \file
/// Functions that PTX approximates: PTX ISA 9.7.3.8, 9.7.3.13 to 9.7.3.22, 9.7.4.9 and 9.7.4.10.
/// Results are correctly rounded; with SIMGPU_PERTURB they are moved within the error that the ISA
/// documents, by a number that the seed, the function and its operands give. What the ISA has in
/// its tables of special values stays: results of zeros, infinities and NaNs, and those results.
#include "tools/simgpu/lanes/approximate.h"
#include "tools/simgpu/machine/settings.h"

namespace simgpu::SIMGPU_ISA {
namespace {

/// The distance of numbers of a format near a value.
template <class F>
double unit(double value) {
  const std::uint64_t exponent = bits_as<std::uint64_t>(value) & Double::infinity;
  const auto below = static_cast<std::uint64_t>(F::mantissa_bits) << Double::mantissa_bits;
  const double found = exponent > below ? bits_as<double>(exponent - below) : 0;
  // Of subnormal numbers: no operand here is of a format with more exponents than f32.
  const double least = 0x1p-149;
  return found > least ? found : least;
}

// Each function has `nearest`, what it gives; `value`, which is that before it is rounded, and
// `bound`, how far a result may be from the value.

struct Exp2 {
  static constexpr std::uint64_t id = 1;
  SIMGPU_INLINE static double value(float a) { return exp2_to_odd(a); }
  template <class F>
  SIMGPU_INLINE static typename F::Word nearest(float a) {
    return a != a ? F::nan : round_to<F>(exp2_to_odd(a));
  }
  template <class F>
  static double bound(double value, float) {
    if constexpr (F::bits == 32) return 2 * unit<F>(value);
    // 2^-9.9 and 2^-7, relative.
    else return value * (F::bias == Half::bias ? 0x1.125fbep-10 : 0x1p-7);
  }
};

struct Reciprocal32 {
  static constexpr std::uint64_t id = 2;
  static double value(float a) { return 1 / static_cast<double>(a); }
  template <class F>
  SIMGPU_INLINE static std::uint32_t nearest(float a) {
    return bits_as<std::uint32_t>(1 / a);
  }
  template <class F>
  static double bound(double value, float) {
    return unit<F>(value);
  }
};

struct SquareRoot32 {
  static constexpr std::uint64_t id = 3;
  static double value(float a) { return __builtin_sqrt(static_cast<double>(a)); }
  template <class F>
  SIMGPU_INLINE static std::uint32_t nearest(float a) {
    return bits_as<std::uint32_t>(__builtin_sqrtf(a));
  }
  template <class F>
  static double bound(double value, float) {
    return value * 0x1p-23;
  }
};

/// In double, with an error of 2^-52 of it. The suite `exhaustive` shows that no float has a result
/// that is as near to a tie.
struct ReciprocalRoot {
  static constexpr std::uint64_t id = 4;
  SIMGPU_INLINE static double value(float a) { return 1 / __builtin_sqrt(static_cast<double>(a)); }
  template <class F>
  SIMGPU_INLINE static std::uint32_t nearest(float a) {
    return bits_as<std::uint32_t>(static_cast<float>(value(a)));
  }
  template <class F>
  static double bound(double value, float) {
    return value * 0x1.125fbep-23;  // 2^-22.9
  }
};

struct Log2 {
  static constexpr std::uint64_t id = 5;
  static double value(float a) { return __builtin_log2(static_cast<double>(a)); }
  template <class F>
  static std::uint32_t nearest(float a) {
    return bits_as<std::uint32_t>(nearest_float(value(a), [&] { return __builtin_log2l(a); }));
  }
  template <class F>
  static double bound(double value, float a) {
    return a > 0.5f && a < 2.0f ? 0x1p-22 : __builtin_fabs(value) * 0x1p-22;
  }
};

/// Of sin and cos: 2^-20.5 to two pi, 2^-14.7 to a hundred pi; beyond, nothing is documented.
double bound_of_wave(float a) {
  return __builtin_fabsf(a) <= 6.283185f ? 0x1.6a09e6p-21 : 0x1.3b2c47p-15;
}

struct Sine {
  static constexpr std::uint64_t id = 6;
  static double value(float a) { return __builtin_sin(static_cast<double>(a)); }
  template <class F>
  static std::uint32_t nearest(float a) {
    return bits_as<std::uint32_t>(nearest_float(value(a), [&] { return __builtin_sinl(a); }));
  }
  template <class F>
  static double bound(double, float a) {
    return bound_of_wave(a);
  }
};

struct Cosine {
  static constexpr std::uint64_t id = 7;
  static double value(float a) { return __builtin_cos(static_cast<double>(a)); }
  template <class F>
  static std::uint32_t nearest(float a) {
    return bits_as<std::uint32_t>(nearest_float(value(a), [&] { return __builtin_cosl(a); }));
  }
  template <class F>
  static double bound(double, float a) {
    return bound_of_wave(a);
  }
};

struct HyperbolicTangent {
  static constexpr std::uint64_t id = 8;
  static double value(float a) { return __builtin_tanh(static_cast<double>(a)); }
  template <class F>
  static typename F::Word nearest(float a) {
    if constexpr (F::bits == 32)
      return bits_as<std::uint32_t>(nearest_float(value(a), [&] { return __builtin_tanhl(a); }));
    // All 2^16 results are held against long double by a test.
    else return round_to<F>(value(a));
  }
  template <class F>
  static double bound(double value, float) {
    if constexpr (F::bits == 32) return __builtin_fabs(value) * 0x1p-11;
    // 2^-10.987 and 2^-8, absolute.
    else return F::bias == Half::bias ? 0x1.025135p-11 : 0x1p-8;
  }
};

struct DivideFull {
  static constexpr std::uint64_t id = 9;
  static double value(float a, float b) { return static_cast<double>(a) / static_cast<double>(b); }
  template <class F>
  SIMGPU_INLINE static std::uint32_t nearest(float a, float b) {
    return bits_as<std::uint32_t>(a / b);
  }
  template <class F>
  static double bound(double value, float, float) {
    return 2 * unit<F>(value);
  }
};

/// Where |b| is above 2^126 it is a product with zero.
struct DivideApproximately : DivideFull {
  static constexpr std::uint64_t id = 10;
  template <class F>
  SIMGPU_INLINE static std::uint32_t nearest(float a, float b) {
    const std::uint32_t word = bits_as<std::uint32_t>(b), magnitude = word & ~Single::sign;
    const float product = a * bits_as<float>(word & Single::sign);
    const bool is_great = magnitude > 0x7e80'0000u && magnitude < Single::infinity;
    return bits_as<std::uint32_t>(is_great ? product : a / b);
  }
};

template <class F, class Function, bool flushes>
struct Nearest {
  template <class... Words>
  SIMGPU_INLINE static typename F::Word apply(Words... words) {
    return finish<F, flushes, Clamp::none>(
        Function::template nearest<F>(F::number(flush<F, flushes>(words))...));
  }
};

/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
std::uint64_t mixed(std::uint64_t word) {
  word += 0x9e37'79b9'7f4a'7c15ull;
  word = (word ^ word >> 30) * 0xbf58'476d'1ce4'e5b9ull;
  word = (word ^ word >> 27) * 0x94d0'49bb'1331'11ebull;
  return word ^ word >> 31;
}

/// From -1 to 1.
double drawn(std::uint64_t mixed_word) {
  return static_cast<double>(static_cast<std::int64_t>(mixed_word)) * 0x1p-63;
}

template <class F, class Function, bool flushes>
struct Moved {
  std::uint64_t seed;

  static bool is_special(typename F::Word word) {
    const typename F::Word magnitude = word & ~F::sign;
    return magnitude == 0 || magnitude >= F::infinity;
  }
  template <class... Words>
  typename F::Word apply(Words... words) const {
    const auto nearest = Nearest<F, Function, flushes>::apply(words...);
    if (is_special(nearest) || (is_special(flush<F, flushes>(words)) || ...)) return nearest;
    const double value = Function::value(F::number(flush<F, flushes>(words))...);
    const double bound = Function::template bound<F>(value, F::number(flush<F, flushes>(words))...);
    std::uint64_t random = mixed(seed ^ Function::id);
    ((random = mixed(random ^ words)), ...);
    const auto moved = finish<F, flushes, Clamp::none>(round_to<F>(value + bound * drawn(random)));
    const double error = __builtin_fabs(static_cast<double>(F::number(moved)) - value);
    return error <= bound ? moved : nearest;
  }
};

template <bool all, class F, int numbers, class Function, bool flushes, int... operand>
void approximate(Warp& w, const Instruction& i) {
  const std::uint64_t* seed = perturbation();
  if (seed == nullptr)
    apply_each<all, F, numbers, operand...>(w, i, Nearest<F, Function, flushes>{});
  else apply_each<false, F, numbers, operand...>(w, i, Moved<F, Function, flushes>{*seed});
}

/// The high half of a double, or all of it; nothing says how far it is off, so it is moved by one
/// of the last place.
enum class Wide : std::uint8_t { reciprocal, reciprocal_root, whole_reciprocal_root };

template <Wide wide>
void approximate_double(Warp& w, const Instruction& i) {
  const std::uint64_t* seed = perturbation();
  const auto* from = lanes<std::uint64_t>(w, i, 1);
  constexpr bool whole = wide == Wide::whole_reciprocal_root;
  constexpr std::uint64_t place = whole ? 1 : std::uint64_t{1} << 32;
  write<false>(w, lanes<std::uint64_t>(w, i, 0), [&](int lane) {
    const double number = from_high_word(from[lane]);
    std::uint64_t made = 0;
    if constexpr (whole)
      made = bits_as<std::uint64_t>(nearest_reciprocal_root(Double::number(from[lane])));
    else if constexpr (wide == Wide::reciprocal) made = high_word(1 / number);
    else made = high_word(1 / __builtin_sqrt(number));
    const std::uint64_t magnitude = made & ~Double::sign;
    if (seed == nullptr || magnitude == 0 || magnitude >= Double::infinity) return made;
    const std::uint64_t random =
        mixed(mixed(*seed ^ static_cast<std::uint64_t>(wide)) ^ from[lane]);
    return made + (random % 3) * place - place;
  });
}

template <class Function, Text name, std::size_t capacity>
constexpr void add_single(OpcodeTable<capacity>& table) {
  each_flag([&]<bool flushes>() {
    table.template add<name, when(flushes, ".ftz"), ".f32">(
        "d4 s4", SIMGPU_BOTH(approximate, Single, 1, Function, flushes, 1));
  });
}

template <class Function, Text name, std::size_t capacity>
constexpr void add_division(OpcodeTable<capacity>& table) {
  each_flag([&]<bool flushes>() {
    table.template add<name, when(flushes, ".ftz"), ".f32">(
        "d4 s4 s4", SIMGPU_BOTH(approximate, Single, 1, Function, flushes, 1, 2));
  });
}

template <class F, class Function, bool flushes, Text name, std::size_t capacity>
constexpr void add_half(OpcodeTable<capacity>& table) {
  table.template add<name>("d2 s2", SIMGPU_BOTH(approximate, F, 1, Function, flushes, 1));
  table.template add<name, "x2">("d4 s4", SIMGPU_BOTH(approximate, F, 2, Function, flushes, 1));
}

constexpr auto table = [] {
  OpcodeTable<32> made;
  add_single<Exp2, "ex2.approx">(made);
  add_single<Log2, "lg2.approx">(made);
  add_single<Sine, "sin.approx">(made);
  add_single<Cosine, "cos.approx">(made);
  add_single<Reciprocal32, "rcp.approx">(made);
  add_single<SquareRoot32, "sqrt.approx">(made);
  add_single<ReciprocalRoot, "rsqrt.approx">(made);
  add_division<DivideApproximately, "div.approx">(made);
  add_division<DivideFull, "div.full">(made);
  made.add<"tanh.approx.f32">("d4 s4",
                              SIMGPU_BOTH(approximate, Single, 1, HyperbolicTangent, false, 1));
  add_half<Half, HyperbolicTangent, false, "tanh.approx.f16">(made);
  add_half<Brain, HyperbolicTangent, false, "tanh.approx.bf16">(made);
  add_half<Half, Exp2, false, "ex2.approx.f16">(made);
  add_half<Brain, Exp2, true, "ex2.approx.ftz.bf16">(made);
  made.add<"rcp.approx.ftz.f64">("d8 s8", SIMGPU_EITHER(&approximate_double<Wide::reciprocal>));
  made.add<"rsqrt.approx.ftz.f64">("d8 s8",
                                   SIMGPU_EITHER(&approximate_double<Wide::reciprocal_root>));
  made.add<"rsqrt.approx.f64">("d8 s8",
                               SIMGPU_EITHER(&approximate_double<Wide::whole_reciprocal_root>));
  return made;
}();

}  // namespace

OpcodeList approximate_opcodes() { return table.list("approximate"); }

}  // namespace simgpu::SIMGPU_ISA
