#include <cmath>

#include "tests/simgpu/lane_cases.h"
#include "tools/simgpu/machine/settings.h"

namespace simgpu {
namespace {

using exact::Layout;
using exact::Round;

float float_of(std::uint64_t word) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(word));
}
std::uint64_t word_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }

/// The value to far more bits than the result has.
long double value_of(const std::string& function, long double a, long double b) {
  if (function == "ex2") return std::exp2(a);
  if (function == "lg2") return std::log2(a);
  if (function == "sin") return std::sin(a);
  if (function == "cos") return std::cos(a);
  if (function == "tanh") return std::tanh(a);
  if (function == "rcp") return 1 / a;
  if (function == "sqrt") return std::sqrt(a);
  if (function == "rsqrt") return 1 / std::sqrt(a);
  if (function == "div") return a / b;
  FAIL("nothing is expected of ", function);
  return 0;
}

/// The nearest number of a format to a long double. The long double is cut to odd in double first,
/// so that it is rounded once.
std::uint64_t nearest(const Layout& layout, long double value) {
  if (std::isnan(value)) return layout.nan();
  auto near = static_cast<double>(value);
  if (std::isfinite(near) && near != 0) {
    const long double lacking = value - near;
    const auto word = __builtin_bit_cast(std::uint64_t, near);
    if (lacking != 0 && (word & 1) == 0)
      near = std::nextafter(near, lacking > 0 ? HUGE_VAL : -HUGE_VAL);
  }
  return exact::convert(exact::f64, __builtin_bit_cast(std::uint64_t, near), layout, Round::even);
}

/// What PTX ISA 9.7.3.8 says of div.approx where the divisor is great.
std::optional<std::uint64_t> special_quotient(const OpcodeName& name, std::uint64_t a,
                                              std::uint64_t b) {
  const std::uint64_t magnitude = b & exact::f32.nan();
  if (name.first() != "div" || name[1] != "approx") return std::nullopt;
  if (magnitude <= word_of(0x1p126f) || magnitude >= exact::f32.infinity()) return std::nullopt;
  if (exact::f32.is_nan(a) || exact::f32.is_infinite(a)) return exact::f32.nan();
  return (a ^ b) & exact::f32.sign();
}

std::uint64_t expected_single(const OpcodeName& name, Operands v) {
  const Layout& layout = exact::f32;
  if (name.has("ftz"))
    for (std::uint64_t& value : v) value = layout.flush(value);
  if (const auto special = special_quotient(name, v[0], v[1])) return *special;
  const std::uint64_t made =
      nearest(layout, value_of(name.first(), float_of(v[0]), float_of(v[1])));
  return name.has("ftz") ? layout.flush(made) : made;
}

std::uint64_t expected_half(const OpcodeName& name, const Layout& layout, std::uint64_t word) {
  if (name.has("ftz")) word = layout.flush(word);
  const std::uint64_t made =
      nearest(layout, value_of(name.first(), exact::number(layout, word), 0));
  return name.has("ftz") ? layout.flush(made) : made;
}

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: PTX ISA 9.7.3.14 and 9.7.3.17, by exact integers.
std::uint64_t expected_high_word(const OpcodeName& name, std::uint64_t word) {
  constexpr Layout high{11, 20};
  std::uint64_t a = high.flush(word >> 32);
  std::uint64_t made = 0;
  if (name.first() == "rcp") {
    made = exact::divide(high, Round::even, high.one(), a);
  } else if (high.is_zero(a)) {
    made = high.infinity() | a;
  } else {
    const long double value = 1 / std::sqrt(static_cast<long double>(exact::number(high, a)));
    made = nearest(high, value);
  }
  return high.flush(made) << 32;
}

/// The nearest double to 1 / sqrt(a), given one that is near: the neighbours' midpoints m have
/// a * m^2 on either side of one. Exact: a and m have 53 and 54 bits.
bool is_reciprocal_root(std::uint64_t word, std::uint64_t written) {
  const Layout& layout = exact::f64;
  if (layout.is_nan(word) || (layout.is_negative(word) && !layout.is_zero(word)))
    return layout.is_nan(written);
  if (layout.is_zero(word)) return written == (layout.infinity() | word);
  if (layout.is_infinite(word)) return written == 0;
  const auto a = static_cast<__float128>(exact::number(layout, word));
  const auto here = static_cast<__float128>(exact::number(layout, written));
  const auto below = static_cast<__float128>(exact::number(layout, written - 1));
  const auto above = static_cast<__float128>(exact::number(layout, written + 1));
  const __float128 low = (here + below) / 2, high = (here + above) / 2;
  // 2^-110 is what the products of __float128 may be off by; no case here is nearer to a tie.
  return a * low * low < 1 && a * high * high > 1;
}

std::vector<Operands> single_cases(std::size_t count) {
  std::vector<Operands> cases = cases_of(std::vector<Layout>(count, exact::f32), 6000);
  // Through the range of exponentials, and of small angles.
  for (int i = -1600; i < 1400; ++i)
    cases.push_back({word_of(static_cast<float>(i) * 0.1f), word_of(3.0f)});
  return cases;
}

void check_approximate(const HostIsa& isa, const Opcode& opcode) {
  const OpcodeName name(opcode.name);
  const std::string& type = name.last();
  const std::size_t count = parse_pattern(opcode.pattern).size() - 1;
  if (type == "f32") {
    check_opcode_equals(isa, opcode, single_cases(count),
                        [&](const Operands& v) { return expected_single(name, v); });
  } else if (type == "f64") {
    const std::vector<Operands> cases = cases_of({exact::f64}, 20000);
    check_opcode(isa, opcode, cases, [&](const Operands& v, std::uint64_t written) {
      if (!name.has("ftz")) return is_reciprocal_root(v[0], written);
      return written == expected_high_word(name, v[0]);
    });
  } else {
    const Layout layout = type.substr(0, 2) == "bf" ? exact::bf16 : exact::f16;
    std::vector<Operands> cases;
    for (std::uint64_t word = 0; word < 0x10000; ++word) cases.push_back({word});
    if (type.ends_with("x2")) cases = paired(cases, 16);
    check_opcode_equals(isa, opcode, cases, [&](const Operands& v) {
      const std::uint64_t low = expected_half(name, layout, v[0] & 0xffffu);
      if (!type.ends_with("x2")) return low;
      return low | expected_half(name, layout, v[0] >> 16) << 16;
    });
  }
}

/// The error that the ISA documents of a result, in the sections 9.7.3.8 to 9.7.3.22 and 9.7.4.9
/// and 9.7.4.10: relative, absolute, or in units of the last place.
long double documented_error(const OpcodeName& name, const Layout& layout, long double a,
                             long double value) {
  const std::string& function = name.first();
  const long double magnitude = std::fabs(value);
  const int exponent = std::max(std::ilogb(value), 1 - layout.bias());
  const long double unit = std::ldexp(1.0L, exponent - layout.mantissa_bits);
  if (layout.bits() == 16) {
    const bool is_half = layout.exponent_bits == 5;
    if (function == "ex2") return magnitude * std::exp2(is_half ? -9.9L : -7.0L);
    return std::exp2(is_half ? -10.987L : -8.0L);
  }
  if (function == "ex2" || function == "div") return 2 * unit;
  if (function == "rcp") return unit;
  if (function == "sqrt") return magnitude * 0x1p-23L;
  if (function == "rsqrt") return magnitude * std::exp2(-22.9L);
  if (function == "tanh") return magnitude * 0x1p-11L;
  if (function == "lg2") return a > 0.5L && a < 2 ? 0x1p-22L : magnitude * 0x1p-22L;
  return std::exp2(std::fabs(a) < 6.28L ? -20.5L : -14.7L);
}

bool is_power_of_two(long double number) {
  int exponent = 0;
  return std::fabs(std::frexp(number, &exponent)) == 0.5L;
}

/// Whether no GPU is off there: ex2 of an integer, and others whose operand and result are powers
/// of two, or quotients by one.
bool stays(const OpcodeName& name, long double a, long double b, long double value) {
  const std::string& function = name.first();
  if (function == "ex2") return a == std::floor(a);
  if (function == "div") return is_power_of_two(b);
  if (function == "lg2" || function == "rcp") return is_power_of_two(a);
  if (function == "sqrt" || function == "rsqrt")
    return is_power_of_two(a) && is_power_of_two(value);
  return false;
}

/// Powers of two and integers, beside others.
std::vector<Operands> cases_with_exact_ones(const Layout& layout, std::size_t count) {
  std::vector<Operands> cases = cases_of(std::vector<Layout>(count, layout), 20000);
  for (int n = -120; n <= 120; ++n) {
    const std::uint64_t power = nearest(layout, std::ldexp(1.0L, n));
    const std::uint64_t other = nearest(layout, std::ldexp(1.0L, n / 2));
    cases.push_back({power, other});
    cases.push_back({nearest(layout, static_cast<long double>(n)), power});
  }
  return cases;
}

/// With the seed of the environment: results move, none further than documented, and the same
/// operands give the same result.
void check_moved(const HostIsa& isa, const Opcode& opcode) {
  const OpcodeName name(opcode.name);
  const std::string& type = name.last();
  if (type.ends_with("x2")) return;
  const Layout layout = type == "f64"    ? exact::f64
                        : type == "f32"  ? exact::f32
                        : type == "bf16" ? exact::bf16
                                         : exact::f16;
  const std::size_t count = parse_pattern(opcode.pattern).size() - 1;
  int moved = 0, checked = 0, stayed = 0;
  check_opcode(isa, opcode, cases_with_exact_ones(layout, count),
               [&](const Operands& v, std::uint64_t written) {
                 const long double a = exact::number(layout, v[0]),
                                   b = count == 2 ? float_of(v[1]) : 0.0f;
                 if (type == "f64") {  // how far it may be off is not documented
                   const long double exact_value = name.first() == "rcp" ? 1 / a : 1 / std::sqrt(a);
                   if (!(a > 0x1p-1000L && a < 0x1p1000L) || !stays(name, a, b, exact_value))
                     return true;
                   ++stayed;
                   return exact::number(layout, written) == exact_value;
                 }
                 const std::uint64_t unmoved =
                     type == "f32" ? expected_single(name, v) : expected_half(name, layout, v[0]);
                 const bool is_special = layout.is_nan(unmoved) || layout.is_infinite(unmoved) ||
                                         layout.is_zero(unmoved) || layout.is_zero(v[0]);
                 const long double value = value_of(name.first(), a, static_cast<float>(b));
                 const bool has_to_stay = is_special || stays(name, a, b, value);
                 ++checked;
                 if (!is_special && has_to_stay) ++stayed;
                 if (written == unmoved) return true;
                 if (has_to_stay) return false;
                 ++moved;
                 const long double error = std::fabs(exact::number(layout, written) - value);
                 return error <= documented_error(name, layout, a, value) * (1 + 0x1p-40L);
               });
  if (type != "f64") CHECK_MESSAGE(moved > checked / 20, opcode.name);
  const bool has_exact_ones =
      name.first() != "sin" && name.first() != "cos" && name.first() != "tanh";
  CHECK_MESSAGE((stayed > 10) == has_exact_ones, opcode.name);
}

}  // namespace

TEST_CASE("simgpu approximate: results are correctly rounded, or moved as far as the ISA allows") {
  each_opcode("approximate", perturbation() == nullptr ? check_approximate : check_moved);
}

}  // namespace simgpu
