/// \file
/// Integers of the types of PTX for expected values: exact in 128 bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simgpu {

__extension__ using Whole = __int128;
__extension__ using Natural = unsigned __int128;

struct IntegerType {
  std::string name;
  int bits = 0;
  bool is_signed = false;

  /// What the lower bits of `word` say.
  Whole value(std::uint64_t word) const {
    const Natural low = word & (~std::uint64_t{0} >> (64 - bits));
    const bool negative = is_signed && (low >> (bits - 1)) != 0;
    return static_cast<Whole>(low) - (negative ? Whole{1} << bits : Whole{0});
  }
  Whole least() const { return is_signed ? -(Whole{1} << (bits - 1)) : 0; }
  Whole most() const { return (Whole{1} << (is_signed ? bits - 1 : bits)) - 1; }
  Whole clamped(Whole value) const {
    return value < least() ? least() : value > most() ? most() : value;
  }
};

inline const std::vector<IntegerType>& integer_types() {
  static const std::vector<IntegerType> types = {{"u16", 16, false}, {"s16", 16, true},
                                                 {"u32", 32, false}, {"s32", 32, true},
                                                 {"u64", 64, false}, {"s64", 64, true}};
  return types;
}

inline std::uint64_t low_word(Whole value) {
  return static_cast<std::uint64_t>(static_cast<Natural>(value));
}

/// The product modulo 2^128, by shifts and additions.
inline Natural long_product(Whole a, Whole b) {
  Natural sum = 0;
  for (int bit = 0; bit < 128; ++bit)
    if ((static_cast<Natural>(a) >> bit & 1u) != 0) sum += static_cast<Natural>(b) << bit;
  return sum;
}

}  // namespace simgpu
