/// \file
/// Numbers of binary floating-point formats as exact integers, for tests: a second, slow reading of
/// IEEE 754 that shares nothing with what it is held against.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace simgpu::exact {

__extension__ using Wide = unsigned __int128;

enum class Round : std::uint8_t { even, away, zero, down, up };

/// A format: `finite` ones have no infinity, and one NaN of each sign (e4m3).
struct Layout {
  int exponent_bits = 0, mantissa_bits = 0;
  bool finite = false;

  int bits() const { return 1 + exponent_bits + mantissa_bits; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  std::uint64_t sign() const { return std::uint64_t{1} << (bits() - 1); }
  std::uint64_t infinity() const;
  /// The greatest finite number.
  std::uint64_t greatest() const { return finite ? sign() - 2 : infinity() - 1; }
  std::uint64_t one() const { return static_cast<std::uint64_t>(bias()) << mantissa_bits; }
  std::uint64_t least_normal() const { return std::uint64_t{1} << mantissa_bits; }
  /// All ones but the sign: what PTX calls canonical.
  std::uint64_t nan() const { return sign() - 1; }
  bool is_nan(std::uint64_t word) const {
    return (word & nan()) > (finite ? greatest() : infinity());
  }
  bool is_infinite(std::uint64_t word) const { return !finite && (word & nan()) == infinity(); }
  bool is_negative(std::uint64_t word) const { return (word & sign()) != 0; }
  bool is_zero(std::uint64_t word) const { return (word & nan()) == 0; }
  bool is_subnormal(std::uint64_t word) const {
    return !is_zero(word) && (word & nan()) < least_normal();
  }
  /// Subnormal numbers as zeros of their sign.
  std::uint64_t flush(std::uint64_t word) const {
    return is_subnormal(word) ? word & sign() : word;
  }
};

inline constexpr Layout f64{11, 52}, f32{8, 23}, f16{5, 10}, bf16{8, 7}, tf32{8, 10}, e5m2{5, 2};
inline constexpr Layout e4m3{4, 3, true};

/// A sum of powers of two, none below 2^-least, and what lies below it as one bit.
class Sum {
 public:
  static constexpr int least = 2304;

  /// Adds mantissa * 2^exponent, or takes it away.
  void add(Wide mantissa, int exponent, bool negative);
  void set_more() { more_ = true; }
  bool is_zero() const;
  bool is_negative() const { return negative_; }
  /// In a format; what is too great becomes infinite, or the greatest number where the rounding or
  /// `satfinite` says so. A sum that is zero gets the sign of `negative_zero`.
  std::uint64_t rounded(const Layout& layout, Round round, bool negative_zero = false,
                        bool satfinite = false) const;
  /// The integer near it; no value where that has more than 64 bits.
  std::optional<std::uint64_t> magnitude_of_integer(Round round) const;

 private:
  using Limbs = std::array<std::uint64_t, 80>;
  int top() const;
  bool bit(int index) const;
  bool any_below(int index) const;
  std::uint64_t from(int index) const;
  bool goes_away(Round round, int lowest) const;

  Limbs limbs_ = {};  ///< the magnitude
  bool negative_ = false, more_ = false;
};

/// mantissa * 2^exponent of a finite number.
struct Parts {
  bool negative = false;
  std::uint64_t mantissa = 0;
  int exponent = 0;
};
Parts parts_of(const Layout& layout, std::uint64_t word);
/// Of a finite number.
Sum value_of(const Layout& layout, std::uint64_t word);

/// What IEEE 754 says that an operation on numbers of a format gives in that format; any NaN is
/// layout.nan().
std::uint64_t add(const Layout& layout, Round round, std::uint64_t a, std::uint64_t b);
std::uint64_t multiply(const Layout& layout, Round round, std::uint64_t a, std::uint64_t b);
std::uint64_t multiply_add(const Layout& layout, Round round, std::uint64_t a, std::uint64_t b,
                           std::uint64_t c);
std::uint64_t divide(const Layout& layout, Round round, std::uint64_t a, std::uint64_t b);
std::uint64_t square_root(const Layout& layout, Round round, std::uint64_t a);
/// From one format to another.
std::uint64_t convert(const Layout& from, std::uint64_t word, const Layout& to, Round round,
                      bool satfinite = false);
/// An integer in a format.
std::uint64_t from_integer(const Layout& to, Round round, bool negative, std::uint64_t magnitude);
/// As a float or double of C++, exact for each format.
double number(const Layout& layout, std::uint64_t word);
/// -1, 0, 1; no value where one is a NaN.
std::optional<int> compare(const Layout& layout, std::uint64_t a, std::uint64_t b);

}  // namespace simgpu::exact
