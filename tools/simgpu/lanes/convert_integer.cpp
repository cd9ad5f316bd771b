/// \file
/// cvt between integers, and cvt.pack: PTX ISA 9.7.10.24 and 9.7.10.25.
#include "tools/simgpu/lanes/convert.h"

namespace simgpu::SIMGPU_ISA {
namespace {

template <class To, class From>
constexpr bool can_be_less = Integer<From>::is_signed &&
                             (!Integer<To>::is_signed || sizeof(To) < sizeof(From));
template <class To, class From>
constexpr bool can_be_greater = static_cast<std::uint64_t>(Integer<From>::greatest) >
                                static_cast<std::uint64_t>(Integer<To>::greatest);

/// The nearest value of a type.
template <class To, class From>
SIMGPU_INLINE To saturated(From value) {
  To made = static_cast<To>(value);
  if constexpr (can_be_greater<To, From>)
    made = value > static_cast<From>(Integer<To>::greatest) ? Integer<To>::greatest : made;
  if constexpr (can_be_less<To, From>)
    made = value < static_cast<From>(Integer<To>::least) ? Integer<To>::least : made;
  return made;
}

template <bool all, class To, class ToRegister, class From, class FromRegister, bool saturates>
void convert(Warp& w, const Instruction& i) {
  const FromRegister* from = lanes<FromRegister>(w, i, 1);
  write<all>(w, lanes<ToRegister>(w, i, 0), [&](int lane) {
    const From value = static_cast<From>(from[lane]);
    if constexpr (saturates) return extended<ToRegister>(saturated<To>(value));
    else return extended<ToRegister>(static_cast<To>(value));
  });
}

/// In the registers that compilers take, two functions; in others one is fast enough.
template <class To, class ToRegister, class From, class FromRegister, bool saturates>
constexpr Opcode convert_opcode(const char* name) {
  constexpr bool is_usual = sizeof(ToRegister) == (sizeof(To) == 1 ? 2 : sizeof(To)) &&
                            sizeof(FromRegister) == (sizeof(From) == 1 ? 2 : sizeof(From));
  return {name, one_operand<sizeof(ToRegister), sizeof(FromRegister)>,
          &convert<is_usual, To, ToRegister, From, FromRegister, saturates>,
          &convert<false, To, ToRegister, From, FromRegister, saturates>};
}

template <class To, class From, bool saturates, std::size_t capacity>
constexpr void add_conversion(OpcodeTable<capacity>& table) {
  constexpr Text sat = when(saturates, ".sat");
  constexpr const char* name =
      Joined<"cvt", sat, Integer<To>::text, Integer<From>::text>::made.characters;
  each_register<To>([&]<class ToRegister>() {
    each_register<From>([&]<class FromRegister>() {
      table.add(convert_opcode<To, ToRegister, From, FromRegister, saturates>(name));
    });
  });
}

constexpr auto integer_table = [] {
  OpcodeTable<640> table;
  each_integer([&]<class To>() {
    each_integer([&]<class From>() {
      add_conversion<To, From, false>(table);
      if constexpr (can_be_less<To, From> || can_be_greater<To, From>)
        add_conversion<To, From, true>(table);
    });
  });
  return table;
}();

/// Two integers in the low bits; what is above them comes from the low bits of the third operand.
template <bool all, int bits, bool is_signed, bool has_third>
void pack(Warp& w, const Instruction& i) {
  constexpr std::int32_t greatest = (1 << (is_signed ? bits - 1 : bits)) - 1;
  constexpr std::int32_t least = is_signed ? -greatest - 1 : 0;
  constexpr std::uint32_t mask = (1u << bits) - 1;
  const auto* a = lanes<std::int32_t>(w, i, 1);
  const auto* b = lanes<std::int32_t>(w, i, 2);
  const auto* c = has_third ? lanes<std::uint32_t>(w, i, 3) : nullptr;
  const auto field = [](std::int32_t value) {
    const std::int32_t not_less = value < least ? least : value;
    return static_cast<std::uint32_t>(not_less > greatest ? greatest : not_less) & mask;
  };
  write<all>(w, lanes<std::uint32_t>(w, i, 0), [&](int lane) {
    const std::uint32_t made = field(a[lane]) << bits | field(b[lane]);
    if constexpr (has_third) return made | c[lane] << (2 * bits);
    else return made;
  });
}

constexpr Opcode pack_table[] = {
    {"cvt.pack.sat.u16.s32", "d4 s4 s4", SIMGPU_BOTH(pack, 16, false, false)},
    {"cvt.pack.sat.s16.s32", "d4 s4 s4", SIMGPU_BOTH(pack, 16, true, false)},
    {"cvt.pack.sat.u8.s32.b32", "d4 s4 s4 s4", SIMGPU_BOTH(pack, 8, false, true)},
    {"cvt.pack.sat.s8.s32.b32", "d4 s4 s4 s4", SIMGPU_BOTH(pack, 8, true, true)},
    {"cvt.pack.sat.u4.s32.b32", "d4 s4 s4 s4", SIMGPU_BOTH(pack, 4, false, true)},
    {"cvt.pack.sat.s4.s32.b32", "d4 s4 s4 s4", SIMGPU_BOTH(pack, 4, true, true)},
    {"cvt.pack.sat.u2.s32.b32", "d4 s4 s4 s4", SIMGPU_BOTH(pack, 2, false, true)},
    {"cvt.pack.sat.s2.s32.b32", "d4 s4 s4 s4", SIMGPU_BOTH(pack, 2, true, true)},
};

}  // namespace

OpcodeList convert_integer_opcodes() { return integer_table.list("convert integer"); }
OpcodeList pack_opcodes() { return {pack_table, sizeof(pack_table) / sizeof(Opcode), "pack"}; }

}  // namespace simgpu::SIMGPU_ISA
