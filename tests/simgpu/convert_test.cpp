#include <cmath>

#include "tests/simgpu/lane_cases.h"

namespace simgpu {
namespace {

using exact::Layout;

struct IntegerType {
  bool is_signed = false;
  int bits = 0;

  std::uint64_t mask() const { return bits == 64 ? ~0ull : (1ull << bits) - 1; }
  std::uint64_t greatest() const { return is_signed ? mask() >> 1 : mask(); }
  /// The magnitude of the least.
  std::uint64_t least() const { return is_signed ? greatest() + 1 : 0; }
  bool is_negative(std::uint64_t word) const { return is_signed && (word >> (bits - 1) & 1) != 0; }
  std::uint64_t magnitude(std::uint64_t word) const {
    return (is_negative(word) ? 0 - word : word) & mask();
  }
  /// As a register of so many bytes has it.
  std::uint64_t in_register(std::uint64_t word, int bytes) const {
    word &= mask();
    if (is_negative(word)) word |= ~mask();
    return bytes == 8 ? word : word & ((1ull << (bytes * 8)) - 1);
  }
};

std::optional<IntegerType> integer_of(const std::string& type) {
  if (type[0] != 'u' && type[0] != 's') return std::nullopt;
  return IntegerType{type[0] == 's', std::stoi(type.substr(1))};
}

Layout layout_of(const std::string& type) {
  if (type == "f64") return exact::f64;
  if (type == "f32") return exact::f32;
  if (type == "tf32") return exact::tf32;
  if (type.substr(0, 4) == "bf16") return exact::bf16;
  if (type.substr(0, 4) == "e4m3") return exact::e4m3;
  if (type.substr(0, 4) == "e5m2") return exact::e5m2;
  if (type.substr(0, 3) != "f16") FAIL("nothing is known of ", type);
  return exact::f16;
}

/// Integers where something happens, and any.
std::vector<Operands> integer_cases(int random_cases) {
  std::vector<Operands> cases;
  for (int bit = 0; bit < 64; ++bit)
    for (const int step : {-1, 0, 1})
      for (const std::uint64_t more :
           {0ull, 1ull << (bit > 25 ? bit - 25 : 0), 1ull << (bit > 54 ? bit - 54 : 0)})
        for (const bool negative : {false, true}) {
          const std::uint64_t value = (1ull << bit) + more + static_cast<std::uint64_t>(step);
          cases.push_back({negative ? 0 - value : value});
        }
  std::mt19937_64 random(7);
  for (int i = 0; i < random_cases; ++i) cases.push_back({random() >> random() % 64});
  return cases;
}

std::uint64_t saturated(const IntegerType& to, bool negative, std::uint64_t magnitude) {
  if (negative) return magnitude > to.least() ? 0 - to.least() : 0 - magnitude;
  return std::min(magnitude, to.greatest());
}

void check_integer(const HostIsa& isa, const Opcode& opcode) {
  const OpcodeName name(opcode.name);
  const IntegerType to = *integer_of(name[name.size() - 2]), from = *integer_of(name.last());
  const int bytes = parse_pattern(opcode.pattern)[0].bytes;
  check_opcode_equals(isa, opcode, integer_cases(500), [&](const Operands& v) {
    const std::uint64_t magnitude = from.magnitude(v[0]);
    const bool negative = from.is_negative(v[0] & from.mask());
    const std::uint64_t value = name.has("sat") ? saturated(to, negative, magnitude)
                                                : (negative ? 0 - magnitude : magnitude);
    return to.in_register(value, bytes);
  });
}

void check_pack(const HostIsa& isa, const Opcode& opcode) {
  const OpcodeName name(opcode.name);
  const IntegerType to = *integer_of(name[3]), from{true, 32};
  std::vector<Operands> cases = integer_cases(2000);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i][1] = cases[(i * 13 + 5) % cases.size()][0];
    cases[i][2] = cases[(i * 7 + 3) % cases.size()][0];
  }
  check_opcode_equals(isa, opcode, cases, [&](const Operands& v) {
    const auto field = [&](std::uint64_t word) {
      word &= 0xffff'ffffu;
      return saturated(to, from.is_negative(word), from.magnitude(word)) & to.mask();
    };
    std::uint64_t made = field(v[0]) << to.bits | field(v[1]);
    if (to.bits < 16) made |= v[2] << (2 * to.bits);
    return made & 0xffff'ffffu;
  });
}

/// .ftz of f32, .sat and .relu of a result.
std::uint64_t finished(const OpcodeName& name, const Layout& layout, std::uint64_t word) {
  if (layout.is_nan(word)) return name.has("sat") ? 0 : layout.nan();
  if (name.has("ftz") && layout.bits() == 32) word = layout.flush(word);
  if ((name.has("sat") || name.has("relu")) && layout.is_negative(word)) return 0;
  return name.has("sat") ? std::min(word, layout.one()) : word;
}

void check_from_integer(const HostIsa& isa, const Opcode& opcode) {
  const OpcodeName name(opcode.name);
  const Layout to = layout_of(name[name.size() - 2]);
  const IntegerType from = *integer_of(name.last());
  check_opcode_equals(isa, opcode, integer_cases(200), [&](const Operands& v) {
    const bool negative = from.is_negative(v[0] & from.mask());
    return finished(name, to,
                    exact::from_integer(to, name.rounding(), negative, from.magnitude(v[0])));
  });
}

/// Numbers near the limits of integers, beside those at the edges of the format.
std::vector<Operands> cases_to_integer(const Layout& layout) {
  std::vector<Operands> cases = cases_of({layout}, 400);
  for (int bit = -2; bit < 66; ++bit) {
    if (bit > layout.bias()) break;
    const auto power = static_cast<std::uint64_t>(layout.bias() + bit) << layout.mantissa_bits;
    for (const std::uint64_t step : {-2, -1, 0, 1, 2})
      for (const std::uint64_t half : {std::uint64_t{0}, layout.least_normal() / 2})
        for (const std::uint64_t sign : {std::uint64_t{0}, layout.sign()})
          cases.push_back({((power + half + step) & layout.nan()) | sign});
  }
  // Halves between small integers.
  for (int twice = -70; twice <= 70; ++twice) {
    const double value = twice * 0.5;
    cases.push_back({exact::convert(exact::f64, __builtin_bit_cast(std::uint64_t, value), layout,
                                    exact::Round::even)});
  }
  return cases;
}

void check_to_integer(const HostIsa& isa, const Opcode& opcode) {
  const OpcodeName name(opcode.name);
  const IntegerType to = *integer_of(name[name.size() - 2]);
  const Layout from = layout_of(name.last());
  const int bytes = parse_pattern(opcode.pattern)[0].bytes;
  check_opcode_equals(isa, opcode, cases_to_integer(from), [&](const Operands& v) {
    // PTX ISA 9.7.10.24, integer notes.
    if (from.is_nan(v[0])) {
      const bool is_wide = name.last() == "f64" || to.bits == 64;
      return to.in_register(is_wide ? 1ull << (to.bits - 1) : 0, bytes);
    }
    const bool negative = from.is_negative(v[0]);
    const std::uint64_t word = name.has("ftz") ? from.flush(v[0]) : v[0];
    std::optional<std::uint64_t> magnitude;
    if (!from.is_infinite(word))
      magnitude = exact::value_of(from, word).magnitude_of_integer(name.rounding());
    return to.in_register(saturated(to, negative, magnitude.value_or(~0ull)), bytes);
  });
}

void check_float_to_float(const HostIsa& isa, const Opcode& opcode) {
  const OpcodeName name(opcode.name);
  const Layout to = layout_of(name[name.size() - 2]), from = layout_of(name.last());
  const bool to_integral = name[1].size() == 3 && name[1].back() == 'i';
  const std::vector<Operands> cases = to_integral ? cases_to_integer(from) : cases_of({from}, 3000);
  check_opcode(isa, opcode, cases, [&](const Operands& v, std::uint64_t written) {
    const bool flushes = name.has("ftz") && from.bits() == 32;
    const std::uint64_t word = flushes ? from.flush(v[0]) : v[0];
    std::uint64_t wanted = 0;
    if (from.is_nan(word) || from.is_infinite(word) || !to_integral) {
      wanted = exact::convert(from, word, to, name.rounding());
    } else {
      // One of 2^64 or more is an integer.
      const auto magnitude = exact::value_of(from, word).magnitude_of_integer(name.rounding());
      wanted = word;
      if (magnitude)
        wanted =
            exact::from_integer(to, exact::Round::even, false, *magnitude) | (word & from.sign());
    }
    wanted = finished(name, to, wanted);
    if (to.bits() == 64 && to.is_nan(wanted)) return to.is_nan(written);
    return written == wanted;
  });
}

/// One f32 in a format of the packed conversions, as the bits that the destination has.
std::uint64_t packed_number(const OpcodeName& name, const Layout& from, const Layout& to,
                            std::uint64_t word) {
  const std::uint64_t made = exact::convert(from, word, to, name.rounding(), name.has("satfinite"));
  return finished(name, to, made);
}

void check_packed(const HostIsa& isa, const Opcode& opcode) {
  const OpcodeName name(opcode.name);
  const std::string &to_type = name[name.size() - 2], &from_type = name.last();
  const Layout to = layout_of(to_type), from = layout_of(from_type);
  const std::size_t count = parse_pattern(opcode.pattern).size() - 1;
  std::vector<Operands> cases = cases_of({from}, 3000);
  if (from_type.ends_with("x2")) cases = paired(cases, from.bits());
  if (count == 2)
    for (std::size_t i = 0; i < cases.size(); ++i)
      cases[i][1] = cases[(i * 31 + 7) % cases.size()][0];
  check_opcode_equals(isa, opcode, cases, [&](const Operands& v) {
    const auto made = [&](std::uint64_t word) { return packed_number(name, from, to, word); };
    if (to_type == "tf32") return to.is_nan(made(v[0])) ? exact::f32.nan() : made(v[0]) << 13;
    if (count == 2) return made(v[0]) << to.bits() | made(v[1]);
    if (!from_type.ends_with("x2")) return made(v[0]);
    const std::uint64_t low = v[0] & (from.sign() | from.nan());
    return made(v[0] >> from.bits()) << to.bits() | made(low);
  });
}

}  // namespace

TEST_CASE("simgpu convert: integers to integers, in registers of every size") {
  each_opcode("convert_integer", check_integer);
  each_opcode("pack", check_pack);
}

TEST_CASE("simgpu convert: integers to floating point, in every rounding") {
  each_opcode("convert_from_integer", check_from_integer);
}

TEST_CASE("simgpu convert: floating point to integers, in every rounding") {
  each_opcode("convert_to_integer", check_to_integer);
}

TEST_CASE("simgpu convert: floating point to floating point") {
  each_opcode("convert_float", check_float_to_float);
}

TEST_CASE("simgpu convert: two numbers at once, tf32, and numbers of 8 bits") {
  each_opcode("convert_packed", check_packed);
}

TEST_CASE("simgpu convert: all f16 and bf16 to other formats and back") {
  std::vector<Operands> cases;
  for (std::uint64_t word = 0; word < 0x10000; ++word) cases.push_back({word});
  for (const HostIsa& isa : host_isas())
    for (const char* opcode : {"cvt.f32.f16", "cvt.f32.bf16", "cvt.f64.f16", "cvt.rn.bf16.f16",
                               "cvt.rz.f16.bf16", "cvt.rni.f16.f16", "cvt.rpi.bf16.bf16"})
      check_float_to_float(isa, find_opcode(isa, opcode));
  for (const HostIsa& isa : host_isas())
    for (const char* opcode : {"cvt.f32.f16", "cvt.f32.bf16"}) {
      const OpcodeName name(opcode);
      const Layout from = layout_of(name.last());
      check_opcode_equals(isa, find_opcode(isa, opcode), cases, [&](const Operands& v) {
        return exact::convert(from, v[0], exact::f32, exact::Round::even);
      });
    }
}

TEST_CASE("simgpu convert: the ISA's examples of special values") {
  OneWarp warp;
  const std::uint32_t to = warp.add<std::uint64_t>([](int) { return 0; });
  const std::uint32_t nan = warp.add<float>([](int) { return NAN; });
  const std::uint32_t great = warp.add<float>([](int) { return 1e30f; });
  for (const HostIsa& isa : host_isas()) {
    // Of a NaN: zero, but with 64 bits the highest bit.
    warp.run(find_opcode(isa, "cvt.rzi.s32.f32", "d4 s4"), {to, nan});
    CHECK(warp.at<std::uint32_t>(to)[3] == 0);
    warp.run(find_opcode(isa, "cvt.rzi.s64.f32", "d8 s4"), {to, nan});
    CHECK(warp.at<std::uint64_t>(to)[3] == 0x8000'0000'0000'0000ull);
    // Float to integer saturates by default.
    warp.run(find_opcode(isa, "cvt.rzi.s32.f32", "d4 s4"), {to, great});
    CHECK(warp.at<std::uint32_t>(to)[3] == 0x7fff'ffffu);
    warp.run(find_opcode(isa, "cvt.rn.satfinite.e4m3x2.f32"), {to, great, nan});
    CHECK(warp.at<std::uint16_t>(to)[3] == 0x7e7fu);
  }
}

}  // namespace simgpu
