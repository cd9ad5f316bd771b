#include "tests/simgpu/exact.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace simgpu::exact {
namespace {

/// The greatest integer whose square is no more.
std::uint64_t root(Wide square) {
  std::uint64_t found = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const std::uint64_t tried = found | std::uint64_t{1} << bit;
    if (Wide{tried} * tried <= square) found = tried;
  }
  return found;
}

}  // namespace

std::uint64_t Layout::infinity() const {
  return ((std::uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
}

void Sum::add(Wide mantissa, int exponent, bool negative) {
  Limbs other = {};
  const int shift = exponent + least;
  for (int i = 0; i < 128; ++i)
    if ((mantissa >> i & 1) != 0)
      other[static_cast<std::size_t>((shift + i) / 64)] |= std::uint64_t{1} << ((shift + i) % 64);
  if (mantissa == 0) return;
  if (is_zero()) {
    limbs_ = other;
    negative_ = negative;
    return;
  }
  if (negative == negative_) {
    Wide carry = 0;
    for (std::size_t i = 0; i < limbs_.size(); ++i) {
      carry += Wide{limbs_[i]} + other[i];
      limbs_[i] = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
    return;
  }
  bool other_is_greater = false;
  for (std::size_t i = limbs_.size(); i-- > 0;)
    if (limbs_[i] != other[i]) {
      other_is_greater = other[i] > limbs_[i];
      break;
    }
  if (other_is_greater) {
    std::swap(limbs_, other);
    negative_ = negative;
  }
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    const Wide less = Wide{limbs_[i]} - other[i] - borrow;
    limbs_[i] = static_cast<std::uint64_t>(less);
    borrow = static_cast<std::uint64_t>(less >> 64) != 0 ? 1 : 0;
  }
}

bool Sum::is_zero() const {
  for (const std::uint64_t limb : limbs_)
    if (limb != 0) return false;
  return true;
}

int Sum::top() const {
  for (std::size_t i = limbs_.size(); i-- > 0;)
    if (limbs_[i] != 0) return static_cast<int>(i) * 64 + 63 - std::countl_zero(limbs_[i]);
  return -1;
}

bool Sum::bit(int index) const {
  return index >= 0 && (limbs_[static_cast<std::size_t>(index / 64)] >> (index % 64) & 1) != 0;
}

bool Sum::any_below(int index) const {
  for (int i = 0; i < index / 64; ++i)
    if (limbs_[static_cast<std::size_t>(i)] != 0) return true;
  for (int i = index / 64 * 64; i < index; ++i)
    if (bit(i)) return true;
  return false;
}

std::uint64_t Sum::from(int index) const {
  std::uint64_t found = 0;
  for (int i = 0; i < 64 && index + i < static_cast<int>(limbs_.size()) * 64; ++i)
    found |= std::uint64_t{bit(index + i)} << i;
  return found;
}

bool Sum::goes_away(Round round, int lowest) const {
  const bool half = bit(lowest - 1), below = any_below(lowest - 1) || more_;
  switch (round) {
    case Round::even: return half && (below || bit(lowest));
    case Round::away: return half;
    case Round::zero: return false;
    case Round::down: return negative_ && (half || below);
    case Round::up: return !negative_ && (half || below);
  }
  return false;
}

std::uint64_t Sum::rounded(const Layout& layout, Round round, bool negative_zero,
                           bool satfinite) const {
  if (is_zero()) return negative_zero ? layout.sign() : 0;
  const std::uint64_t sign = negative_ ? layout.sign() : 0;
  const int exponent = std::max(top() - least, 1 - layout.bias());
  const int lowest = exponent - layout.mantissa_bits + least;
  const auto steps = static_cast<std::uint64_t>(exponent + layout.bias() - 1);
  if (exponent > layout.bias() + 1) {
    // Far too great for its fields.
    if (satfinite || round == Round::zero || round == (negative_ ? Round::up : Round::down))
      return sign | layout.greatest();
    return sign | layout.infinity();
  }
  const std::uint64_t made =
      (steps << layout.mantissa_bits) + from(lowest) + std::uint64_t{goes_away(round, lowest)};
  if (made <= layout.greatest()) return sign | made;
  if (satfinite || round == Round::zero || round == (negative_ ? Round::up : Round::down))
    return sign | layout.greatest();
  return sign | layout.infinity();
}

std::optional<std::uint64_t> Sum::magnitude_of_integer(Round round) const {
  if (top() - least > 63) return std::nullopt;
  const std::uint64_t kept = from(least);
  const bool away = goes_away(round, least);
  if (away && kept == UINT64_MAX) return std::nullopt;
  return kept + std::uint64_t{away};
}

Parts parts_of(const Layout& layout, std::uint64_t word) {
  const std::uint64_t magnitude = word & layout.nan();
  const auto field = static_cast<int>(magnitude >> layout.mantissa_bits);
  const std::uint64_t fraction = magnitude & (layout.least_normal() - 1);
  return {layout.is_negative(word), field == 0 ? fraction : fraction | layout.least_normal(),
          std::max(field, 1) - layout.bias() - layout.mantissa_bits};
}

Sum value_of(const Layout& layout, std::uint64_t word) {
  const Parts parts = parts_of(layout, word);
  Sum sum;
  sum.add(parts.mantissa, parts.exponent, parts.negative);
  return sum;
}

std::uint64_t add(const Layout& layout, Round round, std::uint64_t a, std::uint64_t b) {
  return multiply_add(layout, round, a, layout.one(), b);
}

std::uint64_t multiply(const Layout& layout, Round round, std::uint64_t a, std::uint64_t b) {
  // Adding a zero of the product's sign changes nothing.
  return multiply_add(layout, round, a, b, (a ^ b) & layout.sign());
}

std::uint64_t multiply_add(const Layout& layout, Round round, std::uint64_t a, std::uint64_t b,
                           std::uint64_t c) {
  if (layout.is_nan(a) || layout.is_nan(b) || layout.is_nan(c)) return layout.nan();
  const std::uint64_t product_sign = (a ^ b) & layout.sign();
  if (layout.is_infinite(a) || layout.is_infinite(b)) {
    if (layout.is_zero(a) || layout.is_zero(b)) return layout.nan();
    if (layout.is_infinite(c) && (c & layout.sign()) != product_sign) return layout.nan();
    return product_sign | layout.infinity();
  }
  if (layout.is_infinite(c)) return c;
  const Parts x = parts_of(layout, a), y = parts_of(layout, b), z = parts_of(layout, c);
  Sum sum;
  sum.add(Wide{x.mantissa} * y.mantissa, x.exponent + y.exponent, product_sign != 0);
  sum.add(z.mantissa, z.exponent, z.negative);
  // IEEE 754, 6.3: a sum of zero is negative where both are, or where rounding is down and they
  // differ.
  const bool one_is = product_sign != 0 || z.negative, both_are = product_sign != 0 && z.negative;
  return sum.rounded(layout, round, round == Round::down ? one_is : both_are);
}

std::uint64_t divide(const Layout& layout, Round round, std::uint64_t a, std::uint64_t b) {
  if (layout.is_nan(a) || layout.is_nan(b)) return layout.nan();
  const std::uint64_t sign = (a ^ b) & layout.sign();
  if (layout.is_infinite(a)) return layout.is_infinite(b) ? layout.nan() : sign | layout.infinity();
  if (layout.is_infinite(b)) return sign;
  if (layout.is_zero(b)) return layout.is_zero(a) ? layout.nan() : sign | layout.infinity();
  if (layout.is_zero(a)) return sign;
  const Parts x = parts_of(layout, a), y = parts_of(layout, b);
  const int places = 64 + std::countl_zero(x.mantissa);
  const Wide shifted = Wide{x.mantissa} << places;
  Sum sum;
  sum.add(shifted / y.mantissa, x.exponent - y.exponent - places, sign != 0);
  if (shifted % y.mantissa != 0) sum.set_more();
  return sum.rounded(layout, round, sign != 0);
}

std::uint64_t square_root(const Layout& layout, Round round, std::uint64_t a) {
  if (layout.is_nan(a)) return layout.nan();
  if (layout.is_zero(a)) return a;
  if (layout.is_negative(a)) return layout.nan();
  if (layout.is_infinite(a)) return a;
  const Parts x = parts_of(layout, a);
  // All bits but a few, and an even exponent.
  const int free_bits = 62 + std::countl_zero(x.mantissa);
  const int places = free_bits + ((x.exponent - free_bits) % 2 == 0 ? 0 : 1);
  const Wide square = Wide{x.mantissa} << places;
  const std::uint64_t found = root(square);
  Sum sum;
  sum.add(found, (x.exponent - places) / 2, false);
  if (Wide{found} * found != square) sum.set_more();
  return sum.rounded(layout, round);
}

std::uint64_t convert(const Layout& from, std::uint64_t word, const Layout& to, Round round,
                      bool satfinite) {
  if (from.is_nan(word)) return to.nan();
  const std::uint64_t sign = from.is_negative(word) ? to.sign() : 0;
  if (from.is_infinite(word)) return sign | (satfinite ? to.greatest() : to.infinity());
  return value_of(from, word).rounded(to, round, from.is_negative(word), satfinite);
}

std::uint64_t from_integer(const Layout& to, Round round, bool negative, std::uint64_t magnitude) {
  Sum sum;
  sum.add(magnitude, 0, negative);
  return sum.rounded(to, round);
}

double number(const Layout& layout, std::uint64_t word) {
  const double sign = layout.is_negative(word) ? -1 : 1;
  if (layout.is_nan(word)) return std::nan("");
  if (layout.is_infinite(word)) return sign * HUGE_VAL;
  const Parts parts = parts_of(layout, word);
  return sign * std::ldexp(static_cast<double>(parts.mantissa), parts.exponent);
}

std::optional<int> compare(const Layout& layout, std::uint64_t a, std::uint64_t b) {
  if (layout.is_nan(a) || layout.is_nan(b)) return std::nullopt;
  if (layout.is_zero(a) && layout.is_zero(b)) return 0;
  const auto place = [&](std::uint64_t word) {
    const auto magnitude = static_cast<std::int64_t>(word & layout.nan());
    return layout.is_negative(word) ? -magnitude : magnitude;
  };
  return place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : 0;
}

}  // namespace simgpu::exact
