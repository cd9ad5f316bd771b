/// \file
/// cvt from floating point to integers: PTX ISA 9.7.10.24. What is out of range becomes the nearest
/// integer in it, with .sat and without.
#include "tools/simgpu/lanes/convert.h"

namespace simgpu::SIMGPU_ISA {
namespace {

/// Of a NaN: zero, or where either has 64 bits the highest bit alone.
template <class To, class F>
constexpr To of_nan = F::bits == 64 || sizeof(To) == 8
                          ? static_cast<To>(u64{1} << (bits_of_integer<To> - 1))
                          : To(0);

template <class To, class N>
SIMGPU_INLINE To clamped(N number, To nan) {
  // Powers of two, or zero: exact in any format.
  constexpr N least = static_cast<N>(lowest_of<To>);
  constexpr N beyond = 2 * static_cast<N>(highest_of<To> / 2 + 1);
  const bool is_less = number < least, is_greater = number >= beyond, is_nan = number != number;
  const N inside = (is_less | is_greater | is_nan) ? N(0) : number;
  using Wide = std::conditional_t<(sizeof(To) < 4), s32, To>;
  To made = static_cast<To>(static_cast<Wide>(inside));
  made = is_less ? lowest_of<To> : made;
  made = is_greater ? highest_of<To> : made;
  return is_nan ? nan : made;
}

template <class To, class F, Rounding rounding, bool flushes>
constexpr auto convert = [](typename F::Lane lane) SIMGPU_LAMBDA {
  const auto number = F::number(flush<F, flushes>(lane));
  return clamped<To>(integral<rounding>(number), of_nan<To, F>);
};

}  // namespace

void convert_to_integer_opcodes(OpcodeTable& table) {
  each_type<Half, Brain, Single, Double>([&]<class F>() {
    each_integer([&]<class To>() {
      each_rounding([&]<Rounding rounding>() {
        each_flush_of<F, F>([&]<bool flushes>() {
          each_saturation<F, F>([&]<Clamp clamp>() {
            add_conversion<To, F, convert<To, F, rounding, flushes>, (sizeof(To) >= 4)>(
                table, {rounding_name(rounding), "i", when(flushes, ".ftz"), clamp_name(clamp)});
          });
        });
      });
    });
  });
}

}  // namespace simgpu::SIMGPU_ISA
