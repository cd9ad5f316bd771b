/// \file
/// cvt from integers to floating point: PTX ISA 9.7.10.24.
#include "tools/simgpu/lanes/convert.h"

namespace simgpu::SIMGPU_ISA {
namespace {

template <class F>
constexpr bool is_brain = F::bits == 16 && F::bias == Brain::bias;

enum class Last : std::uint8_t { rounded, odd };

/// An integer with so many bits that count, as a double or float, which is exact. `odd` keeps in
/// the last bit that something follows.
template <class N, int digits, Rounding rounding, Last last>
SIMGPU_INLINE N with_digits(bool negative, std::uint64_t magnitude) {
  const int used = 64 - __builtin_clzll(magnitude | 1);
  const int places = used > digits ? used - digits : 0;
  const std::uint64_t kept = magnitude >> places;
  const bool has_rest = magnitude != kept << places;
  bool away = false;
  if constexpr (rounding == Rounding::down) away = has_rest & negative;
  if constexpr (rounding == Rounding::up) away = has_rest & !negative;
  const std::uint64_t end =
      last == Last::odd ? kept | std::uint64_t{has_rest} : kept + std::uint64_t{away};
  const auto unit = static_cast<N>(std::uint64_t{1} << places);
  const N made = static_cast<N>(static_cast<std::int64_t>(end)) * unit;
  return negative ? -made : made;
}

template <class To, Rounding rounding, class T>
SIMGPU_INLINE typename To::Word converted(T value) {
  constexpr bool is_signed = Integer<T>::is_signed;
  const auto wide = is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                              : static_cast<std::uint64_t>(value);
  const bool negative = is_signed && value < T(0);
  const std::uint64_t magnitude = negative ? 0 - wide : wide;
  if constexpr (To::bits == 16) {
    if constexpr (sizeof(T) <= 2)
      return narrow<To, rounding, false, Single>(bits_as<std::uint32_t>(static_cast<float>(value)));
    double exact = 0;
    if constexpr (sizeof(T) <= 4) exact = static_cast<double>(value);
    else exact = with_digits<double, 53, Rounding::zero, Last::odd>(negative, magnitude);
    return narrow<To, rounding, false, Double>(bits_as<std::uint64_t>(exact));
  } else {
    using N = typename To::Number;
    constexpr bool is_exact = Integer<T>::bits <= To::mantissa_bits + 1;
    if constexpr (rounding == Rounding::nearest || is_exact)
      return round_to<To>(static_cast<N>(value));
    else
      return round_to<To>(
          with_digits<N, To::mantissa_bits + 1, rounding, Last::rounded>(negative, magnitude));
  }
}

template <bool all, class To, class T, class FromRegister, Rounding rounding, Clamp clamp>
void convert(Warp& w, const Instruction& i) {
  using ToLane = typename RegisterOf<To::bits>::Lane;
  const FromRegister* from = lanes<FromRegister>(w, i, 1);
  write<all>(w, lanes<ToLane>(w, i, 0), [&](int lane) {
    return static_cast<ToLane>(
        finish<To, false, clamp>(converted<To, rounding>(static_cast<T>(from[lane]))));
  });
}

/// .ftz may stand where the result is f32, but an integer is never subnormal.
template <class To, class T, Rounding rounding, Clamp clamp, bool flushes, std::size_t capacity>
constexpr void add_conversion(OpcodeTable<capacity>& table) {
  const auto add = [&]<class FromRegister>() {
    constexpr bool is_usual =
        rounding == Rounding::nearest && sizeof(T) >= 4 && sizeof(FromRegister) == sizeof(T);
    table.template add<"cvt", rounding_text<rounding>, when(flushes, ".ftz"), clamp_text<clamp>,
                       type_text<To>, Integer<T>::text>(
        one_operand<To::bits / 8, sizeof(FromRegister)>,
        &convert<is_usual, To, T, FromRegister, rounding, clamp>,
        &convert<false, To, T, FromRegister, rounding, clamp>);
  };
  // To bf16 the register may not be wider.
  if constexpr (is_brain<To>) add.template operator()<T>();
  else each_register<T>(add);
}

template <class To, std::size_t capacity>
constexpr void add_conversions(OpcodeTable<capacity>& table) {
  each_integer([&]<class T>() {
    each_rounding([&]<Rounding rounding>() {
      each_value<Clamp::none, Clamp::saturate>([&]<Clamp clamp>() {
        each_flag([&]<bool flushes>() {
          if constexpr ((!flushes || To::bits == 32) && (!is_brain<To> || clamp == Clamp::none))
            add_conversion<To, T, rounding, clamp, flushes>(table);
        });
      });
    });
  });
}

constexpr auto table = [] {
  OpcodeTable<640> made;
  add_conversions<Half>(made);
  add_conversions<Brain>(made);
  add_conversions<Single>(made);
  add_conversions<Double>(made);
  return made;
}();

}  // namespace

OpcodeList convert_from_integer_opcodes() { return table.list("convert from integer"); }

}  // namespace simgpu::SIMGPU_ISA
