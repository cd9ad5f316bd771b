#include "tests/simgpu/lane_check.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <vector>

#include "tests/simgpu/one_warp.h"
#include "tools/simgpu/code/pattern_word.h"

namespace simgpu {
namespace {

/// A register or predicate that the pattern names.
struct Slot {
  bool written = false;
  int bytes = 0;  ///< of a lane; 0 for a predicate
  std::uint32_t place = 0;

  bool is_predicate() const { return bytes == 0; }
  int values() const { return bytes == 16 ? 2 : 1; }
};

std::vector<Slot> slots_of(std::string_view pattern) {
  std::vector<Slot> slots;
  for (const PatternWord& word : parse_pattern(pattern)) {
    const bool written = word.kind == PatternWord::Kind::written;
    if (!written && word.kind != PatternWord::Kind::read) continue;
    for (int k = 0; k < std::max(word.vector, 1); ++k) slots.push_back({written, word.bytes, 0});
    if (word.pair) slots.push_back({true, 0, 0});
  }
  return slots;
}

/// Numbers at which integers and shifts turn, else random ones of random length.
std::uint64_t draw(std::mt19937_64& random) {
  const std::uint64_t any = random();
  const auto shift = static_cast<int>(random() % 64);
  switch (random() % 8) {
    case 0: return random() % 4;
    case 1: return random() % 70;
    case 2: return ~(random() % 4);
    case 3: return (std::uint64_t{1} << shift) - random() % 2;
    case 4: return ~std::uint64_t{0} << shift;
    case 5: {
      constexpr std::uint64_t turns[] = {0x7f,        0x80,
                                         0xff,        0x7fff,
                                         0x8000,      0xffff,
                                         0x7fff'ffff, 0x8000'0000,
                                         0xffff'ffff, 0x7fff'ffff'ffff'ffff,
                                         0x80000001,  0x8000'0000'0000'0000,
                                         0x8000'7fff, 0x8000'8000,
                                         0x7fff'8000, 0xffff'0001};
      return turns[random() % std::size(turns)];
    }
    case 6: return any >> shift;
    default: return any;
  }
}

class OpcodeCheck {
 public:
  OpcodeCheck(const HostIsa& isa, const Opcode& opcode, const Expectation& expected)
      : opcode_(opcode), expected_(expected), slots_(slots_of(opcode.pattern)) {
    for (Slot& slot : slots_)
      slot.place = slot.is_predicate() ? warp_.add_predicate(0) : add_register(slot.bytes);
    name_ =
        std::string(isa.name) + ": " + std::string(opcode.name) + " " + std::string(opcode.pattern);
    random_.seed(std::hash<std::string>()(std::string(opcode.name)));
  }

  void run() {
    for (int trial = 0; trial < 40; ++trial) check(all_lanes, std::nullopt);
    for (int trial = 0; trial < 12; ++trial) check(any_mask(), std::nullopt);
    for (std::size_t to = 0; to < slots_.size(); ++to)
      for (std::size_t from = 0; from < slots_.size(); ++from)
        if (slots_[to].written && !slots_[from].written && slots_[to].bytes == slots_[from].bytes)
          for (int trial = 0; trial < 4; ++trial)
            check(trial < 2 ? all_lanes : any_mask(), Shared{to, from});
  }

 private:
  /// A destination that lies where a source does.
  struct Shared {
    std::size_t to, from;
  };

  std::uint32_t add_register(int bytes) {
    const std::uint32_t place = warp_.add<std::uint8_t>([](int) { return 0; });
    for (int k = 1; k < bytes; ++k) warp_.add<std::uint8_t>([](int) { return 0; });
    return place;
  }

  std::uint32_t any_mask() {
    const auto mask = static_cast<std::uint32_t>(random_());
    return random_() % 3 == 0 ? 1u << (mask % 32) : mask;
  }

  std::uint64_t value(const Slot& slot, int lane, int part) {
    if (slot.is_predicate()) {
      const bool bit = (warp_.predicate(slot.place & ~negated_predicate) >> lane & 1u) != 0;
      return bit != ((slot.place & negated_predicate) != 0) ? 1 : 0;
    }
    const auto width = static_cast<std::size_t>(std::min(slot.bytes, 8));
    const std::size_t start = slot.place + static_cast<std::size_t>(lane * slot.bytes + part * 8);
    std::uint64_t bits = 0;
    std::memcpy(&bits, warp_.at<std::byte>(0) + start, width);
    return bits;
  }

  void fill(Slot& slot) {
    if (slot.is_predicate()) {
      slot.place &= ~negated_predicate;
      warp_.predicate(slot.place) = static_cast<std::uint32_t>(random_());
      if (!slot.written && random_() % 2 == 0) slot.place |= negated_predicate;
      return;
    }
    const auto width = static_cast<std::size_t>(std::min(slot.bytes, 8));
    for (int k = 0; k < warp_size * slot.values(); ++k) {
      const std::uint64_t drawn = draw(random_);
      std::memcpy(warp_.at<std::byte>(slot.place) + static_cast<std::size_t>(k) * width, &drawn,
                  width);
    }
  }

  /// In some lanes, a source is what another of its size is.
  void make_equal() {
    for (std::size_t k = 1; k < slots_.size(); ++k) {
      const Slot& a = slots_[k - 1];
      const Slot& b = slots_[k];
      if (a.written || b.written || a.bytes != b.bytes || a.is_predicate()) continue;
      for (int lane = 0; lane < warp_size; ++lane)
        if (random_() % 6 == 0)
          std::memcpy(warp_.at<std::byte>(b.place) + lane * b.bytes,
                      warp_.at<std::byte>(a.place) + lane * a.bytes,
                      static_cast<std::size_t>(a.bytes));
    }
  }

  /// The case of a lane: sources as they are, destinations as they shall be.
  LaneCase lane_case(int lane, bool active, std::int64_t immediate) {
    LaneCase made;
    made.immediate = immediate;
    made.carry = (warp_.predicate(carry_predicate) >> lane & 1u) != 0;
    std::size_t in = 0, out = 0;
    for (const Slot& slot : slots_)
      for (int part = 0; part < slot.values(); ++part)
        (slot.written ? made.out[out++] : made.in[in++]) = value(slot, lane, part);
    if (!active) return made;
    made.out.fill(0);
    expected_(made);
    return made;
  }

  void check(std::uint32_t mask, std::optional<Shared> shared) {
    const std::vector<Slot> before = slots_;
    for (Slot& slot : slots_) fill(slot);
    make_equal();
    warp_.predicate(carry_predicate) = static_cast<std::uint32_t>(random_());
    if (shared) slots_[shared->to].place = slots_[shared->from].place & ~negated_predicate;

    const auto immediate = static_cast<std::int64_t>(random_() % 256);
    std::array<LaneCase, warp_size> cases;
    for (int lane = 0; lane < warp_size; ++lane)
      cases[static_cast<std::size_t>(lane)] = lane_case(lane, (mask >> lane & 1u) != 0, immediate);
    std::vector<std::uint32_t> operands;
    for (const Slot& slot : slots_) operands.push_back(slot.place);
    warp_.set_active(mask);
    warp_.run(opcode_, operands, immediate);
    for (int lane = 0; lane < warp_size; ++lane)
      compare(cases[static_cast<std::size_t>(lane)], lane, mask, shared);
    slots_ = before;
  }

  void compare(const LaneCase& expected, int lane, std::uint32_t mask,
               std::optional<Shared> shared) {
    std::size_t in = 0, out = 0;
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      const Slot& slot = slots_[k];
      const bool overwritten = shared && k == shared->from;
      for (int part = 0; part < slot.values(); ++part) {
        const std::uint64_t want = slot.written ? expected.out[out++] : expected.in[in++];
        const std::uint64_t bits =
            slot.is_predicate() ? 1 : ~std::uint64_t{0} >> (64 - 8 * std::min(slot.bytes, 8));
        if (!overwritten && value(slot, lane, part) != (want & bits))
          report(expected, lane, mask, "operand " + std::to_string(k), value(slot, lane, part),
                 want & bits);
      }
    }
    const bool carry = (warp_.predicate(carry_predicate) >> lane & 1u) != 0;
    if (carry != expected.carry) report(expected, lane, mask, "the carry", carry, expected.carry);
  }

  void report(const LaneCase& expected, int lane, std::uint32_t mask, const std::string& what,
              std::uint64_t is, std::uint64_t should_be) {
    if (++failures_ > 3) return;
    std::ostringstream text;
    text << name_ << ": lane " << lane << " of " << std::hex << mask << ", " << what << " is " << is
         << ", not " << should_be << "; immediate " << expected.immediate << ", sources";
    for (const std::uint64_t in : expected.in) text << ' ' << in;
    FAIL_CHECK(text.str());
  }

  const Opcode& opcode_;
  const Expectation& expected_;
  std::vector<Slot> slots_;
  OneWarp warp_;
  std::mt19937_64 random_;
  std::string name_;
  int failures_ = 0;
};

const Expectation* find(const Expectations& expectations, const Opcode& opcode,
                        std::set<std::string_view>& used) {
  const std::string name(opcode.name);
  auto found = expectations.find(name + " " + std::string(opcode.pattern));
  if (found == expectations.end()) found = expectations.find(name);
  if (found == expectations.end()) return nullptr;
  used.insert(found->first);
  return &found->second;
}

}  // namespace

void check_family(std::string_view family, const Expectations& expectations,
                  std::span<const std::string_view> elsewhere) {
  for (const HostIsa& isa : host_isas()) {
    std::set<std::string_view> used;
    for (const Opcode& opcode : family_opcodes(isa, family)) {
      if (std::find(elsewhere.begin(), elsewhere.end(), opcode.name) != elsewhere.end()) continue;
      const Expectation* expected = find(expectations, opcode, used);
      if (expected == nullptr) FAIL_CHECK("no expectation of ", opcode.name, " ", opcode.pattern);
      else OpcodeCheck(isa, opcode, *expected).run();
    }
    for (const auto& [name, expected] : expectations)
      if (used.count(name) == 0) FAIL_CHECK(isa.name, ": no opcode ", name);
  }
}

}  // namespace simgpu
