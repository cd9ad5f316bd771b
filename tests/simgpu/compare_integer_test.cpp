#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/simgpu/integer_values.h"
#include "tests/simgpu/lane_check.h"

namespace simgpu {
namespace {

using Compare = bool (*)(Whole, Whole);
using Combine = bool (*)(bool, bool);

struct NamedCompare {
  const char* name;
  Compare holds;
  bool only_unsigned = false, of_bits = false;
};
const NamedCompare compares[] = {
    {"eq", [](Whole a, Whole b) { return a == b; }, false, true},
    {"ne", [](Whole a, Whole b) { return a != b; }, false, true},
    {"lt", [](Whole a, Whole b) { return a < b; }},
    {"le", [](Whole a, Whole b) { return a <= b; }},
    {"gt", [](Whole a, Whole b) { return a > b; }},
    {"ge", [](Whole a, Whole b) { return a >= b; }},
    {"lo", [](Whole a, Whole b) { return a < b; }, true},
    {"ls", [](Whole a, Whole b) { return a <= b; }, true},
    {"hi", [](Whole a, Whole b) { return a > b; }, true},
    {"hs", [](Whole a, Whole b) { return a >= b; }, true},
};

struct NamedCombine {
  const char* name;
  Combine of;
};
/// Without a name there is no third operand, and what it would be does not count.
const NamedCombine combines[] = {
    {"", [](bool compared, bool) { return compared; }},
    {".and", [](bool compared, bool other) { return compared && other; }},
    {".or", [](bool compared, bool other) { return compared || other; }},
    {".xor", [](bool compared, bool other) { return compared != other; }},
};

struct Truth {
  const char* type;
  std::uint64_t bits;
};
constexpr Truth truths[] = {{".u32.", 0xffff'ffff},
                            {".s32.", 0xffff'ffff},
                            {".f32.", 0x3f80'0000},
                            {".f16.", 0x3c00},
                            {".bf16.", 0x3f80}};

void add_compares(Expectations& all, const IntegerType& type, const NamedCompare& compare,
                  const NamedCombine& combine) {
  const auto compared = [=](const LaneCase& lane) {
    return compare.holds(type.value(lane.in[0]), type.value(lane.in[1]));
  };
  const std::string name = std::string(compare.name) + combine.name;
  all["setp." + name + "." + type.name] = [=](LaneCase& lane) {
    lane.out[0] = combine.of(compared(lane), lane.in[2] == 1) ? 1 : 0;
    lane.out[1] = combine.of(!compared(lane), lane.in[2] == 1) ? 1 : 0;
  };
  for (const Truth& truth : truths)
    all["set." + name + truth.type + type.name] = [=](LaneCase& lane) {
      lane.out[0] = combine.of(compared(lane), lane.in[2] == 1) ? truth.bits : 0;
    };
}

Expectations compare_expectations() {
  std::vector<IntegerType> types = integer_types();
  for (const int bits : {16, 32, 64}) types.push_back({"b" + std::to_string(bits), bits, false});
  Expectations all;
  for (const IntegerType& type : types)
    for (const NamedCompare& compare : compares) {
      if (type.name[0] == 'b' && !compare.of_bits) continue;
      if (type.is_signed && compare.only_unsigned) continue;
      for (const NamedCombine& combine : combines) add_compares(all, type, compare, combine);
    }
  all["and.pred"] = [](LaneCase& lane) { lane.out[0] = lane.in[0] & lane.in[1]; };
  all["or.pred"] = [](LaneCase& lane) { lane.out[0] = lane.in[0] | lane.in[1]; };
  all["xor.pred"] = [](LaneCase& lane) { lane.out[0] = lane.in[0] ^ lane.in[1]; };
  all["not.pred"] = [](LaneCase& lane) { lane.out[0] = 1 - lane.in[0]; };
  all["mov.pred"] = [](LaneCase& lane) { lane.out[0] = lane.in[0]; };
  return all;
}

}  // namespace

TEST_CASE("simgpu integers: compares and predicates") {
  check_family("compare_integer", compare_expectations());
}

}  // namespace simgpu
