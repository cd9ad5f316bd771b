#include "tests/simgpu/expected_number.h"

namespace simgpu {
namespace {

using exact::Layout;

Layout layout_of(std::string_view type) {
  return type.substr(0, 4) == "bf16" ? exact::bf16 : exact::f16;
}

bool is_pair(const OpcodeName& name) { return name.last().ends_with("x2"); }

void check_half(const HostIsa& isa, const Opcode& opcode) {
  const OpcodeName name(opcode.name);
  const Layout layout = layout_of(name.last());
  const std::size_t count = parse_pattern(opcode.pattern).size() - 1;
  const std::vector<Operands> cases = cases_of(std::vector<Layout>(count, layout), 2000);
  if (!is_pair(name)) {
    check_opcode_equals(isa, opcode, cases,
                        [&](const Operands& v) { return expected_number(name, layout, v, count); });
    return;
  }
  check_opcode_equals(isa, opcode, paired(cases, 16), [&](const Operands& v) {
    Operands low = v, high = v;
    for (std::uint64_t& value : low) value &= 0xffffu;
    for (std::uint64_t& value : high) value >>= 16;
    return expected_number(name, layout, low, count) | expected_number(name, layout, high, count)
                                                           << 16;
  });
}

/// Operands become f32 without a change of value.
void check_mixed(const HostIsa& isa, const Opcode& opcode) {
  const OpcodeName name(opcode.name);
  const Layout narrow = layout_of(name.last());
  const std::size_t count = parse_pattern(opcode.pattern).size() - 1;
  std::vector<Layout> layouts(count, narrow);
  layouts.back() = exact::f32;
  check_opcode_equals(isa, opcode, cases_of(layouts, 1500), [&](Operands v) {
    for (std::size_t k = 0; k + 1 < count; ++k)
      v[k] = exact::convert(narrow, v[k], exact::f32, exact::Round::even);
    return expected_number(name, exact::f32, v, count);
  });
}

}  // namespace

TEST_CASE("simgpu half: arithmetic of f16 and bf16 is rounded once") {
  each_opcode("half", check_half);
  each_opcode("half_extreme", check_half);
}

TEST_CASE("simgpu half: arithmetic of 16-bit numbers with f32") {
  each_opcode("mixed", check_mixed);
}

TEST_CASE("simgpu half: all numbers of 16 bits through abs, neg, and sums with one") {
  std::vector<Operands> cases;
  for (std::uint64_t word = 0; word < 0x10000; ++word)
    cases.push_back({word, word * 0x9e37 & 0xffffu});
  for (const HostIsa& isa : host_isas())
    for (const char* opcode : {"abs.f16", "neg.f16", "add.f16", "mul.f16", "abs.bf16", "neg.bf16",
                               "add.bf16", "mul.bf16", "max.f16", "min.bf16"}) {
      const OpcodeName name(opcode);
      const Layout layout = layout_of(name.last());
      const Opcode& found = find_opcode(isa, opcode);
      check_opcode_equals(isa, found, cases, [&](const Operands& v) {
        return expected_number(name, layout, v, parse_pattern(found.pattern).size() - 1);
      });
    }
}

TEST_CASE("simgpu half: a fused bf16 is not rounded twice") {
  // bf16 has 8 bits: 259 lies between 258 and 260, 261 between 260 and 262, and 260 is the even
  // one. What is added tells, however small it is.
  OneWarp warp;
  const auto same = [&](float value) {
    return warp.add<std::uint16_t>([&](int) {
      return exact::convert(exact::f32, __builtin_bit_cast(std::uint32_t, value), exact::bf16,
                            exact::Round::zero);
    });
  };
  const std::uint32_t to = same(0), above = same(0x1p-60f), below = same(-0x1p-60f);
  for (const HostIsa& isa : host_isas()) {
    const Opcode& fma = find_opcode(isa, "fma.rn.bf16");
    warp.run(fma, {to, same(7), same(37), below});
    CHECK(warp.at<std::uint16_t>(to)[0] == warp.at<std::uint16_t>(same(258))[0]);
    warp.run(fma, {to, same(9), same(29), above});
    CHECK(warp.at<std::uint16_t>(to)[0] == warp.at<std::uint16_t>(same(262))[0]);
  }
}

}  // namespace simgpu
