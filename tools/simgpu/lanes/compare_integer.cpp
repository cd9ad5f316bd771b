#include "tools/simgpu/lanes/compare.h"

// Compares of integers (PTX ISA 9.7.6.1, set; 9.7.6.2, setp) and what predicates make of each other
// (9.7.8).

namespace simgpu {
namespace SIMGPU_ISA {
namespace {

template <class T, class F>
SIMGPU_INLINE u32 compared_inline(Warp& w, const Instruction& i, int operand) {
  return bits_of<F>(lanes<T>(w, i, operand), lanes<T>(w, i, operand + 1));
}
/// The same, once for the many opcodes that are rare.
template <class T, class F>
[[gnu::noinline]] u32 compared(Warp& w, const Instruction& i, int operand) {
  return compared_inline<T, F>(w, i, operand);
}

/// setp p|q, a, b.
template <bool all, class T, class F>
void set_predicates(Warp& w, const Instruction& i) {
  const u32 bits = compared_inline<T, F>(w, i, 2);
  write_predicate<all>(w, i, 0, bits);
  write_predicate<all>(w, i, 1, ~bits);
}

/// setp p|q, a, b, c.
template <bool all, class T, class F, class Combined>
void set_predicates_with(Warp& w, const Instruction& i) {
  const u32 bits = compared<T, F>(w, i, 2), other = predicate(w, i, 4);
  write_predicate<all>(w, i, 0, Combined::of(bits, other));
  write_predicate<all>(w, i, 1, Combined::of(~bits, other));
}

/// D is the type of the result, `truth` what it is where the compare holds.
template <class D, D truth>
[[gnu::noinline]] void write_truth(Warp& w, const Instruction& i, u32 bits) {
  write<false>(w, lanes<D>(w, i, 0),
               [&](int lane) { return (bits >> lane & 1u) != 0 ? truth : D{0}; });
}
/// set d, a, b.
template <class T, class F, class D, D truth>
void set_register(Warp& w, const Instruction& i) {
  write_truth<D, truth>(w, i, compared<T, F>(w, i, 1));
}
/// set d, a, b, c.
template <class T, class F, class Combined, class D, D truth>
void set_register_with(Warp& w, const Instruction& i) {
  write_truth<D, truth>(w, i, Combined::of(compared<T, F>(w, i, 1), predicate(w, i, 3)));
}

template <bool all, class Combined>
void combine(Warp& w, const Instruction& i) {
  write_predicate<all>(w, i, 0, Combined::of(predicate(w, i, 1), predicate(w, i, 2)));
}
template <bool all, u32 flipped>
void copy(Warp& w, const Instruction& i) {
  write_predicate<all>(w, i, 0, predicate(w, i, 1) ^ flipped);
}

#define SET_ONE(name, sources, D, truth, d, T, F) \
  { name, d sources, SIMGPU_EITHER((set_register<T, F, D, truth>)) }
#define SET_WITH(name, sources, D, truth, d, T, F, Combined) \
  { name, d sources " sp", SIMGPU_EITHER((set_register_with<T, F, Combined, D, truth>)) }
#define SET(compare, dtype, type, sources, D, truth, d, T, F)                      \
  SET_ONE("set." compare dtype type, sources, D, truth, d, T, F),                  \
      SET_WITH("set." compare ".and" dtype type, sources, D, truth, d, T, F, And), \
      SET_WITH("set." compare ".or" dtype type, sources, D, truth, d, T, F, Or),   \
      SET_WITH("set." compare ".xor" dtype type, sources, D, truth, d, T, F, Xor)
#define SETP(compare, type, sources, T, F)                                                        \
  SIMGPU_ROW("setp." compare type, "dpq" sources, set_predicates, T, F),                          \
      SIMGPU_ROW("setp." compare ".and" type, "dpq" sources " sp", set_predicates_with, T, F,     \
                 And),                                                                            \
      SIMGPU_ROW("setp." compare ".or" type, "dpq" sources " sp", set_predicates_with, T, F, Or), \
      SIMGPU_ROW("setp." compare ".xor" type, "dpq" sources " sp", set_predicates_with, T, F, Xor)
/// setp and set: a true compare is all ones, or 1 of the type of floating point.
#define COMPARE(compare, type, sources, T, F)                             \
  SETP(compare, type, sources, T, F),                                     \
      SET(compare, ".u32", type, sources, u32, 0xffff'ffffu, "d4", T, F), \
      SET(compare, ".s32", type, sources, u32, 0xffff'ffffu, "d4", T, F), \
      SET(compare, ".f32", type, sources, u32, 0x3f80'0000u, "d4", T, F), \
      SET(compare, ".f16", type, sources, u16, 0x3c00u, "d2", T, F),      \
      SET(compare, ".bf16", type, sources, u16, 0x3f80u, "d2", T, F)

#define EQUALITY(type, sources, T) \
  COMPARE("eq", type, sources, T, Equal), COMPARE("ne", type, sources, T, Unequal)
#define ORDER(type, sources, T)                                                        \
  COMPARE("lt", type, sources, T, Less), COMPARE("le", type, sources, T, LessOrEqual), \
      COMPARE("gt", type, sources, T, Greater), COMPARE("ge", type, sources, T, GreaterOrEqual)
#define UNSIGNED_ORDER(type, sources, T)                                                      \
  ORDER(type, sources, T), COMPARE("lo", type, sources, T, Less),                             \
      COMPARE("ls", type, sources, T, LessOrEqual), COMPARE("hi", type, sources, T, Greater), \
      COMPARE("hs", type, sources, T, GreaterOrEqual)
#define WIDTH(bits, sources, Unsigned, Signed)                                                \
  EQUALITY(".b" #bits, sources, Unsigned), EQUALITY(".u" #bits, sources, Unsigned),           \
      EQUALITY(".s" #bits, sources, Unsigned), UNSIGNED_ORDER(".u" #bits, sources, Unsigned), \
      ORDER(".s" #bits, sources, Signed)

constexpr Opcode table[] = {
    WIDTH(16, " s2 s2", u16, s16),
    WIDTH(32, " s4 s4", u32, s32),
    WIDTH(64, " s8 s8", u64, s64),
    SIMGPU_ROW("and.pred", "dp sp sp", combine, And),
    SIMGPU_ROW("or.pred", "dp sp sp", combine, Or),
    SIMGPU_ROW("xor.pred", "dp sp sp", combine, Xor),
    SIMGPU_ROW("not.pred", "dp sp", copy, 0xffff'ffffu),
    SIMGPU_ROW("mov.pred", "dp sp", copy, 0u),
};

}  // namespace

OpcodeList compare_integer_opcodes() {
  return {table, sizeof table / sizeof *table, "compare_integer"};
}

}  // namespace SIMGPU_ISA
}  // namespace simgpu
