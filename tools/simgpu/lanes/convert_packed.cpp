/// \file
/// cvt with .relu or .satfinite, to tf32, to two numbers at once, and of numbers of 8 bits: PTX ISA
/// 9.7.10.24.
#include "tools/simgpu/lanes/convert.h"

namespace simgpu::SIMGPU_ISA {
namespace {

/// One f32 in a narrower format.
template <class To, Rounding rounding, bool finite, bool not_negative>
SIMGPU_INLINE u32 narrowed(float number) {
  const auto made = narrow<To, rounding, finite, Single>(bits_as<u32>(number));
  if constexpr (!not_negative) return made;
  return (made & To::sign) != 0 ? 0u : made;
}

/// Of a and b, to the high and the low half.
template <class To, Rounding rounding, bool finite, bool not_negative>
constexpr auto convert_two = [](float a, float b) SIMGPU_LAMBDA {
  return narrowed<To, rounding, finite, not_negative>(a) << To::bits |
         narrowed<To, rounding, finite, not_negative>(b);
};
/// The bits of a tf32 are the high ones of an f32.
template <Rounding rounding, bool finite, bool not_negative>
constexpr auto convert_to_tensor = [](float a) SIMGPU_LAMBDA {
  const u32 made = narrowed<TensorFloat, rounding, finite, not_negative>(a)
                   << (Single::mantissa_bits - TensorFloat::mantissa_bits);
  return Single::is_nan(made) ? Single::nan : made;
};
/// Two f16 to two numbers of 8 bits.
template <class To, bool not_negative>
constexpr auto convert_halves = [](u32 a) SIMGPU_LAMBDA {
  return convert_two<To, Rounding::nearest, true, not_negative>(Half::number(a >> 16),
                                                                Half::number(a & 0xffffu));
};

/// A number of 8 bits as f16, which holds all of them.
template <class From, bool not_negative>
SIMGPU_INLINE u32 half_of(u32 byte) {
  return finish < Half, false,
         not_negative ? Clamp::relu : Clamp::none > (round_to<Half>(From::number(byte)));
}
template <class From, bool not_negative>
constexpr auto convert_to_halves = [](u32 bytes) SIMGPU_LAMBDA {
  return half_of<From, not_negative>(bytes >> 8) << 16 | half_of<From, not_negative>(bytes & 0xffu);
};

/// Modifiers are written in either order: syntax and examples of the ISA differ.
template <auto f, class D, class... S>
void add(OpcodeTable& table, const char* rounding, bool finite, bool not_negative, const char* to,
         const char* from) {
  const char *satfinite = when(finite, ".satfinite"), *relu = when(not_negative, ".relu");
  add_lanes<f, D, S...>(table, {"cvt", rounding, satfinite, relu, ".", to, ".", from});
  if (finite && not_negative)
    add_lanes<f, D, S...>(table, {"cvt", rounding, relu, satfinite, ".", to, ".", from});
}

template <Rounding rounding, bool finite, bool not_negative>
void add_narrow(OpcodeTable& table) {
  constexpr const char* text = rounding_name(rounding);
  each_type<Half, Brain>([&]<class To>() {
    add<convert_two<To, rounding, finite, not_negative>, u32, float, float>(
        table, text, finite, not_negative, Pair<To>::name, "f32");
    // Without modifiers it is among the conversions of floating point.
    if constexpr (finite || not_negative)
      add<narrowed<To, rounding, finite, not_negative>, u16, float>(table, text, finite,
                                                                    not_negative, To::name, "f32");
  });
  add<convert_to_tensor<rounding, finite, not_negative>, u32, float>(table, text, finite,
                                                                     not_negative, "tf32", "f32");
}

template <class F, bool not_negative>
void add_bytes(OpcodeTable& table, const char* type) {
  add<convert_two<F, Rounding::nearest, true, not_negative>, u16, float, float>(
      table, ".rn", true, not_negative, type, "f32");
  add<convert_halves<F, not_negative>, u16, u32>(table, ".rn", true, not_negative, type, "f16x2");
  add<convert_to_halves<F, not_negative>, u32, u16>(table, ".rn", false, not_negative, "f16x2",
                                                    type);
}

}  // namespace

void convert_packed_opcodes(OpcodeTable& table) {
  each_flag([&]<bool not_negative>() {
    each_flag([&]<bool finite>() {
      add_narrow<Rounding::nearest, finite, not_negative>(table);
      add_narrow<Rounding::zero, finite, not_negative>(table);
      if constexpr (!not_negative)
        add<convert_to_tensor<Rounding::nearest_away, finite, false>, u32, float>(
            table, ".rna", finite, false, "tf32", "f32");
    });
    add_bytes<E4M3, not_negative>(table, "e4m3x2");
    add_bytes<E5M2, not_negative>(table, "e5m2x2");
  });
}

}  // namespace simgpu::SIMGPU_ISA
