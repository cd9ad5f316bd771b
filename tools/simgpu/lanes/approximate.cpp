/// \file
/// Functions that PTX approximates: PTX ISA 9.7.3.8, 9.7.3.13 to 9.7.3.22, 9.7.4.9 and 9.7.4.10.
/// Results are correctly rounded; with SIMGPU_PERTURB they are moved within the error that the ISA
/// documents, by a number that the seed, the function and its operands give. What the ISA has in
/// its tables of special values stays: results of zeros, infinities and NaNs, and those results. So
/// do exact ones of powers of two: ex2 of integers, lg2, rcp, sqrt and rsqrt of powers, quotients
/// by them.
#include "tools/simgpu/lanes/approximate.h"
#include "tools/simgpu/machine/settings.h"

namespace simgpu::SIMGPU_ISA {
namespace {

/// The distance of numbers of a format near a value.
template <class F>
double unit(double value) {
  const u64 exponent = bits_as<u64>(value) & Double::infinity;
  const auto below = static_cast<u64>(F::mantissa_bits) << Double::mantissa_bits;
  const double found = exponent > below ? bits_as<double>(exponent - below) : 0;
  // Of subnormal numbers: no operand here is of a format with more exponents than f32.
  const double least = 0x1p-149;
  return found > least ? found : least;
}

bool is_power_of_two(double number) {
  return (bits_as<u64>(number) & (Double::least_normal - 1)) == 0;
}

// Each function has a number for the seed; `value`, what it is before it is rounded; `bound`, how
// far a result may be from that, which is not at all where no GPU is off and code relies on it; and
// `nearest` where that is the nearest float by another way than rounding the value.

struct Exp2 {
  static constexpr u64 id = 1;
  SIMGPU_INLINE static double value(float a) { return exp2_to_odd(a); }
  template <class F>
  static double bound(double value, float) {
    if (is_power_of_two(value)) return 0;
    if constexpr (F::bits == 32) return 2 * unit<F>(value);
    // 2^-9.9 and 2^-7, relative.
    else return value * (is_brain<F> ? 0x1p-7 : 0x1.125fbep-10);
  }
};

struct Reciprocal32 {
  static constexpr u64 id = 2;
  static double value(float a) { return 1 / static_cast<double>(a); }
  SIMGPU_INLINE static float nearest(float a) { return 1 / a; }
  template <class F>
  static double bound(double value, float a) {
    return is_power_of_two(a) ? 0 : unit<F>(value);
  }
};

struct SquareRoot32 {
  static constexpr u64 id = 3;
  static double value(float a) { return __builtin_sqrt(static_cast<double>(a)); }
  SIMGPU_INLINE static float nearest(float a) { return __builtin_sqrtf(a); }
  template <class F>
  static double bound(double value, float) {
    return is_power_of_two(value) ? 0 : value * 0x1p-23;
  }
};

/// In double, with an error of 2^-52 of it. The suite `exhaustive` shows that no float has a result
/// that is as near to a tie.
struct ReciprocalRoot {
  static constexpr u64 id = 4;
  SIMGPU_INLINE static double value(float a) { return 1 / __builtin_sqrt(static_cast<double>(a)); }
  template <class F>
  static double bound(double value, float a) {
    return is_power_of_two(value) && is_power_of_two(a) ? 0 : value * 0x1.125fbep-23;  // 2^-22.9
  }
};

/// A function that the C library has, in double and in long double.
template <u64 number, auto in_double, auto in_long_double>
struct OfLibrary {
  static constexpr u64 id = number;
  static double value(float a) { return in_double(static_cast<double>(a)); }
  static float nearest(float a) {
    return nearest_float(value(a), [&] { return in_long_double(a); });
  }
};

struct Log2 : OfLibrary<5, [](double a) { return __builtin_log2(a); },
                        [](long double a) { return __builtin_log2l(a); }> {
  template <class F>
  static double bound(double value, float a) {
    if (is_power_of_two(a)) return 0;
    return a > 0.5f && a < 2.0f ? 0x1p-22 : __builtin_fabs(value) * 0x1p-22;
  }
};

/// sin and cos are off by 2^-20.5 to two pi, 2^-14.7 to a hundred pi; beyond, nothing is
/// documented.
template <class Function>
struct Wave : Function {
  template <class F>
  static double bound(double, float a) {
    return __builtin_fabsf(a) <= 6.283185f ? 0x1.6a09e6p-21 : 0x1.3b2c47p-15;
  }
};
using Sine = Wave<OfLibrary<6, [](double a) { return __builtin_sin(a); },
                            [](long double a) { return __builtin_sinl(a); }>>;
using Cosine = Wave<OfLibrary<7, [](double a) { return __builtin_cos(a); },
                              [](long double a) { return __builtin_cosl(a); }>>;

struct HyperbolicTangent : OfLibrary<8, [](double a) { return __builtin_tanh(a); },
                                     [](long double a) { return __builtin_tanhl(a); }> {
  template <class F>
  static double bound(double value, float) {
    return __builtin_fabs(value) * 0x1p-11;
  }
};
/// In 16 bits; a test holds all 2^16 results against long double.
struct HyperbolicTangent16 {
  static constexpr u64 id = HyperbolicTangent::id;
  static double value(float a) { return HyperbolicTangent::value(a); }
  template <class F>
  static double bound(double, float) {
    return is_brain<F> ? 0x1p-8 : 0x1.025135p-11;  // 2^-8 and 2^-10.987, absolute
  }
};

struct DivideFull {
  static constexpr u64 id = 9;
  static double value(float a, float b) { return static_cast<double>(a) / static_cast<double>(b); }
  SIMGPU_INLINE static float nearest(float a, float b) { return a / b; }
  template <class F>
  static double bound(double value, float, float b) {
    return is_power_of_two(b) ? 0 : 2 * unit<F>(value);
  }
};

/// Where |b| is above 2^126 it is a product with zero.
struct DivideApproximately : DivideFull {
  static constexpr u64 id = 10;
  SIMGPU_INLINE static float nearest(float a, float b) {
    const u32 word = bits_as<u32>(b), magnitude = word & ~Single::sign;
    const float product = a * bits_as<float>(word & Single::sign);
    const bool is_great = magnitude > 0x7e80'0000u && magnitude < Single::infinity;
    return is_great ? product : a / b;
  }
};

template <class Function, class... Numbers>
SIMGPU_INLINE auto nearest_or_value(Numbers... numbers) {
  if constexpr (requires { Function::nearest(numbers...); }) return Function::nearest(numbers...);
  else return Function::value(numbers...);
}
template <class F, class Function, bool flushes>
struct Nearest {
  template <class... Words>
  SIMGPU_INLINE constexpr typename F::Word operator()(Words... words) const {
    return finish<F, flushes, Clamp::none>(
        round_to<F>(nearest_or_value<Function>(F::number(flush<F, flushes>(words))...)));
  }
};

/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
u64 mixed(u64 word) {
  word += 0x9e37'79b9'7f4a'7c15ull;
  word = (word ^ word >> 30) * 0xbf58'476d'1ce4'e5b9ull;
  word = (word ^ word >> 27) * 0x94d0'49bb'1331'11ebull;
  return word ^ word >> 31;
}

/// From -1 to 1.
double drawn(u64 mixed_word) { return static_cast<double>(static_cast<s64>(mixed_word)) * 0x1p-63; }

template <class F, class Function, bool flushes>
struct Moved {
  static bool is_special(typename F::Word word) {
    const typename F::Word magnitude = word & ~F::sign;
    return magnitude == 0 || magnitude >= F::infinity;
  }
  template <class... Words>
  typename F::Word operator()(Words... words) const {
    const auto nearest = Nearest<F, Function, flushes>{}(words...);
    if (is_special(nearest) || (is_special(flush<F, flushes>(words)) || ...)) return nearest;
    const double value = Function::value(F::number(flush<F, flushes>(words))...);
    const double bound = Function::template bound<F>(value, F::number(flush<F, flushes>(words))...);
    u64 random = mixed(*perturbation() ^ Function::id);
    ((random = mixed(random ^ words)), ...);
    const auto moved = finish<F, flushes, Clamp::none>(round_to<F>(value + bound * drawn(random)));
    const double error = __builtin_fabs(static_cast<double>(F::number(moved)) - value);
    return error <= bound ? moved : nearest;
  }
};

/// Of each number that a register P has.
template <bool all, class F, class P, class Function, bool flushes, class... Lanes>
void approximate(Warp& w, const Instruction& i) {
  using Lane = typename P::Lane;
  if (perturbation() == nullptr)
    compute<all, OfEach<P, Nearest<F, Function, flushes>{}>{}, Lane, Lanes...>(w, i);
  else compute<false, OfEach<P, Moved<F, Function, flushes>{}>{}, Lane, Lanes...>(w, i);
}

/// The high half of a double, or all of it; nothing says how far it is off, so it is moved by one
/// of the last place.
enum class Wide : u8 { reciprocal, reciprocal_root, whole_reciprocal_root };

template <Wide wide>
void approximate_double(Warp& w, const Instruction& i) {
  const u64* seed = perturbation();
  const auto* from = lanes<u64>(w, i, 1);
  constexpr bool whole = wide == Wide::whole_reciprocal_root;
  constexpr u64 place = whole ? 1 : u64{1} << 32;
  write<false>(w, lanes<u64>(w, i, 0), [&](int lane) {
    const double number = from_high_word(from[lane]);
    u64 made = 0;
    if constexpr (whole) made = bits_as<u64>(nearest_reciprocal_root(Double::number(from[lane])));
    else if constexpr (wide == Wide::reciprocal) made = high_word(1 / number);
    else made = high_word(1 / __builtin_sqrt(number));
    const u64 magnitude = made & ~Double::sign;
    if (seed == nullptr || magnitude == 0 || magnitude >= Double::infinity) return made;
    if (is_power_of_two(Double::number(made)) && is_power_of_two(number)) return made;
    const u64 random = mixed(mixed(*seed ^ static_cast<u64>(wide)) ^ from[lane]);
    return made + (random % 3) * place - place;
  });
}

template <class F, class P, class Function, bool flushes, class... Lanes>
void add(OpcodeTable& table, Parts name) {
  table.add(name, {written<typename P::Lane>, read<Lanes>...},
            SIMGPU_BOTH(approximate, F, P, Function, flushes, Lanes...));
}

/// Of one or two numbers of f32.
template <class Function, class... Lanes>
void add_single(OpcodeTable& table, const char* name) {
  add<Single, Single, Function, false, Lanes...>(table, {name, ".f32"});
  add<Single, Single, Function, true, Lanes...>(table, {name, ".ftz.f32"});
}

template <class F, class Function, bool flushes = false>
void add_half(OpcodeTable& table, const char* name) {
  each_type<F, Pair<F>>([&]<class P>() {
    add<F, P, Function, flushes, typename P::Lane>(table, {name, ".", P::name});
  });
}

}  // namespace

void approximate_opcodes(OpcodeTable& table) {
  add_single<Exp2, u32>(table, "ex2.approx");
  add_single<Log2, u32>(table, "lg2.approx");
  add_single<Sine, u32>(table, "sin.approx");
  add_single<Cosine, u32>(table, "cos.approx");
  add_single<Reciprocal32, u32>(table, "rcp.approx");
  add_single<SquareRoot32, u32>(table, "sqrt.approx");
  add_single<ReciprocalRoot, u32>(table, "rsqrt.approx");
  add_single<DivideApproximately, u32, u32>(table, "div.approx");
  add_single<DivideFull, u32, u32>(table, "div.full");
  add<Single, Single, HyperbolicTangent, false, u32>(table, {"tanh.approx.f32"});
  add_half<Half, HyperbolicTangent16>(table, "tanh.approx");
  add_half<Brain, HyperbolicTangent16>(table, "tanh.approx");
  add_half<Half, Exp2>(table, "ex2.approx");
  add_half<Brain, Exp2, true>(table, "ex2.approx.ftz");
  const auto add_double = [&]<Wide wide>(const char* name) {
    table.add({name, ".f64"}, {"d8 s8"}, &approximate_double<wide>);
  };
  add_double.template operator()<Wide::reciprocal>("rcp.approx.ftz");
  add_double.template operator()<Wide::reciprocal_root>("rsqrt.approx.ftz");
  add_double.template operator()<Wide::whole_reciprocal_root>("rsqrt.approx");
}

}  // namespace simgpu::SIMGPU_ISA
