/// \file
/// Arithmetic of f32, f64 and f32x2 that PTX defines to the last bit: PTX ISA 9.7.3.1 to 9.7.3.15.
#include "tools/simgpu/lanes/minimum.h"

namespace simgpu::SIMGPU_ISA {
namespace {

/// One operation with a rounding in f32, f64 and, where it has that, f32x2. `plain` is the name
/// without a rounding, which is .rn.
template <Text name, Text rounding_name, class Operation, int operands, Rounding rounding,
          bool has_saturation, bool has_pairs, std::size_t capacity>
constexpr void add_rounded(OpcodeTable<capacity>& table) {
  each_flag([&]<bool flushes>() {
    constexpr Text ftz = when(flushes, ".ftz");
    using Plain = Arithmetic<Single, Operation, rounding, flushes, Clamp::none>;
    add_each<Single, 1, operands, Plain, name, rounding_name, ftz, ".f32">(table);
    if constexpr (has_saturation) {
      using Saturated = Arithmetic<Single, Operation, rounding, flushes, Clamp::saturate>;
      add_each<Single, 1, operands, Saturated, name, rounding_name, ftz, ".sat", ".f32">(table);
    }
    if constexpr (has_pairs)
      add_each<Single, 2, operands, Plain, name, rounding_name, ftz, ".f32x2">(table);
  });
  using Plain = Arithmetic<Double, Operation, rounding, false, Clamp::none>;
  add_each<Double, 1, operands, Plain, name, rounding_name, ".f64">(table);
}

/// The same in all roundings.
template <Text name, class Operation, int operands, bool has_saturation, bool has_pairs,
          std::size_t capacity>
constexpr void add_all_roundings(OpcodeTable<capacity>& table) {
  each_value<Rounding::nearest, Rounding::zero, Rounding::down, Rounding::up>(
      [&]<Rounding rounding>() {
        add_rounded<name, rounding_text<rounding>, Operation, operands, rounding, has_saturation,
                    has_pairs>(table);
      });
}

constexpr auto arithmetic_table = [] {
  OpcodeTable<256> table;
  constexpr Text none = "";
  add_rounded<"add", none, Add, 2, Rounding::nearest, true, true>(table);
  add_rounded<"sub", none, Subtract, 2, Rounding::nearest, true, true>(table);
  add_rounded<"mul", none, Multiply, 2, Rounding::nearest, true, true>(table);
  add_all_roundings<"add", Add, 2, true, true>(table);
  add_all_roundings<"sub", Subtract, 2, true, true>(table);
  add_all_roundings<"mul", Multiply, 2, true, true>(table);
  add_all_roundings<"fma", MultiplyAdd, 3, true, true>(table);
  add_all_roundings<"mad", MultiplyAdd, 3, true, false>(table);
  add_all_roundings<"div", Divide, 2, false, false>(table);
  add_all_roundings<"rcp", Reciprocal, 1, false, false>(table);
  add_all_roundings<"sqrt", SquareRoot, 1, false, false>(table);
  return table;
}();

// testp, PTX ISA 9.7.3.1: zeros are normal.
template <class F>
struct IsFinite {
  static bool holds(typename F::Word word) { return (word & ~F::sign) < F::infinity; }
};
template <class F>
struct IsInfinite {
  static bool holds(typename F::Word word) { return (word & ~F::sign) == F::infinity; }
};
template <class F>
struct IsNumber {
  static bool holds(typename F::Word word) { return !F::is_nan(word); }
};
template <class F>
struct IsNan {
  static bool holds(typename F::Word word) { return F::is_nan(word); }
};
template <class F>
struct IsSubnormal {
  static bool holds(typename F::Word word) {
    const typename F::Word magnitude = word & ~F::sign;
    return magnitude != 0 && magnitude < F::least_normal;
  }
};
template <class F>
struct IsNormal {
  static bool holds(typename F::Word word) {
    return IsFinite<F>::holds(word) && !IsSubnormal<F>::holds(word);
  }
};

template <class F, class Property>
void test_property(Warp& w, const Instruction& i) {
  const auto* a = lanes<typename F::Word>(w, i, 1);
  write_predicate<false>(w, i, 0, bits_where([&](int lane) { return Property::holds(a[lane]); }));
}

template <class F, Text type, std::size_t capacity>
constexpr void add_tests(OpcodeTable<capacity>& table, std::string_view pattern) {
  const auto add = [&]<Text name, class Property>() {
    constexpr Execute run = &test_property<F, Property>;
    table.template add<"testp.", name, type>(pattern, run, run);
  };
  add.template operator()<"finite", IsFinite<F>>();
  add.template operator()<"infinite", IsInfinite<F>>();
  add.template operator()<"number", IsNumber<F>>();
  add.template operator()<"notanumber", IsNan<F>>();
  add.template operator()<"normal", IsNormal<F>>();
  add.template operator()<"subnormal", IsSubnormal<F>>();
}

template <class F, Extreme extreme, Text name, std::size_t capacity>
constexpr void add_extremes_of_three(OpcodeTable<capacity>& table) {
  each_flag([&]<bool flushes>() {
    each_flag([&]<bool nan_wins>() {
      each_flag([&]<bool absolute>() {
        using Function = Minimum<F, extreme, flushes, nan_wins, absolute, false>;
        add_each<F, 1, 3, Function, name, when(flushes, ".ftz"), when(nan_wins, ".NaN"),
                 when(absolute, ".abs"), ".f32">(table);
      });
    });
  });
}

constexpr auto sign_table = [] {
  OpcodeTable<64> table;
  add_signs<Single, 1, true, ".f32">(table);
  add_signs<Double, 1, false, ".f64">(table);
  add_each<Single, 1, 2, CopySign<Single>, "copysign.f32">(table);
  add_each<Double, 1, 2, CopySign<Double>, "copysign.f64">(table);
  add_extremes<Single, 1, true, ".f32">(table);
  add_extremes_of_three<Single, Extreme::least, "min">(table);
  add_extremes_of_three<Single, Extreme::greatest, "max">(table);
  using Least = Minimum<Double, Extreme::least, false, false, false, false>;
  using Greatest = Minimum<Double, Extreme::greatest, false, false, false, false>;
  add_each<Double, 1, 2, Least, "min.f64">(table);
  add_each<Double, 1, 2, Greatest, "max.f64">(table);
  add_tests<Single, ".f32">(table, "dp s4");
  add_tests<Double, ".f64">(table, "dp s8");
  return table;
}();

}  // namespace

OpcodeList float_opcodes() { return arithmetic_table.list("float"); }
OpcodeList float_sign_opcodes() { return sign_table.list("float sign"); }

}  // namespace simgpu::SIMGPU_ISA
