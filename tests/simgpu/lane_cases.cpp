#include "tests/simgpu/lane_cases.h"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace simgpu {
namespace {

constexpr std::uint64_t untouched = 0xa5a5'a5a5'a5a5'a5a5ull;

std::uint64_t cut(std::uint64_t word, int bytes) {
  return bytes == 8 ? word : word & ((std::uint64_t{1} << (bytes * 8)) - 1);
}

/// A register of any size.
std::uint32_t add_register(OneWarp& warp, int bytes) {
  switch (bytes) {
    case 1: return warp.add<std::uint8_t>([](int) { return 0; });
    case 2: return warp.add<std::uint16_t>([](int) { return 0; });
    case 4: return warp.add<std::uint32_t>([](int) { return 0; });
    default: return warp.add<std::uint64_t>([](int) { return 0; });
  }
}

void put(OneWarp& warp, std::uint32_t offset, int bytes, std::size_t lane, std::uint64_t word) {
  std::memcpy(warp.at<std::byte>(offset) + lane * static_cast<std::size_t>(bytes), &word,
              static_cast<std::size_t>(bytes));
}

std::uint64_t get(OneWarp& warp, std::uint32_t offset, int bytes, std::size_t lane) {
  std::uint64_t word = 0;
  std::memcpy(&word, warp.at<std::byte>(offset) + lane * static_cast<std::size_t>(bytes),
              static_cast<std::size_t>(bytes));
  return word;
}

bool is_predicate(const PatternWord& word) { return word.bytes == 0; }

/// The places of an opcode's operands in a warp.
struct Places {
  std::vector<PatternWord> words;
  std::vector<std::uint32_t> operands;  ///< as the instruction has them

  Places(OneWarp& warp, std::string_view pattern) : words(parse_pattern(pattern)) {
    for (const PatternWord& word : words) {
      operands.push_back(is_predicate(word) ? warp.add_predicate(0)
                                            : add_register(warp, word.bytes));
      if (word.pair) operands.push_back(warp.add_predicate(0));
    }
  }
  void load(OneWarp& warp, std::size_t lane, const Operands& values) const {
    std::size_t operand = 0, value = 0;
    for (const PatternWord& word : words) {
      const std::uint64_t loaded =
          word.kind == PatternWord::Kind::written ? untouched : values[value++];
      for (std::size_t i = 0; i < (word.pair ? 2u : 1u); ++i, ++operand) {
        if (is_predicate(word)) {
          std::uint32_t& bits = warp.predicate(operands[operand]);
          bits = (bits & ~(1u << lane)) | static_cast<std::uint32_t>(loaded & 1) << lane;
        } else {
          put(warp, operands[operand], word.bytes, lane, loaded);
        }
      }
    }
  }
  std::uint64_t written(OneWarp& warp, std::size_t lane) const {
    const PatternWord& word = words.front();
    if (!is_predicate(word)) return get(warp, operands.front(), word.bytes, lane);
    std::uint64_t bits = warp.predicate(operands[0]) >> lane & 1u;
    if (word.pair) bits |= std::uint64_t{warp.predicate(operands[1]) >> lane & 1u} << 1;
    return bits;
  }
  std::uint64_t before() const {
    const PatternWord& word = words.front();
    if (!is_predicate(word)) return cut(untouched, word.bytes);
    return word.pair ? 3 : 1;
  }
};

[[noreturn]] void fail_lane(const HostIsa& isa, const Opcode& opcode, const Operands& values,
                            std::uint64_t written, bool active) {
  std::ostringstream text;
  text << isa.name << " " << opcode.name << " [" << opcode.pattern << "]" << std::hex;
  for (const std::uint64_t value : values) text << " 0x" << value;
  text << " gives 0x" << written << (active ? "" : " in a lane that is not active");
  FAIL(text.str());
  std::abort();
}

}  // namespace

OpcodeName::OpcodeName(std::string_view name) {
  std::istringstream stream{std::string(name)};
  for (std::string part; std::getline(stream, part, '.');) parts_.push_back(part);
}

bool OpcodeName::has(std::string_view part) const {
  return std::find(parts_.begin(), parts_.end(), part) != parts_.end();
}

exact::Round OpcodeName::rounding() const {
  if (has("rna")) return exact::Round::away;
  if (has("rz") || has("rzi")) return exact::Round::zero;
  if (has("rm") || has("rmi")) return exact::Round::down;
  if (has("rp") || has("rpi")) return exact::Round::up;
  return exact::Round::even;
}

void check_opcode(const HostIsa& isa, const Opcode& opcode, const std::vector<Operands>& cases,
                  const IsRight& is_right) {
  OneWarp warp;
  const Places places(warp, opcode.pattern);
  std::mt19937 random(static_cast<std::uint32_t>(cases.size()));
  for (std::size_t first = 0; first < cases.size(); first += warp_size) {
    const auto value = [&](std::size_t lane) { return cases[(first + lane) % cases.size()]; };
    const bool all = first / warp_size % 2 == 0;
    for (const bool in_all : {all, !all}) {
      const std::uint32_t active = in_all ? all_lanes : static_cast<std::uint32_t>(random());
      warp.set_active(active);
      for (std::size_t lane = 0; lane < warp_size; ++lane) places.load(warp, lane, value(lane));
      warp.run(opcode, places.operands);
      for (std::size_t lane = 0; lane < warp_size; ++lane) {
        const std::uint64_t written = places.written(warp, lane);
        const bool is_active = (active >> lane & 1u) != 0;
        if (is_active ? is_right(value(lane), written) : written == places.before()) continue;
        fail_lane(isa, opcode, value(lane), written, is_active);
      }
    }
  }
}

void check_opcode_equals(const HostIsa& isa, const Opcode& opcode,
                         const std::vector<Operands>& cases, const Expected& expected) {
  check_opcode(isa, opcode, cases, [&](const Operands& operands, std::uint64_t written) {
    const std::uint64_t wanted = expected(operands);
    if (written == wanted) return true;
    MESSAGE("expected ", wanted);
    return false;
  });
}

std::vector<std::uint64_t> edges(const exact::Layout& layout) {
  const std::uint64_t one = layout.one(), normal = layout.least_normal();
  std::vector<std::uint64_t> found = {0,
                                      1,
                                      2,
                                      3,
                                      normal / 2,
                                      normal - 1,
                                      normal,
                                      normal + 1,
                                      one - normal,
                                      one - 1,
                                      one,
                                      one + 1,
                                      one + normal / 2,
                                      one + normal,
                                      one + normal + normal / 2,
                                      layout.greatest() - 1,
                                      layout.greatest(),
                                      layout.nan()};
  if (!layout.finite) {
    found.push_back(layout.infinity());
    found.push_back(layout.infinity() | normal / 2);      // a quiet NaN
    found.push_back(layout.infinity() | 1);               // a signalling one
    found.push_back(layout.infinity() | normal / 2 | 1);  // with a payload
  }
  const std::size_t positive = found.size();
  for (std::size_t i = 0; i < positive; ++i) found.push_back(found[i] | layout.sign());
  return found;
}

std::uint64_t random_number(const exact::Layout& layout, std::mt19937_64& random) {
  const std::uint64_t word = random() & (layout.sign() | layout.nan());
  if (random() % 4 == 0) return word;
  // Near one, with few bits now and then.
  const auto field = static_cast<std::uint64_t>(layout.bias()) + random() % 9 - 4;
  std::uint64_t fraction = word & (layout.least_normal() - 1);
  if (random() % 4 == 0) fraction &= ~(layout.least_normal() - 1) >> (random() % 8 + 1);
  return (word & layout.sign()) | field << layout.mantissa_bits | fraction;
}

std::vector<Operands> cases_of(const std::vector<exact::Layout>& layouts, int random_cases) {
  std::mt19937_64 random(layouts.size());
  std::vector<Operands> cases;
  const std::vector<std::uint64_t> first = edges(layouts[0]);
  for (const std::uint64_t a : first) {
    if (layouts.size() == 1) cases.push_back({a});
    if (layouts.size() == 2)
      for (const std::uint64_t b : edges(layouts[1])) cases.push_back({a, b});
    if (layouts.size() == 3)
      for (const std::uint64_t b : edges(layouts[1])) {
        const std::vector<std::uint64_t> third = edges(layouts[2]);
        for (int i = 0; i < 4; ++i) cases.push_back({a, b, third[random() % third.size()]});
      }
  }
  for (int i = 0; i < random_cases; ++i) {
    Operands operands = {};
    for (std::size_t k = 0; k < layouts.size(); ++k)
      operands[k] = random_number(layouts[k], random);
    if (layouts.size() == 2 && i % 4 == 0 && layouts[0].bits() == layouts[1].bits())
      operands[1] = (operands[0] ^ layouts[0].sign()) + random() % 3 - 1;
    if (layouts.size() == 3 && i % 2 == 0) {
      // What the product is short of a tie by, or of nothing.
      const auto product = exact::convert(
          layouts[0], exact::multiply(layouts[0], exact::Round::even, operands[0], operands[1]),
          layouts[2], exact::Round::zero);
      operands[2] = i % 4 == 0 ? product ^ layouts[2].sign() : random() % 64;
    }
    cases.push_back(operands);
  }
  for (Operands& operands : cases)
    for (std::size_t k = 0; k < layouts.size(); ++k)
      operands[k] &= layouts[k].sign() | layouts[k].nan();
  return cases;
}

std::vector<Operands> paired(const std::vector<Operands>& cases, int bits) {
  std::vector<Operands> pairs = cases;
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (std::size_t k = 0; k < pairs[i].size(); ++k)
      pairs[i][k] |= cases[(i * 7 + 1) % cases.size()][k] << bits;
  return pairs;
}

void each_opcode(std::string_view family,
                 const std::function<void(const HostIsa& isa, const Opcode& opcode)>& check) {
  for (const HostIsa& isa : host_isas())
    for (const Opcode& opcode : family_opcodes(isa, family)) check(isa, opcode);
}

}  // namespace simgpu
