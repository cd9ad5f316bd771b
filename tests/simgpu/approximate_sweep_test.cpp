// ex2.approx.f32 and rsqrt.approx.f32 of every float. Most of the results need no arithmetic to be
// known: exponentials overflow, vanish or are 1, and rsqrt(4 a) is rsqrt(a) / 2.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/simgpu/one_warp.h"
#include "tools/simgpu/machine/settings.h"

namespace simgpu {
namespace {

using Word = std::uint32_t;
using Words = std::array<Word, warp_size>;

constexpr Word sign = 0x8000'0000u, infinity = 0x7f80'0000u, one = 0x3f80'0000u;
constexpr Word canonical_nan = 0x7fff'ffffu, least_normal = 0x0080'0000u;

float float_of(Word word) { return __builtin_bit_cast(float, word); }
Word word_of(float value) { return __builtin_bit_cast(Word, value); }

/// The nearest float to what a function of the host gives in double and in long double. Where the
/// error of a double may matter, the long double tells: what is as near to a tie as its error is
/// would be found to be wrong.
template <class Function>
Word nearest(Word word, Function function) {
  const auto a = static_cast<double>(float_of(word));
  const double near = function(a);
  const double error = std::fabs(near) * 0x1p-50;
  const Word low = word_of(static_cast<float>(near - error));
  if (low == word_of(static_cast<float>(near + error))) return low;
  return word_of(static_cast<float>(function(static_cast<long double>(float_of(word)))));
}

constexpr auto ex2 = [](auto a) { return std::exp2(a); };
constexpr auto rsqrt = [](auto a) { return 1 / std::sqrt(a); };

/// PTX ISA 9.7.3.20. Of 32 words one behind the other, all of one sign.
struct Exponentials {
  static constexpr const char* opcode = "ex2.approx.f32";

  void expect(Word first, Words& to) const {
    const float least = float_of(first), most = float_of(first + warp_size - 1);
    const bool is_negative = (first & sign) != 0;
    if ((first & ~sign) > infinity) to.fill(canonical_nan);
    else if (std::fabs(most) <= 0x1p-26f) to.fill(one);
    else if (!std::isnan(most) && least >= 128) to.fill(infinity);
    else if (!std::isnan(most) && is_negative && least <= -150) to.fill(0);
    else
      for (Word lane = 0; lane < warp_size; ++lane)
        to[lane] = std::isnan(float_of(first + lane)) ? canonical_nan : nearest(first + lane, ex2);
  }
};

/// PTX ISA 9.7.3.17.
class ReciprocalRoots {
 public:
  static constexpr const char* opcode = "rsqrt.approx.f32";

  ReciprocalRoots() : two_binades_(2 * least_normal) {
    for (Word n = 0; n < two_binades_.size(); ++n) two_binades_[n] = nearest(one + n, rsqrt);
  }

  void expect(Word first, Words& to) const {
    const Word exponent = first >> 23;
    if (first > sign) {
      to.fill(canonical_nan);
    } else if (exponent == 0 || exponent >= 255) {
      for (Word lane = 0; lane < warp_size; ++lane) to[lane] = special(first + lane);
    } else {
      // 4^halves times what is in the table.
      const int halves = (static_cast<int>(exponent) - 127 - (exponent % 2 == 0 ? 1 : 0)) / 2;
      const Word* from =
          &two_binades_[(first & (least_normal - 1)) + (exponent % 2 == 0 ? least_normal : 0)];
      const Word down = static_cast<Word>(halves) << 23;
      for (Word lane = 0; lane < warp_size; ++lane) to[lane] = from[lane] - down;
    }
  }

 private:
  static Word special(Word word) {
    if (word == sign) return sign | infinity;
    if (word == 0) return infinity;
    if (word == infinity) return 0;
    return word > infinity ? canonical_nan : nearest(word, rsqrt);
  }

  std::vector<Word> two_binades_;  // of 1 up to 4
};

/// Which words an opcode is wrong of, the first few; on all cores.
template <class Expected>
std::vector<Word> wrong_words(const HostIsa& isa, const Expected& expected) {
  constexpr std::uint64_t end = 1ull << 32, part = 1ull << 24;
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::vector<Word> wrong;
  const Opcode& opcode = find_opcode(isa, Expected::opcode);
  const auto work = [&] {
    OneWarp warp;
    const Word to = warp.add<Word>([](int) { return 0; });
    const Word from = warp.add<Word>([](int) { return 0; });
    const std::vector<Word> operands = {to, from};
    Words right;
    for (std::uint64_t begin = next.fetch_add(part); begin < end; begin = next.fetch_add(part)) {
      for (std::uint64_t first = begin; first < begin + part; first += warp_size) {
        Word* words = warp.at<Word>(from);
        for (Word lane = 0; lane < warp_size; ++lane) words[lane] = static_cast<Word>(first) + lane;
        warp.run(opcode, operands);
        expected.expect(static_cast<Word>(first), right);
        if (std::memcmp(warp.at<Word>(to), right.data(), sizeof right) == 0) continue;
        const std::lock_guard lock(mutex);
        for (Word lane = 0; lane < warp_size && wrong.size() < 10; ++lane)
          if (warp.at<Word>(to)[lane] != right[lane]) wrong.push_back(words[lane]);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned n = std::max(1u, std::thread::hardware_concurrency()); n > 0; --n)
    threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

template <class Expected>
void check_every_float() {
  REQUIRE(perturbation() == nullptr);
  const Expected expected;
  for (const HostIsa& isa : host_isas()) {
    CAPTURE(isa.name);
    for (const Word word : wrong_words(isa, expected)) FAIL_CHECK(Expected::opcode, " of ", word);
  }
}

}  // namespace

TEST_SUITE("exhaustive") {
  TEST_CASE("simgpu approximate: ex2 of every float is correctly rounded") {
    check_every_float<Exponentials>();
  }
  TEST_CASE("simgpu approximate: rsqrt of every float is correctly rounded") {
    check_every_float<ReciprocalRoots>();
  }
}

}  // namespace simgpu
