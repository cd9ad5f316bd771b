#include "tests/simgpu/expected_number.h"
#include "tests/simgpu/lane_cases.h"

namespace simgpu {
namespace {

using exact::Layout;

/// A double may keep the payload of a NaN: quiet, and of one of the operands where one is a NaN.
bool is_right_nan(const Operands& v, std::uint64_t written) {
  const Layout& layout = exact::f64;
  const std::uint64_t quiet = layout.least_normal() / 2;
  if (!layout.is_nan(written) || (written & quiet) == 0) return false;
  bool any = false;
  for (const std::uint64_t value : v)
    if (layout.is_nan(value)) {
      any = true;
      if (((value | quiet) & layout.nan()) == (written & layout.nan())) return true;
    }
  return !any;
}

bool test_holds(const std::string& property, const Layout& layout, std::uint64_t a) {
  const bool is_finite = !layout.is_nan(a) && !layout.is_infinite(a);
  if (property == "finite") return is_finite;
  if (property == "infinite") return layout.is_infinite(a);
  if (property == "number") return !layout.is_nan(a);
  if (property == "notanumber") return layout.is_nan(a);
  if (property == "normal") return is_finite && !layout.is_subnormal(a);
  if (property == "subnormal") return layout.is_subnormal(a);
  FAIL("nothing is expected of testp.", property);
  return false;
}

void check_float(const HostIsa& isa, const Opcode& opcode) {
  const OpcodeName name(opcode.name);
  const bool pairs = name.last() == "f32x2", is_double = name.last() == "f64";
  const Layout layout = is_double ? exact::f64 : exact::f32;
  const std::size_t count = parse_pattern(opcode.pattern).size() - 1;
  const std::vector<Operands> cases = cases_of(std::vector<Layout>(count, layout), 1500);
  if (name.first() == "testp") {
    check_opcode_equals(isa, opcode, cases, [&](const Operands& v) {
      return std::uint64_t{test_holds(name[1], layout, v[0])};
    });
  } else if (is_double) {
    check_opcode(isa, opcode, cases, [&](const Operands& v, std::uint64_t written) {
      if (name.first() == "abs" && layout.is_nan(v[0])) return written == v[0];
      if (name.first() == "neg") return written == (v[0] ^ layout.sign());
      const std::uint64_t wanted = expected_number(name, layout, v, count);
      const bool may_be_any = layout.is_nan(wanted) && name.first() != "copysign";
      return may_be_any ? is_right_nan(v, written) : written == wanted;
    });
  } else if (pairs) {
    check_opcode_equals(isa, opcode, paired(cases, 32), [&](const Operands& v) {
      Operands low = v, high = v;
      for (std::uint64_t& value : low) value &= 0xffff'ffffu;
      for (std::uint64_t& value : high) value >>= 32;
      return expected_number(name, layout, low, count) | expected_number(name, layout, high, count)
                                                             << 32;
    });
  } else {
    check_opcode_equals(isa, opcode, cases,
                        [&](const Operands& v) { return expected_number(name, layout, v, count); });
  }
}

}  // namespace

TEST_CASE("simgpu float: arithmetic is that of IEEE 754 in every rounding") {
  each_opcode("float", check_float);
}

TEST_CASE("simgpu float: abs, neg, copysign, min, max and testp") {
  each_opcode("float_sign", check_float);
}

TEST_CASE("simgpu float: what the ISA says in numbers") {
  OneWarp warp;
  const auto same = [&](float value) { return warp.add<float>([=](int) { return value; }); };
  const std::uint32_t to = same(0), a = same(0x1p-126f), half = same(0.5f), nan = same(NAN);
  for (const HostIsa& isa : host_isas()) {
    // PTX ISA 9.7.3.5: .ftz flushes subnormal results to zero, else they are kept.
    warp.run(find_opcode(isa, "mul.f32"), {to, a, half});
    CHECK(warp.at<float>(to)[5] == 0x1p-127f);
    warp.run(find_opcode(isa, "mul.ftz.f32"), {to, a, half});
    CHECK(warp.at<std::uint32_t>(to)[5] == 0);
    // PTX ISA 9.7.3: .sat flushes NaNs to positive zero.
    warp.run(find_opcode(isa, "add.sat.f32"), {to, a, nan});
    CHECK(warp.at<std::uint32_t>(to)[31] == 0);
    warp.run(find_opcode(isa, "add.f32"), {to, a, nan});
    CHECK(warp.at<std::uint32_t>(to)[31] == 0x7fff'ffffu);
  }
}

}  // namespace simgpu
