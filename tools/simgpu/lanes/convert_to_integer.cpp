/// \file
/// cvt from floating point to integers: PTX ISA 9.7.10.24. What is out of range becomes the nearest
/// integer in it, with .sat and without.
#include "tools/simgpu/lanes/convert.h"

namespace simgpu::SIMGPU_ISA {
namespace {

template <class F>
constexpr bool is_brain = F::bits == 16 && F::bias == Brain::bias;

/// Of a NaN: zero, or where either has 64 bits the highest bit alone.
template <class To, class F>
constexpr To of_nan = F::bits == 64 || sizeof(To) == 8
                          ? static_cast<To>(std::uint64_t{1} << (Integer<To>::bits - 1))
                          : To(0);

template <class To, class N>
SIMGPU_INLINE To clamped(N number, To nan) {
  // Powers of two, or zero: exact in any format.
  constexpr N least = static_cast<N>(Integer<To>::least);
  constexpr N beyond = 2 * static_cast<N>(Integer<To>::greatest / 2 + 1);
  const bool is_less = number < least, is_greater = number >= beyond, is_nan = number != number;
  const N inside = (is_less | is_greater | is_nan) ? N(0) : number;
  using Wide = typename RegisterOf<sizeof(To) == 8 ? 64 : 32>::Lane;
  To made{};
  if constexpr (sizeof(To) == 8) made = static_cast<To>(inside);
  else if constexpr (sizeof(To) == 4 && !Integer<To>::is_signed) made = static_cast<Wide>(inside);
  else made = static_cast<To>(static_cast<std::int32_t>(inside));
  made = is_less ? Integer<To>::least : made;
  made = is_greater ? Integer<To>::greatest : made;
  return is_nan ? nan : made;
}

template <bool all, class To, class ToRegister, class F, Rounding rounding, bool flushes>
void convert(Warp& w, const Instruction& i) {
  const auto* from = lanes<typename RegisterOf<F::bits>::Lane>(w, i, 1);
  write<all>(
      w, lanes<ToRegister>(w, i, 0), [&](int lane) __attribute__((always_inline)) {
        const auto number = F::number(flush<F, flushes>(from[lane]));
        return extended<ToRegister>(clamped<To>(integral<rounding>(number), of_nan<To, F>));
      });
}

template <class To, class F, Rounding rounding, bool flushes, bool saturates, std::size_t capacity>
constexpr void add_conversion(OpcodeTable<capacity>& table) {
  const auto add = [&]<class ToRegister>() {
    constexpr bool is_usual = sizeof(To) >= 4 && sizeof(ToRegister) == sizeof(To);
    constexpr Execute some = &convert<false, To, ToRegister, F, rounding, flushes>;
    constexpr Execute all = &convert<is_usual, To, ToRegister, F, rounding, flushes>;
    table.template add<"cvt", integer_rounding_text<rounding>, when(flushes, ".ftz"),
                       when(saturates, ".sat"), Integer<To>::text, type_text<F>>(
        one_operand<sizeof(ToRegister), F::bits / 8>, all, some);
  };
  // From bf16 the register may not be wider.
  if constexpr (is_brain<F>) add.template operator()<To>();
  else each_register<To>(add);
}

/// In every rounding, with .sat unless the source is bf16.
template <class F, std::size_t capacity>
constexpr void add_conversions(OpcodeTable<capacity>& table) {
  each_integer([&]<class To>() {
    each_rounding([&]<Rounding rounding>() {
      each_flag([&]<bool flushes>() {
        each_flag([&]<bool saturates>() {
          if constexpr ((!flushes || F::bits == 32) && (!is_brain<F> || !saturates))
            add_conversion<To, F, rounding, flushes, saturates>(table);
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

OpcodeList convert_to_integer_opcodes() { return table.list("convert to integer"); }

}  // namespace simgpu::SIMGPU_ISA
