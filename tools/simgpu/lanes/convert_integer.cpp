/// \file
/// cvt between integers, and cvt.pack: PTX ISA 9.7.10.24 and 9.7.10.25.
#include "tools/simgpu/lanes/convert.h"

namespace simgpu::SIMGPU_ISA {
namespace {

template <class To, class From>
constexpr bool can_be_less = std::is_signed_v<From> &&
                             (!std::is_signed_v<To> || sizeof(To) < sizeof(From));
template <class To, class From>
constexpr bool can_be_greater = static_cast<u64>(highest_of<From>) >
                                static_cast<u64>(highest_of<To>);

/// The nearest value of a type.
template <class To, class From>
SIMGPU_INLINE To saturated(From value) {
  To made = static_cast<To>(value);
  if constexpr (can_be_greater<To, From>)
    made = value > static_cast<From>(highest_of<To>) ? highest_of<To> : made;
  if constexpr (can_be_less<To, From>)
    made = value < static_cast<From>(lowest_of<To>) ? lowest_of<To> : made;
  return made;
}

template <class To, class From, bool saturates>
constexpr auto convert = [](auto lane) {
  const From value = static_cast<From>(lane);
  if constexpr (saturates) return saturated<To>(value);
  else return static_cast<To>(value);
};

/// Two integers in the low bits; what is above them comes from the low bits of the third operand.
template <int bits, bool is_signed>
constexpr auto packed = [](s32 a, s32 b, auto... c) {
  constexpr s32 highest = (1 << (is_signed ? bits - 1 : bits)) - 1;
  constexpr s32 lowest = is_signed ? -highest - 1 : 0;
  constexpr u32 mask = (1u << bits) - 1;
  const auto field = [](s32 value) {
    return static_cast<u32>(least(greatest(value, lowest), highest)) & mask;
  };
  const u32 low = field(a) << bits | field(b);
  return (low | ... | (c << (2 * bits)));
};

}  // namespace

void convert_integer_opcodes(OpcodeTable& table) {
  each_integer([&]<class To>() {
    each_integer([&]<class From>() {
      add_conversion<To, From, convert<To, From, false>>(table, {"", "", "", ""});
      if constexpr (can_be_less<To, From> || can_be_greater<To, From>)
        add_conversion<To, From, convert<To, From, true>>(table, {"", "", "", ".sat"});
    });
  });
}

void pack_opcodes(OpcodeTable& table) {
  each_flag([&]<bool is_signed>() {
    const char* type = is_signed ? "s" : "u";
    add_lanes<packed<16, is_signed>, u32, s32, s32>(table, {"cvt.pack.sat.", type, "16.s32"});
    const auto add = [&]<int bits>(const char* text) {
      add_lanes<packed<bits, is_signed>, u32, s32, s32, u32>(
          table, {"cvt.pack.sat.", type, text, ".s32.b32"});
    };
    add.template operator()<8>("8");
    add.template operator()<4>("4");
    add.template operator()<2>("2");
  });
}

}  // namespace simgpu::SIMGPU_ISA
