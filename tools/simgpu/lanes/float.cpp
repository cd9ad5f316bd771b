/// \file
/// Arithmetic of f32, f64 and f32x2 that PTX defines to the last bit: PTX ISA 9.7.3.1 to 9.7.3.15.
#include "tools/simgpu/lanes/minimum.h"

namespace simgpu::SIMGPU_ISA {
namespace {

/// What an operation has beside f32 and f64.
struct Has {
  bool saturation = false, pairs = false;
};

/// `f` is the operation in f32, `of_double` in f64.
template <auto f, auto of_double, int operands, Rounding rounding, Has has>
void add_rounded(OpcodeTable& table, const char* name, const char* rounding_text) {
  each_flag([&]<bool flushes>() {
    const char* ftz = when(flushes, ".ftz");
    constexpr auto plain = rounded<Single, f, flushes>;
    add_each<Single, plain, operands, rounding>(table, {name, rounding_text, ftz, ".f32"});
    if constexpr (has.saturation)
      add_each<Single, rounded<Single, f, flushes, Clamp::saturate>, operands, rounding>(
          table, {name, rounding_text, ftz, ".sat.f32"});
    if constexpr (has.pairs)
      add_each<Pair<Single>, plain, operands, rounding>(table,
                                                        {name, rounding_text, ftz, ".f32x2"});
  });
  add_each<Double, rounded<Double, of_double>, operands, rounding>(table,
                                                                   {name, rounding_text, ".f64"});
}

template <auto f, int operands, Has has, auto of_double = f>
void add_all_roundings(OpcodeTable& table, const char* name) {
  each_rounding([&]<Rounding rounding>() {
    add_rounded<f, of_double, operands, rounding, has>(table, name, rounding_name(rounding));
  });
}

/// And without a name of the rounding, which is .rn.
template <auto f>
void add_operation(OpcodeTable& table, const char* name) {
  add_rounded<f, f, 2, Rounding::nearest, Has{true, true}>(table, name, "");
  add_all_roundings<f, 2, Has{true, true}>(table, name);
}

/// testp, PTX ISA 9.7.3.1: zeros are normal.
template <class F>
void add_tests(OpcodeTable& table) {
  using Word = typename F::Word;
  const auto add = [&](auto holds, const char* name) {
    table.add({"testp.", name, ".", F::name}, {"dp", read<Word>},
              [](Warp& w, const Instruction& i) {
                const Word* a = lanes<Word>(w, i, 1);
                write_predicate<false>(w, i, 0, bits_where([&](int lane) {
                                         return decltype(holds){}(a[lane], a[lane] & ~F::sign);
                                       }));
              });
  };
  add([](Word, Word magnitude) { return magnitude < F::infinity; }, "finite");
  add([](Word, Word magnitude) { return magnitude == F::infinity; }, "infinite");
  add([](Word a, Word) { return !F::is_nan(a); }, "number");
  add([](Word a, Word) { return F::is_nan(a); }, "notanumber");
  add([](Word, Word magnitude) { return magnitude - 1 < F::least_normal - 1; }, "subnormal");
  add(
      [](Word, Word magnitude) {
        return magnitude == 0 || (magnitude >= F::least_normal && magnitude < F::infinity);
      },
      "normal");
}

/// The sign of a and the magnitude of b.
template <class F>
constexpr auto copy_sign =
    [](typename F::Word a, typename F::Word b) { return (a & F::sign) | (b & ~F::sign); };

}  // namespace

void float_opcodes(OpcodeTable& table) {
  add_operation<plus>(table, "add");
  add_operation<minus>(table, "sub");
  add_operation<times>(table, "mul");
  add_all_roundings<fused<Single>, 3, Has{true, true}, fused<Double>>(table, "fma");
  add_all_roundings<fused<Single>, 3, Has{true, false}, fused<Double>>(table, "mad");
  add_all_roundings<divide, 2, Has{}>(table, "div");
  add_all_roundings<reciprocal, 1, Has{}>(table, "rcp");
  add_all_roundings<square_root, 1, Has{}>(table, "sqrt");
}

void float_sign_opcodes(OpcodeTable& table) {
  each_type<Single, Double>([&]<class F>() {
    add_signs<F, F>(table);
    add_each<F, copy_sign<F>, 2>(table, {"copysign.", F::name});
    add_tests<F>(table);
  });
  add_extremes<Single, Single>(table);
  add_extremes<Single, Single, 3>(table);
  add_each<Double, Extreme<Double, true, false, false, false, false>{}, 2>(table, {"min.f64"});
  add_each<Double, Extreme<Double, false, false, false, false, false>{}, 2>(table, {"max.f64"});
}

}  // namespace simgpu::SIMGPU_ISA
