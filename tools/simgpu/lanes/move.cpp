#include <type_traits>

#include "tools/simgpu/lanes/lanes.h"

// Moves between registers (PTX ISA 9.7.9.1 and .2, mov) and choices between two (9.7.6.3, selp;
// 9.7.6.4, slct). mov.pred is beside the logic of predicates.

namespace simgpu::SIMGPU_ISA {
namespace {

/// d = {a, b ...}: the first is the lowest.
template <bool all, class D, class S>
void pack(Warp& w, const Instruction& i) {
  constexpr int count = sizeof(D) / sizeof(S);
  const S* parts[count];
  for (int k = 0; k < count; ++k) parts[k] = lanes<S>(w, i, 1 + k);
  write<all>(w, lanes<D>(w, i, 0), [&](int lane) {
    D whole = 0;
    for (int k = 0; k < count; ++k)
      whole = static_cast<D>(whole | static_cast<D>(static_cast<D>(parts[k][lane])
                                                    << (k * 8 * static_cast<int>(sizeof(S)))));
    return whole;
  });
}

/// {d, e ...} = a.
template <bool all, class D, class S>
void unpack(Warp& w, const Instruction& i) {
  constexpr int count = sizeof(S) / sizeof(D);
  const S* a = lanes<S>(w, i, count);
  for (int k = 0; k < count; ++k)
    write<all>(w, lanes<D>(w, i, k), [&](int lane) {
      return static_cast<D>(a[lane] >> (k * 8 * static_cast<int>(sizeof(D))));
    });
}

/// selp d, a, b, c: a where the predicate c holds.
template <bool all, class T>
void select(Warp& w, const Instruction& i) {
  const T* a = lanes<T>(w, i, 1);
  const T* b = lanes<T>(w, i, 2);
  const u32 bits = predicate(w, i, 3);
  write<all>(w, lanes<T>(w, i, 0),
             [&](int lane) { return (bits & u32{1} << lane) != 0 ? a[lane] : b[lane]; });
}

/// slct d, a, b, c: a where f(c), which is whether c is not below zero. -0 is not, NaN is no
/// number.
template <auto f>
constexpr auto select_by = [](auto a, auto b, auto c) { return f(c) ? a : b; };
constexpr auto is_not_negative = [](auto c) { return c >= 0; };
/// .ftz: a subnormal c is a zero.
constexpr auto is_not_negative_flushed = [](float c) { return c > -0x1p-126f; };

template <class T>
void add_moves(OpcodeTable& table, const char* type) {
  add_lanes<[](T a) { return a; }, T, T>(table, {"mov.", type});
  table.add({"selp.", type}, {written<T>, read<T>, read<T>, " sp"}, SIMGPU_BOTH(select, T));
  add_lanes<select_by<is_not_negative>, T, T, T, s32>(table, {"slct.", type, ".s32"});
  add_lanes<select_by<is_not_negative>, T, T, T, float>(table, {"slct.", type, ".f32"});
  add_lanes<select_by<is_not_negative_flushed>, T, T, T, float>(table, {"slct.ftz.", type, ".f32"});
}

template <class Whole, class Part>
void add_vector(OpcodeTable& table) {
  const char *type = bits_name<Whole>, *vector = vector_texts[sizeof(Whole) / sizeof(Part)];
  table.add({"mov.", type}, {written<Whole>, read<Part>, vector}, SIMGPU_BOTH(pack, Whole, Part));
  table.add({"mov.", type}, {written<Part>, vector, read<Whole>}, SIMGPU_BOTH(unpack, Part, Whole));
}

}  // namespace

void move_opcodes(OpcodeTable& table) {
  each_type<u16, u32, u64>([&]<class T>() {
    add_moves<T>(table, bits_name<T>);
    add_moves<T>(table, type_name<T>);
    add_moves<T>(table, type_name<std::make_signed_t<T>>);
  });
  add_moves<u32>(table, "f32");
  add_moves<u64>(table, "f64");
  add_lanes<[](u128 a) { return a; }, u128, u128>(table, {"mov.b128"});
  add_vector<u16, u8>(table);
  add_vector<u32, u16>(table);
  add_vector<u32, u8>(table);
  add_vector<u64, u32>(table);
  add_vector<u64, u16>(table);
  add_vector<u128, u64>(table);
  add_vector<u128, u32>(table);
}

}  // namespace simgpu::SIMGPU_ISA
