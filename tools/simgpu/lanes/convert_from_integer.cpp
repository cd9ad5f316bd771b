/// \file
/// cvt from integers to floating point: PTX ISA 9.7.10.24.
#include "tools/simgpu/lanes/convert.h"

namespace simgpu::SIMGPU_ISA {
namespace {

enum class Last : u8 { rounded, odd };

/// An integer with so many bits that count, as a double or float, which is exact. `odd` keeps in
/// the last bit that something follows.
template <class N, int digits, Rounding rounding, Last last>
SIMGPU_INLINE N with_digits(bool negative, u64 magnitude) {
  const int used = 64 - __builtin_clzll(magnitude | 1);
  const int places = used > digits ? used - digits : 0;
  const u64 kept = magnitude >> places;
  const bool has_rest = magnitude != kept << places;
  bool away = false;
  if constexpr (rounding == Rounding::down) away = has_rest & negative;
  if constexpr (rounding == Rounding::up) away = has_rest & !negative;
  const u64 end = last == Last::odd ? kept | u64{has_rest} : kept + u64{away};
  const auto unit = static_cast<N>(u64{1} << places);
  const N made = static_cast<N>(static_cast<s64>(end)) * unit;
  return negative ? -made : made;
}

template <class To, Rounding rounding, class T>
SIMGPU_INLINE typename To::Word converted(T value) {
  const bool negative = value < T(0);
  const u64 magnitude = negative ? 0 - static_cast<u64>(value) : static_cast<u64>(value);
  if constexpr (To::bits == 16) {
    if constexpr (sizeof(T) <= 2)
      return narrow<To, rounding, false, Single>(bits_as<u32>(static_cast<float>(value)));
    double exact = 0;
    if constexpr (sizeof(T) <= 4) exact = static_cast<double>(value);
    else exact = with_digits<double, 53, Rounding::zero, Last::odd>(negative, magnitude);
    return narrow<To, rounding, false, Double>(bits_as<u64>(exact));
  } else {
    using N = typename To::Number;
    constexpr bool is_exact = bits_of_integer<T> <= To::mantissa_bits + 1;
    if constexpr (rounding == Rounding::nearest || is_exact)
      return round_to<To>(static_cast<N>(value));
    else
      return round_to<To>(
          with_digits<N, To::mantissa_bits + 1, rounding, Last::rounded>(negative, magnitude));
  }
}

template <class To, class T, Rounding rounding, Clamp clamp>
constexpr auto convert = [](auto lane) {
  return finish<To, false, clamp>(converted<To, rounding>(static_cast<T>(lane)));
};

}  // namespace

/// .ftz may stand where the result is f32, but an integer is never subnormal.
void convert_from_integer_opcodes(OpcodeTable& table) {
  each_type<Half, Brain, Single, Double>([&]<class To>() {
    each_integer([&]<class T>() {
      each_rounding([&]<Rounding rounding>() {
        each_saturation<To, T>([&]<Clamp clamp>() {
          for (const char* ftz : {"", ".ftz"})
            if (*ftz == 0 || __is_same(To, Single))
              add_conversion<To, T, convert<To, T, rounding, clamp>,
                             rounding == Rounding::nearest && sizeof(T) >= 4>(
                  table, {rounding_name(rounding), "", ftz, clamp_name(clamp)});
        });
      });
    });
  });
}

}  // namespace simgpu::SIMGPU_ISA
