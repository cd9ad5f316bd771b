/// \file
/// Opcodes as the families add them to the table of an instruction set of the host, at the first
/// load of a module: by loops over what may stand in an opcode beside each other, so that
/// `add{.rn,.rz,.rm,.rp}{.ftz}{.sat}.f32` are three loops and not twenty lines.
///
///     each_flag([&]<bool flushes>() {
///       table.add({"abs", when(flushes, ".ftz"), ".f32"}, {"d4 s4"}, SIMGPU_BOTH(f, flushes));
///     });
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "tools/simgpu/code/opcodes.h"

namespace simgpu {

/// Texts that are joined to one.
using Parts = std::initializer_list<const char*>;

/// What one file of this folder, or a part of it, has.
struct Family {
  std::string_view name;
  std::vector<Opcode> opcodes;
};

/// Its functions are compiled once, not for each instruction set: they are in code/opcodes.cpp.
class OpcodeTable {
 public:
  /// What is added from here on is of this family.
  void begin(const char* family);
  void add(Parts name, Parts pattern, Execute all, Execute some, Control control = Control::next,
           std::uint8_t members = 0);
  /// One function that looks at Warp::active itself.
  void add(Parts name, Parts pattern, Execute run, Control control = Control::next,
           std::uint8_t members = 0);

  const std::vector<Family>& families() const { return families_; }

 private:
  std::string_view keep(Parts parts);

  std::vector<Family> families_;
  std::unordered_set<std::string> texts_;  ///< names and patterns, where they stay
};

[[gnu::always_inline]] constexpr const char* when(bool holds, const char* text) {
  return holds ? text : "";
}

/// A register of this type in a pattern, and one that is read, behind others.
template <class T>
inline constexpr const char* written = [] {
  constexpr const char* of_size[] = {"d1", "d2", "d4", "d8", "d16"};
  return of_size[__builtin_ctz(sizeof(T))];
}();
template <class T>
inline constexpr const char* read = [] {
  constexpr const char* of_size[] = {" s1", " s2", " s4", " s8", " s16"};
  return of_size[__builtin_ctz(sizeof(T))];
}();
/// Behind such a register: how many there are.
inline constexpr const char* vector_texts[] = {"", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8"};

/// The name of a type: of an integer with or without a sign, of a format of numbers, or of so many
/// bits.
template <class T>
inline constexpr const char* type_name = [] {
  constexpr const char* names[2][4] = {{"u8", "u16", "u32", "u64"}, {"s8", "s16", "s32", "s64"}};
  if constexpr (requires { T::name; }) return T::name;
  else return names[T(-1) < T(0)][__builtin_ctz(sizeof(T))];
}();
template <class T>
inline constexpr const char* bits_name = [] {
  constexpr const char* names[] = {"b8", "b16", "b32", "b64", "b128"};
  return names[__builtin_ctz(sizeof(T))];
}();

/// body<false>() and body<true>().
template <class Body>
void each_flag(Body body) {
  body.template operator()<false>();
  body.template operator()<true>();
}

/// body<value>() for each of the values, body<T>() for each of the types.
template <auto... values, class Body>
void each_value(Body body) {
  (body.template operator()<values>(), ...);
}
template <class... Types, class Body>
void each_type(Body body) {
  (body.template operator()<Types>(), ...);
}

}  // namespace simgpu
