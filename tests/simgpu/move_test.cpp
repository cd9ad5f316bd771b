#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "tests/simgpu/lane_check.h"

namespace simgpu {
namespace {

void same(LaneCase& lane) { lane.out[0] = lane.in[0]; }

/// `count` parts of `bits` each make a whole, the first the lowest.
Expectation packed(int count, int bits) {
  return [=](LaneCase& lane) {
    for (int k = 0; k < count; ++k) {
      const int at = k * bits;
      lane.out[static_cast<std::size_t>(at / 64)] |= lane.in[static_cast<std::size_t>(k)]
                                                     << (at % 64);
    }
  };
}
Expectation unpacked(int count, int bits) {
  return [=](LaneCase& lane) {
    for (int k = 0; k < count; ++k) {
      const int at = k * bits;
      lane.out[static_cast<std::size_t>(k)] =
          lane.in[static_cast<std::size_t>(at / 64)] >> (at % 64);
    }
  };
}

Expectation chosen_by_real(bool flush) {
  return [=](LaneCase& lane) {
    float c = 0;
    std::memcpy(&c, &lane.in[2], sizeof c);
    if (flush && std::fpclassify(c) == FP_SUBNORMAL) c = 0;
    lane.out[0] = !std::isnan(c) && (c == 0 || !std::signbit(c)) ? lane.in[0] : lane.in[1];
  };
}

Expectations move_expectations() {
  Expectations all;
  for (const char* type :
       {".b16", ".u16", ".s16", ".b32", ".u32", ".s32", ".f32", ".b64", ".u64", ".s64", ".f64"}) {
    const std::string name(type);
    all["selp" + name] = [](LaneCase& lane) { lane.out[0] = lane.in[lane.in[2] == 1 ? 0 : 1]; };
    all["slct" + name + ".s32"] = [](LaneCase& lane) {
      lane.out[0] = lane.in[lane.in[2] < 0x8000'0000 ? 0 : 1];
    };
    all["slct" + name + ".f32"] = chosen_by_real(false);
    all["slct.ftz" + name + ".f32"] = chosen_by_real(true);
    const std::string size = std::to_string(std::stoi(name.substr(2)) / 8);
    all["mov" + name + " d" + size + " s" + size] = same;
  }
  all["mov.b128 d16 s16"] = [](LaneCase& lane) { lane.out = lane.in; };
  for (const auto& [whole, count] :
       {std::pair{2, 2}, {4, 2}, {4, 4}, {8, 2}, {8, 4}, {16, 2}, {16, 4}}) {
    const std::string name = "mov.b" + std::to_string(8 * whole);
    const std::string vector = std::to_string(whole / count) + "v" + std::to_string(count);
    const std::string single = std::to_string(whole);
    all[name + " d" + single + " s" + vector] = packed(count, 8 * whole / count);
    all[name + " d" + vector + " s" + single] = unpacked(count, 8 * whole / count);
  }
  return all;
}

}  // namespace

TEST_CASE("simgpu moves: registers, vectors and choices") {
  check_family("move", move_expectations());
}

}  // namespace simgpu
