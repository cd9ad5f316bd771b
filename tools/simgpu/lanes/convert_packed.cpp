/// \file
/// cvt with .relu or .satfinite, to tf32, to two numbers at once, and of numbers of 8 bits: PTX ISA
/// 9.7.10.24.
#include "tools/simgpu/lanes/convert.h"

namespace simgpu::SIMGPU_ISA {
namespace {

/// One f32 in a narrower format.
template <class To, Rounding rounding, bool finite, bool not_negative>
SIMGPU_INLINE std::uint32_t narrowed(float number) {
  const auto made = narrow<To, rounding, finite, Single>(bits_as<std::uint32_t>(number));
  if constexpr (!not_negative) return made;
  return (made & To::sign) != 0 ? 0u : made;
}

/// Of a and b, to the high and the low half.
template <bool all, class To, Rounding rounding, bool finite, bool not_negative>
void convert_two(Warp& w, const Instruction& i) {
  using Lane = typename RegisterOf<2 * To::bits>::Lane;
  const float* a = lanes<float>(w, i, 1);
  const float* b = lanes<float>(w, i, 2);
  write<all>(
      w, lanes<Lane>(w, i, 0), [&](int lane) __attribute__((always_inline)) {
        return static_cast<Lane>(narrowed<To, rounding, finite, not_negative>(a[lane]) << To::bits |
                                 narrowed<To, rounding, finite, not_negative>(b[lane]));
      });
}

template <bool all, class To, Rounding rounding, bool finite, bool not_negative>
void convert_one(Warp& w, const Instruction& i) {
  const float* a = lanes<float>(w, i, 1);
  write<all>(
      w, lanes<std::uint16_t>(w, i, 0), [&](int lane) __attribute__((always_inline)) {
        return static_cast<std::uint16_t>(narrowed<To, rounding, finite, not_negative>(a[lane]));
      });
}

/// The bits of a tf32 are the high ones of an f32.
template <bool all, Rounding rounding, bool finite, bool not_negative>
void convert_to_tensor(Warp& w, const Instruction& i) {
  const float* a = lanes<float>(w, i, 1);
  write<all>(
      w, lanes<std::uint32_t>(w, i, 0), [&](int lane) __attribute__((always_inline)) {
        const std::uint32_t made = narrowed<TensorFloat, rounding, finite, not_negative>(a[lane])
                                   << (Single::mantissa_bits - TensorFloat::mantissa_bits);
        return Single::is_nan(made) ? Single::nan : made;
      });
}

/// Two f16 to two numbers of 8 bits.
template <bool all, class To, bool not_negative>
void convert_halves(Warp& w, const Instruction& i) {
  const auto* a = lanes<std::uint32_t>(w, i, 1);
  write<all>(
      w, lanes<std::uint16_t>(w, i, 0), [&](int lane) __attribute__((always_inline)) {
        const auto byte = [](std::uint32_t half) __attribute__((always_inline)) {
          return narrowed<To, Rounding::nearest, true, not_negative>(Half::number(half));
        };
        return static_cast<std::uint16_t>(byte(a[lane] >> 16) << 8 | byte(a[lane] & 0xffffu));
      });
}

/// A number of 8 bits as f16, which holds all of them.
template <class From, bool not_negative>
SIMGPU_INLINE std::uint32_t half_of(std::uint32_t byte) {
  const std::uint32_t magnitude = byte & 0x7fu;
  const std::uint32_t sign = (byte & 0x80u) << 8;
  std::uint32_t made = magnitude << (Half::mantissa_bits - From::mantissa_bits);
  if constexpr (From::bias != Half::bias) {
    const float scale = 1 << (Half::bias - From::bias);
    made = round_to<Half>(Half::number(made) * scale);
  }
  const bool is_nan = magnitude > From::infinity;
  if constexpr (not_negative) made = sign != 0 ? 0 : made;
  else made |= sign;
  return is_nan ? Half::nan : made;
}

template <bool all, class From, bool not_negative>
void convert_to_halves(Warp& w, const Instruction& i) {
  const auto* a = lanes<std::uint16_t>(w, i, 1);
  write<all>(
      w, lanes<std::uint32_t>(w, i, 0), [&](int lane) __attribute__((always_inline)) {
        const std::uint32_t bytes = a[lane];
        return half_of<From, not_negative>(bytes >> 8) << 16 |
               half_of<From, not_negative>(bytes & 0xffu);
      });
}

/// Modifiers are written in either order: syntax and examples of the ISA differ.
template <Text start, bool finite, bool not_negative, Text end, std::size_t capacity>
constexpr void add_named(OpcodeTable<capacity>& table, std::string_view pattern, Execute all,
                         Execute some) {
  constexpr Text satfinite = when(finite, ".satfinite"), relu = when(not_negative, ".relu");
  table.template add<start, satfinite, relu, end>(pattern, all, some);
  if constexpr (finite && not_negative)
    table.template add<start, relu, satfinite, end>(pattern, all, some);
}

template <class To, Text one, Text two, Rounding rounding, bool finite, bool not_negative,
          std::size_t capacity>
constexpr void add_narrow(OpcodeTable<capacity>& table) {
  constexpr Text start = Joined<"cvt", rounding_text<rounding>>::made.text();
  add_named<start, finite, not_negative, two>(
      table, "d4 s4 s4", SIMGPU_BOTH(convert_two, To, rounding, finite, not_negative));
  // Without modifiers it is among the conversions of floating point.
  if constexpr (finite || not_negative)
    add_named<start, finite, not_negative, one>(
        table, "d2 s4", SIMGPU_BOTH(convert_one, To, rounding, finite, not_negative));
}

template <class To, Text to, bool not_negative, std::size_t capacity>
constexpr void add_bytes(OpcodeTable<capacity>& table) {
  constexpr Text from_single = Joined<to, ".f32">::made.text();
  constexpr Text from_half = Joined<to, ".f16x2">::made.text();
  add_named<"cvt.rn", true, not_negative, from_single>(
      table, "d2 s4 s4", SIMGPU_BOTH(convert_two, To, Rounding::nearest, true, not_negative));
  add_named<"cvt.rn", true, not_negative, from_half>(table, "d2 s4",
                                                     SIMGPU_BOTH(convert_halves, To, not_negative));
  table.template add<"cvt.rn", when(not_negative, ".relu"), ".f16x2", to>(
      "d4 s2", SIMGPU_BOTH(convert_to_halves, To, not_negative));
}

constexpr auto table = [] {
  OpcodeTable<72> made;
  each_flag([&]<bool not_negative>() {
    each_flag([&]<bool finite>() {
      each_value<Rounding::nearest, Rounding::zero>([&]<Rounding rounding>() {
        add_narrow<Half, ".f16.f32", ".f16x2.f32", rounding, finite, not_negative>(made);
        add_narrow<Brain, ".bf16.f32", ".bf16x2.f32", rounding, finite, not_negative>(made);
        constexpr Text start = Joined<"cvt", rounding_text<rounding>>::made.text();
        add_named<start, finite, not_negative, ".tf32.f32">(
            made, "d4 s4", SIMGPU_BOTH(convert_to_tensor, rounding, finite, not_negative));
      });
      if constexpr (!not_negative)
        add_named<"cvt.rna", finite, false, ".tf32.f32">(
            made, "d4 s4", SIMGPU_BOTH(convert_to_tensor, Rounding::nearest_away, finite, false));
    });
    add_bytes<E4M3, ".e4m3x2", not_negative>(made);
    add_bytes<E5M2, ".e5m2x2", not_negative>(made);
  });
  return made;
}();

}  // namespace

OpcodeList convert_packed_opcodes() { return table.list("convert packed"); }

}  // namespace simgpu::SIMGPU_ISA
