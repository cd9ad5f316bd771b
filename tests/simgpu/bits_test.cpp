#include <doctest/doctest.h>

#include <algorithm>

#include "tests/simgpu/integer_values.h"
#include "tests/simgpu/lane_check.h"

// Expected values bit by bit, as PTX ISA 9.7.1 and 9.7.8 say them.

namespace simgpu {
namespace {

using Word = std::uint64_t;
using Bit = bool (*)(bool, bool);

bool bit(Word word, int at) { return (word >> at & 1u) != 0; }
Word one_at(int at) { return Word{1} << at; }

Expectation bitwise(int bits, Bit f) {
  return [=](LaneCase& lane) {
    for (int at = 0; at < bits; ++at)
      if (f(bit(lane.in[0], at), bit(lane.in[1], at))) lane.out[0] |= one_at(at);
  };
}

Word looked_up(const LaneCase& lane) {
  Word result = 0;
  for (int at = 0; at < 32; ++at) {
    const int row = 4 * bit(lane.in[0], at) + 2 * bit(lane.in[1], at) + bit(lane.in[2], at);
    if (bit(static_cast<Word>(lane.immediate), row)) result |= one_at(at);
  }
  return result;
}

Expectation shifted(int bits, bool left, bool is_signed) {
  return [=](LaneCase& lane) {
    const Word fill = is_signed && bit(lane.in[0], bits - 1) ? 1 : 0;
    for (int at = 0; at < bits; ++at) {
      const Whole from = left ? Whole{at} - static_cast<Whole>(lane.in[1])
                              : Whole{at} + static_cast<Whole>(lane.in[1]);
      const bool inside = from >= 0 && from < bits;
      const Word value = inside ? bit(lane.in[0], static_cast<int>(from)) : left ? 0 : fill;
      lane.out[0] |= value << at;
    }
  };
}

Expectation funnel(bool left, bool clamp) {
  return [=](LaneCase& lane) {
    const auto by = static_cast<int>(clamp ? std::min<Word>(lane.in[2], 32) : lane.in[2] % 32);
    for (int at = 0; at < 32; ++at) {
      const int from = left ? 32 + at - by : at + by;
      const bool value = from < 32 ? bit(lane.in[0], from) : bit(lane.in[1], from - 32);
      if (value) lane.out[0] |= one_at(at);
    }
  };
}

void add_counts(Expectations& all, int bits) {
  const std::string width = std::to_string(bits);
  all["popc.b" + width] = [=](LaneCase& lane) {
    for (int at = 0; at < bits; ++at) lane.out[0] += bit(lane.in[0], at) ? 1 : 0;
  };
  all["clz.b" + width] = [=](LaneCase& lane) {
    for (int at = bits - 1; at >= 0 && !bit(lane.in[0], at); --at) ++lane.out[0];
  };
  all["brev.b" + width] = [=](LaneCase& lane) {
    for (int at = 0; at < bits; ++at)
      if (bit(lane.in[0], at)) lane.out[0] |= one_at(bits - 1 - at);
  };
  for (const bool is_signed : {false, true})
    for (const bool from_top : {false, true}) {
      const std::string name = from_top ? "bfind.shiftamt." : "bfind.";
      all[name + (is_signed ? "s" : "u") + width] = [=](LaneCase& lane) {
        const bool sign = is_signed && bit(lane.in[0], bits - 1);
        lane.out[0] = 0xffff'ffff;
        for (int at = 0; at < bits; ++at)
          if (bit(lane.in[0], at) != sign)
            lane.out[0] = static_cast<Word>(from_top ? bits - 1 - at : at);
      };
    }
}

Expectations bit_expectations() {
  Expectations all;
  for (const int bits : {16, 32, 64}) {
    const std::string width = std::to_string(bits);
    all["and.b" + width] = bitwise(bits, [](bool a, bool b) { return a && b; });
    all["or.b" + width] = bitwise(bits, [](bool a, bool b) { return a || b; });
    all["xor.b" + width] = bitwise(bits, [](bool a, bool b) { return a != b; });
    all["not.b" + width] = bitwise(bits, [](bool a, bool) { return !a; });
    all["cnot.b" + width] = [](LaneCase& lane) { lane.out[0] = lane.in[0] == 0 ? 1 : 0; };
    all["shl.b" + width] = shifted(bits, true, false);
    all["shr.b" + width] = shifted(bits, false, false);
    all["shr.u" + width] = shifted(bits, false, false);
    all["shr.s" + width] = shifted(bits, false, true);
    if (bits != 16) add_counts(all, bits);
  }
  all["lop3.b32"] = [](LaneCase& lane) { lane.out[0] = looked_up(lane); };
  all["lop3.and.b32"] = [](LaneCase& lane) {
    lane.out = {looked_up(lane)};
    lane.out[1] = lane.out[0] != 0 && lane.in[3] == 1 ? 1 : 0;
  };
  all["lop3.or.b32"] = [](LaneCase& lane) {
    lane.out = {looked_up(lane)};
    lane.out[1] = lane.out[0] != 0 || lane.in[3] == 1 ? 1 : 0;
  };
  all["shf.l.clamp.b32"] = funnel(true, true);
  all["shf.l.wrap.b32"] = funnel(true, false);
  all["shf.r.clamp.b32"] = funnel(false, true);
  all["shf.r.wrap.b32"] = funnel(false, false);
  return all;
}

/// The loop of PTX ISA 9.7.1.19.
Expectation extracted(int bits, bool is_signed) {
  return [=](LaneCase& lane) {
    const auto from = static_cast<int>(lane.in[1] & 255),
               length = static_cast<int>(lane.in[2] & 255);
    const bool sign =
        is_signed && length != 0 && bit(lane.in[0], std::min(from + length - 1, bits - 1));
    for (int at = 0; at < bits; ++at) {
      const bool inside = at < length && from + at < bits;
      if (inside ? bit(lane.in[0], from + at) : sign) lane.out[0] |= one_at(at);
    }
  };
}
Expectation inserted(int bits) {
  return [=](LaneCase& lane) {
    const auto to = static_cast<int>(lane.in[2] & 255), length = static_cast<int>(lane.in[3] & 255);
    for (int at = 0; at < bits; ++at) {
      const bool inside = at >= to && at < to + length;
      if (inside ? bit(lane.in[0], at - to) : bit(lane.in[1], at)) lane.out[0] |= one_at(at);
    }
  };
}

/// Ones at the positions of a field, those beyond the word left out (PTX ISA 9.7.1.22).
Expectation mask(bool clamp) {
  return [=](LaneCase& lane) {
    const Word from = clamp ? std::min<Word>(lane.in[0], 32) : lane.in[0] % 32;
    const Word length = clamp ? std::min<Word>(lane.in[1], 32) : lane.in[1] % 32;
    for (Word at = from; at < from + length && at < 32; ++at) lane.out[0] |= Word{1} << at;
  };
}
Expectation extended(bool is_signed, bool clamp) {
  return [=](LaneCase& lane) {
    const auto length = static_cast<int>(clamp ? std::min<Word>(lane.in[1], 32) : lane.in[1] % 32);
    for (int at = 0; at < 32; ++at) {
      const bool sign = is_signed && length > 0 && bit(lane.in[0], length - 1);
      if (at < length ? bit(lane.in[0], at) : sign) lane.out[0] |= one_at(at);
    }
  };
}

/// Counts down from the given bit as PTX ISA 9.7.1.17 does; b is at most 31 there.
void find_nth(LaneCase& lane) {
  const auto offset = static_cast<std::int32_t>(lane.in[2]);
  const auto base = static_cast<int>(lane.in[1] & 31);
  lane.out[0] = 0xffff'ffff;
  if (offset == 0) {
    if (bit(lane.in[0], base)) lane.out[0] = static_cast<Word>(base);
    return;
  }
  Whole count = offset < 0 ? -Whole{offset} : Whole{offset};
  for (int at = base; at >= 0 && at<32; at += offset> 0 ? 1 : -1)
    if (bit(lane.in[0], at) && --count == 0) {
      lane.out[0] = static_cast<Word>(at);
      return;
    }
}

/// Which bytes the modes take, the highest first, for each value of the lowest bits of c: the table
/// of PTX ISA 9.7.9.7.
struct PermuteMode {
  const char* name;
  int bytes[4][4];
};
constexpr PermuteMode permute_modes[] = {
    {"f4e", {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}}},
    {"b4e", {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}}},
    {"rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
    {"ecl", {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}}},
    {"ecr", {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}}},
    {"rc16", {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}},
};

Word byte_of(const LaneCase& lane, int index) {
  return (index < 4 ? lane.in[0] >> (8 * index) : lane.in[1] >> (8 * (index - 4))) & 0xff;
}

Expectations field_expectations() {
  Expectations all;
  for (const int bits : {32, 64}) {
    const std::string width = std::to_string(bits);
    all["bfe.u" + width] = extracted(bits, false);
    all["bfe.s" + width] = extracted(bits, true);
    all["bfi.b" + width] = inserted(bits);
  }
  for (const bool clamp : {false, true}) {
    const std::string mode = clamp ? "clamp" : "wrap";
    all["bmsk." + mode + ".b32"] = mask(clamp);
    all["szext." + mode + ".u32"] = extended(false, clamp);
    all["szext." + mode + ".s32"] = extended(true, clamp);
  }
  all["fns.b32"] = find_nth;
  all["prmt.b32"] = [](LaneCase& lane) {
    for (int k = 0; k < 4; ++k) {
      const auto choice = static_cast<int>(lane.in[2] >> (4 * k) & 15);
      Word byte = byte_of(lane, choice % 8);
      if (choice >= 8) byte = bit(byte, 7) ? 0xff : 0;
      lane.out[0] |= byte << (8 * k);
    }
  };
  for (const PermuteMode& mode : permute_modes)
    all["prmt.b32." + std::string(mode.name)] = [&](LaneCase& lane) {
      for (const int index : mode.bytes[lane.in[2] & 3])
        lane.out[0] = lane.out[0] << 8 | byte_of(lane, index);
    };
  return all;
}

}  // namespace

TEST_CASE("simgpu bits: logic, shifts and counts") { check_family("bit", bit_expectations()); }

TEST_CASE("simgpu bits: fields and permutations") {
  check_family("bit_field", field_expectations());
}

}  // namespace simgpu
