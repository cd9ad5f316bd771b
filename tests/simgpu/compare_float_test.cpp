#include "tests/simgpu/lane_cases.h"

namespace simgpu {
namespace {

using exact::Layout;

Layout layout_of(const std::string& type) {
  if (type == "f64") return exact::f64;
  if (type == "f32") return exact::f32;
  return type.substr(0, 4) == "bf16" ? exact::bf16 : exact::f16;
}

/// PTX ISA 9.3.1.2.
bool holds(const OpcodeName& name, const Layout& layout, std::uint64_t a, std::uint64_t b) {
  if (name.has("ftz")) {
    a = layout.flush(a);
    b = layout.flush(b);
  }
  const std::string& comparison = name[1];
  const auto order = exact::compare(layout, a, b);
  if (comparison == "num") return order.has_value();
  if (comparison == "nan") return !order.has_value();
  const bool unordered = comparison.size() == 3;
  if (!order) return unordered;
  const std::string ordered = comparison.substr(0, 2);
  if (ordered == "eq") return *order == 0;
  if (ordered == "ne") return *order != 0;
  if (ordered == "lt") return *order < 0;
  if (ordered == "le") return *order <= 0;
  if (ordered == "gt") return *order > 0;
  if (ordered == "ge") return *order >= 0;
  FAIL("nothing is expected of ", comparison);
  return false;
}

bool combined(const OpcodeName& name, bool held, std::uint64_t with) {
  if (name.has("and")) return held && with != 0;
  if (name.has("or")) return held || with != 0;
  if (name.has("xor")) return held != (with != 0);
  return held;
}

std::vector<Operands> with_predicate(std::vector<Operands> cases) {
  for (std::size_t i = 0; i < cases.size(); ++i) cases[i][2] = i / 3 % 2;
  return cases;
}

std::vector<Operands> cases_for(const Layout& layout, bool halves) {
  const std::vector<Operands> cases = cases_of({layout, layout}, 200);
  return with_predicate(halves ? paired(cases, 16) : cases);
}

void check_setp(const HostIsa& isa, const Opcode& opcode) {
  const OpcodeName name(opcode.name);
  const Layout layout = layout_of(name.last());
  const bool halves = name.last().ends_with("x2"), pair = parse_pattern(opcode.pattern)[0].pair;
  check_opcode_equals(isa, opcode, cases_for(layout, halves), [&](const Operands& v) {
    std::uint64_t p = 0, q = 0;
    if (halves) {
      p = combined(name, holds(name, layout, v[0] & 0xffffu, v[1] & 0xffffu), v[2]);
      q = combined(name, holds(name, layout, v[0] >> 16, v[1] >> 16), v[2]);
    } else {
      const bool held = holds(name, layout, v[0], v[1]);
      p = combined(name, held, v[2]);
      q = combined(name, !held, v[2]);
    }
    return pair ? p | q << 1 : p;
  });
}

/// What is written where it holds: one in floating point, all bits in integers.
std::uint64_t truth(const std::string& type) {
  if (type == "u16" || type == "s16") return 0xffffu;
  if (type == "u32" || type == "s32") return 0xffff'ffffu;
  if (type == "f32") return exact::f32.one();
  if (type == "f16" || type == "f16x2") return exact::f16.one();
  if (type == "bf16" || type == "bf16x2") return exact::bf16.one();
  FAIL("nothing is expected of a result of type ", type);
  return 0;
}

void check_set(const HostIsa& isa, const Opcode& opcode) {
  const OpcodeName name(opcode.name);
  const std::string& to = name[name.size() - 2];
  const Layout layout = layout_of(name.last());
  const bool halves = name.last().ends_with("x2");
  check_opcode_equals(isa, opcode, cases_for(layout, halves), [&](const Operands& v) {
    if (!halves) return combined(name, holds(name, layout, v[0], v[1]), v[2]) ? truth(to) : 0;
    // PTX ISA 9.7.7.1: an integer result has 16 bits for each number.
    const std::uint64_t held = truth(to) & 0xffffu;
    const bool low = combined(name, holds(name, layout, v[0] & 0xffffu, v[1] & 0xffffu), v[2]);
    const bool high = combined(name, holds(name, layout, v[0] >> 16, v[1] >> 16), v[2]);
    return (low ? held : 0) | (high ? held << 16 : 0);
  });
}

}  // namespace

TEST_CASE("simgpu compare float: setp with every comparison, alone and combined") {
  each_opcode("setp_float", check_setp);
}

TEST_CASE("simgpu compare float: set with every type of result") {
  each_opcode("set_float", check_set);
}

TEST_CASE("simgpu compare float: a negated predicate is combined as its complement") {
  OneWarp warp;
  const std::uint32_t a = warp.add<float>([](int lane) { return lane; });
  const std::uint32_t b = warp.add<float>([](int) { return 16; });
  const std::uint32_t p = warp.add_predicate(0), q = warp.add_predicate(0);
  const std::uint32_t c = warp.add_predicate(0x00ff'00ffu);
  for (const HostIsa& isa : host_isas()) {
    warp.run(find_opcode(isa, "setp.lt.and.f32"), {p, q, a, b, c | negated_predicate});
    CHECK(warp.predicate(p) == 0x0000'ff00u);
    CHECK(warp.predicate(q) == 0xff00'0000u);
  }
}

}  // namespace simgpu
