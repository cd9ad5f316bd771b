/// \file
/// cvt between f16, bf16, f32 and f64: PTX ISA 9.7.10.24.
#include "tools/simgpu/lanes/convert.h"

namespace simgpu::SIMGPU_ISA {
namespace {

template <class To, class From, Rounding rounding>
SIMGPU_INLINE typename To::Word converted(typename From::Word word) {
  if constexpr (From::bits == 64 && To::bits == 64) {
    return word;
  } else if constexpr (To::bits > From::bits) {
    return round_to<To>(static_cast<typename To::Number>(From::number(word)));
  } else if constexpr (To::bits == 32 && From::bits == 32) {
    return word;
  } else if constexpr (From::bits == 64) {
    if constexpr (rounding == Rounding::nearest) return round_to<To>(From::number(word));
    else return narrow<To, rounding, false, Double>(word);
  } else {
    // From 16 bits by way of f32, which holds all of them.
    return narrow<To, rounding, false, Single>(bits_as<std::uint32_t>(From::number(word)));
  }
}

template <bool all, class To, class From, Rounding rounding, bool flushes, Clamp clamp>
void convert(Warp& w, const Instruction& i) {
  using ToLane = typename RegisterOf<To::bits>::Lane;
  const auto* from = lanes<typename RegisterOf<From::bits>::Lane>(w, i, 1);
  write<all>(
      w, lanes<ToLane>(w, i, 0), [&](int lane) __attribute__((always_inline)) {
        const typename From::Word word = flush<From, flushes_here<From, flushes>>(from[lane]);
        return static_cast<ToLane>(
            finish<To, flushes_here<To, flushes>, clamp>(converted<To, From, rounding>(word)));
      });
}

/// A number rounded to an integer of its own type.
template <bool all, class F, Rounding rounding, bool flushes, Clamp clamp>
void convert_to_integral(Warp& w, const Instruction& i) {
  using Lane = typename RegisterOf<F::bits>::Lane;
  const Lane* from = lanes<Lane>(w, i, 1);
  write<all>(
      w, lanes<Lane>(w, i, 0), [&](int lane) __attribute__((always_inline)) {
        const auto number = F::number(flush<F, flushes>(from[lane]));
        return static_cast<Lane>(
            finish<F, flushes, clamp>(round_to<F>(integral<rounding>(number))));
      });
}

/// body<flushes, clamp>() for those that a conversion may have: .ftz where one is f32, .sat to all
/// but bf16.
template <class To, class From, class Body>
constexpr void each_modifier(Body body) {
  each_flag([&]<bool flushes>() {
    each_value<Clamp::none, Clamp::saturate>([&]<Clamp clamp>() {
      constexpr bool is_brain = To::bits == 16 && To::bias == Brain::bias;
      constexpr bool from_brain = From::bits == 16 && From::bias == Brain::bias;
      constexpr bool has_single = To::bits == 32 || From::bits == 32;
      if constexpr ((!flushes || has_single) &&
                    (clamp == Clamp::none || (!is_brain && !from_brain)))
        body.template operator()<flushes, clamp>();
    });
  });
}

template <class To, class From, Text rounding_name, Rounding rounding, std::size_t capacity>
constexpr void add_conversion(OpcodeTable<capacity>& table) {
  each_modifier<To, From>([&]<bool flushes, Clamp clamp>() {
    table.template add<"cvt", rounding_name, when(flushes, ".ftz"), clamp_text<clamp>,
                       type_text<To>, type_text<From>>(
        one_operand<To::bits / 8, From::bits / 8>,
        SIMGPU_BOTH(convert, To, From, rounding, flushes, clamp));
  });
}

template <class To, class From, std::size_t capacity>
constexpr void add_exact(OpcodeTable<capacity>& table) {
  add_conversion<To, From, "", Rounding::nearest>(table);
}

template <class To, class From, std::size_t capacity>
constexpr void add_rounded(OpcodeTable<capacity>& table) {
  each_rounding([&]<Rounding rounding>() {
    add_conversion<To, From, rounding_text<rounding>, rounding>(table);
  });
}

template <class F, std::size_t capacity>
constexpr void add_integral(OpcodeTable<capacity>& table) {
  each_rounding([&]<Rounding rounding>() {
    each_modifier<F, F>([&]<bool flushes, Clamp clamp>() {
      table.template add<"cvt", integer_rounding_text<rounding>, when(flushes, ".ftz"),
                         clamp_text<clamp>, type_text<F>, type_text<F>>(
          one_operand<F::bits / 8, F::bits / 8>,
          SIMGPU_BOTH(convert_to_integral, F, rounding, flushes, clamp));
    });
  });
}

constexpr auto table = [] {
  OpcodeTable<160> made;
  add_exact<Half, Half>(made);
  add_exact<Brain, Brain>(made);
  add_exact<Single, Half>(made);
  add_exact<Single, Brain>(made);
  add_exact<Single, Single>(made);
  add_exact<Double, Half>(made);
  add_exact<Double, Brain>(made);
  add_exact<Double, Single>(made);
  add_exact<Double, Double>(made);
  add_rounded<Half, Brain>(made);
  add_rounded<Half, Single>(made);
  add_rounded<Half, Double>(made);
  add_rounded<Brain, Half>(made);
  add_rounded<Brain, Single>(made);
  add_rounded<Brain, Double>(made);
  add_rounded<Single, Double>(made);
  add_integral<Half>(made);
  add_integral<Brain>(made);
  add_integral<Single>(made);
  add_integral<Double>(made);
  return made;
}();

}  // namespace

OpcodeList convert_float_opcodes() { return table.list("convert float"); }

}  // namespace simgpu::SIMGPU_ISA
