/// \file
/// Patterns of opcodes, word by word: see opcodes.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simgpu {

struct PatternWord {
  enum class Kind : std::uint8_t {
    written,
    read,
    address,          ///< m
    number,           ///< i
    label,            ///< l, or t: the name of a list of them
    entry_parameter,  ///< e
    slot,             ///< f
  };
  Kind kind{};
  int bytes = 0;      ///< of a register, or of an address; 0 of a predicate
  int vector = 0;     ///< elements; 0 where it is none
  bool pair = false;  ///< with a predicate behind |
};

/// \throws std::logic_error for what is no pattern: a mistake in the table.
std::vector<PatternWord> parse_pattern(std::string_view pattern);

/// The same for people: `a 4-byte register, a 4-byte value, a predicate`.
std::string describe_pattern(std::string_view pattern);

}  // namespace simgpu
