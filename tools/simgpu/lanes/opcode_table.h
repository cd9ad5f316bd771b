/// \file
/// Tables of opcodes that are made while the compiler runs, from what may stand in an opcode beside
/// each other: `add{.rn,.rz,.rm,.rp}{.ftz}{.sat}.f32` are three loops and not twenty lines.
///
///     constexpr auto table = [] {
///       OpcodeTable<4> made;
///       each_flag([&]<bool ftz>() {
///         made.add<"abs", when(ftz, ".ftz"), ".f32">("d4 s4", SIMGPU_BOTH(absolute, ftz));
///       });
///       return made;
///     }();
#pragma once

#include <string_view>

#include "tools/simgpu/lanes/lanes.h"

namespace simgpu::SIMGPU_ISA {

/// A text that can be an argument of a template.
struct Text {
  char characters[24] = {};
  std::size_t length = 0;

  consteval Text(const char* text) {  // NOLINT(google-explicit-constructor): "text" is one
    for (; text[length] != 0; ++length) characters[length] = text[length];
  }
};

consteval Text when(bool holds, const char* text) { return Text(holds ? text : ""); }

/// The characters of texts, one after the other.
template <Text... parts>
struct JoinedText {
  char characters[(parts.length + ...) + 1] = {};

  consteval JoinedText() {
    std::size_t at = 0;
    (
        [&] {
          for (std::size_t i = 0; i < parts.length; ++i) characters[at++] = parts.characters[i];
        }(),
        ...);
  }
  consteval Text text() const { return Text(characters); }
};
/// Once for each sequence of texts: names of opcodes point into it.
template <Text... parts>
struct Joined {
  static constexpr JoinedText<parts...> made{};
};

template <std::size_t capacity>
struct OpcodeTable {
  Opcode opcodes[capacity] = {};
  std::size_t count = 0;

  /// An opcode whose name is that of its parts.
  template <Text... parts>
  constexpr void add(std::string_view pattern, Execute all, Execute some,
                     Control control = Control::next, std::uint8_t members = 0) {
    opcodes[count++] = {Joined<parts...>::made.characters, pattern, all, some, control, members};
  }

  constexpr void add(const Opcode& opcode) { opcodes[count++] = opcode; }

  OpcodeList list(std::string_view family) const { return {opcodes, count, family}; }
};

/// body<false>() and body<true>().
template <class Body>
constexpr void each_flag(Body body) {
  body.template operator()<false>();
  body.template operator()<true>();
}

/// body<value>() for each of the values.
template <auto... values, class Body>
constexpr void each_value(Body body) {
  (body.template operator()<values>(), ...);
}

}  // namespace simgpu::SIMGPU_ISA
