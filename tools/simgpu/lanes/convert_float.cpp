/// \file
/// cvt between f16, bf16, f32 and f64: PTX ISA 9.7.10.24.
#include "tools/simgpu/lanes/convert.h"

namespace simgpu::SIMGPU_ISA {
namespace {

template <class To, class From, Rounding rounding>
SIMGPU_INLINE typename To::Word converted(typename From::Word word) {
  if constexpr (To::bits == From::bits && To::bits >= 32) return word;
  else if constexpr (To::bits > From::bits)
    return round_to<To>(static_cast<typename To::Number>(From::number(word)));
  else if constexpr (From::bits == 64 && rounding == Rounding::nearest)
    return round_to<To>(From::number(word));
  else if constexpr (From::bits == 64) return narrow<To, rounding, false, Double>(word);
  // From 16 bits by way of f32, which holds all of them.
  else return narrow<To, rounding, false, Single>(bits_as<u32>(From::number(word)));
}

/// .ftz is of f32, wherever it is.
template <class To, class From, Rounding rounding, bool flushes, Clamp clamp>
constexpr auto convert = [](typename From::Lane lane) SIMGPU_LAMBDA {
  constexpr bool flushes_from = flushes && __is_same(From, Single);
  constexpr bool flushes_to = flushes && __is_same(To, Single);
  return finish<To, flushes_to, clamp>(
      converted<To, From, rounding>(flush<From, flushes_from>(lane)));
};
/// A number rounded to an integer of its own type.
template <class F, Rounding rounding, bool flushes, Clamp clamp>
constexpr auto convert_to_integral = [](typename F::Lane lane) SIMGPU_LAMBDA {
  const auto number = F::number(flush<F, flushes>(lane));
  return finish<F, flushes, clamp>(round_to<F>(integral<rounding>(number)));
};

template <class To, class From, Rounding rounding>
void add(OpcodeTable& table, const char* rounding_text) {
  each_flush_of<To, From>([&]<bool flushes>() {
    each_saturation<To, From>([&]<Clamp clamp>() {
      add_conversion<To, From, convert<To, From, rounding, flushes, clamp>>(
          table, {rounding_text, "", when(flushes, ".ftz"), clamp_name(clamp)});
    });
  });
}

template <class F>
void add_integral(OpcodeTable& table) {
  each_rounding([&]<Rounding rounding>() {
    each_flush_of<F, F>([&]<bool flushes>() {
      each_saturation<F, F>([&]<Clamp clamp>() {
        add_conversion<F, F, convert_to_integral<F, rounding, flushes, clamp>>(
            table, {rounding_name(rounding), "i", when(flushes, ".ftz"), clamp_name(clamp)});
      });
    });
  });
}

}  // namespace

/// What `To` holds all numbers of is exact; to others there are all roundings.
void convert_float_opcodes(OpcodeTable& table) {
  each_type<Half, Brain, Single, Double>([&]<class To>() {
    each_type<Half, Brain, Single, Double>([&]<class From>() {
      if constexpr (__is_same(To, From) || To::bits > From::bits)
        add<To, From, Rounding::nearest>(table, "");
      else
        each_rounding(
            [&]<Rounding rounding>() { add<To, From, rounding>(table, rounding_name(rounding)); });
    });
    add_integral<To>(table);
  });
}

}  // namespace simgpu::SIMGPU_ISA
