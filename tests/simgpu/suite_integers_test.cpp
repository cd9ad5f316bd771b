// Whole numbers and their bits: tests/simgpu/kernels/integers.cu.
#include <algorithm>
#include <array>
#include <numeric>

#include "tests/simgpu/kernel_suite.h"

namespace simgpu {
namespace {

using S32 = std::int32_t;
using U32 = std::uint32_t;
using S64 = std::int64_t;
using U64 = std::uint64_t;
__extension__ using S128 = __int128;
__extension__ using U128 = unsigned __int128;

constexpr std::size_t count = 960;
constexpr int n = count;

std::vector<S64> divisors(std::uint64_t seed) {
  std::vector<S64> made = words<S64>(count, seed);
  for (S64& each : made) each = each == 0 ? 3 : each;
  return made;
}

S64 wide(std::size_t i, S64 x, S64 y) {
  const auto p = static_cast<U64>(x), q = static_cast<U64>(y);
  switch (i % 16) {
    case 0: return x / y;
    case 1: return x % y;
    case 2: return static_cast<S64>(p / q);
    case 3: return static_cast<S64>(p % q);
    case 4: return static_cast<S64>(S128{x} * y >> 64);
    case 5: return static_cast<S64>(U128{p} * q >> 64);
    case 6: return x < 0 ? -x : x;
    case 7: return std::popcount(p);
    case 8: return std::countl_zero(p);
    case 9: return p == 0 ? 0 : std::countr_zero(p) + 1;
    case 10: {
      U64 turned = 0;
      for (int bit = 0; bit < 64; ++bit) turned |= (p >> bit & 1) << (63 - bit);
      return static_cast<S64>(turned);
    }
    case 11: return std::min(x, y);
    case 12: return static_cast<S64>(std::max(p, q));
    case 13: return x >> (y & 63);
    case 14: return static_cast<S64>(p >> (q & 63));
    default: return x << (y & 63);
  }
}

/// Both words as one, from bit `by` on.
U32 funnel(U32 low, U32 high, U32 by) {
  return by >= 64 ? 0 : static_cast<U32>((U64{high} << 32 | low) >> by);
}

S32 narrow(std::size_t i, S32 x, S32 y) {
  const auto p = static_cast<U32>(x), q = static_cast<U32>(y);
  const auto low_24 = [](S64 value) { return (value << 40) >> 40; };
  const U32 by = p & 63, within = by & 31, clamped = std::min(by, 32u);
  const auto of = [&]() -> S64 {
    switch (i % 20) {
      case 0: return S64{x} * y >> 32;
      case 1: return static_cast<S64>(U64{p} * q >> 32);
      case 2: return low_24(x) * low_24(y);
      case 3: return S64{p & 0xff'ffff} * (q & 0xff'ffff);
      case 4: return std::popcount(p);
      case 5: return std::countl_zero(p);
      case 6: return p == 0 ? 0 : std::countr_zero(p) + 1;
      case 7: {
        U32 turned = 0;
        for (int bit = 0; bit < 32; ++bit) turned |= (p >> bit & 1) << (31 - bit);
        return turned;
      }
      case 8: return std::abs(S64{x} - y) + 7;
      case 9: return std::abs(S64{p} - q) + 7;
      case 10: return (S64{x} + y) >> 1;
      case 11: return (S64{x} + y + 1) >> 1;
      case 12: return (S64{p} + q) >> 1;
      case 13: return funnel(p, q, 32 - within);
      case 14: return funnel(p, q, within);
      case 15: return funnel(p, q, 32 - clamped);
      case 16: return funnel(p, q, clamped);
      case 17: return std::abs(S64{x});
      case 18: return std::abs(S64{x / 2} - y / 2);
      default: return std::min(p, q) ^ std::max(p, q);
    }
  };
  return static_cast<S32>(of());
}

/// Several results for each element.
template <std::size_t results, class T, class F, class In>
std::vector<T> several(F f, const std::vector<In>& a, const std::vector<In>& b) {
  std::vector<T> made;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::array<T, results> part = f(a[i], b[i]);
    made.insert(made.end(), part.begin(), part.end());
  }
  return made;
}

std::array<U32, 3> permuted(U32 x, U32 y) {
  const U64 both = U64{y} << 32 | x;
  const auto by = [&](U32 selector) {
    U32 made = 0;
    for (int k = 0; k < 4; ++k)
      made |= static_cast<U32>(both >> ((selector >> 4 * k & 7) * 8) & 0xff) << 8 * k;
    return made;
  };
  // rc8: the byte at the selector's two lowest bits, four times.
  return {by(0x5140), by((x >> 9) & 0x7777), (x >> (y & 3) * 8 & 0xff) * 0x0101'0101u};
}

std::array<U32, 5> fields(U32 x, U32 y) {
  const U32 from = y & 31, size = y >> 8 & 31;
  const U64 mask = (U64{1} << size) - 1;
  const U32 field = static_cast<U32>((x >> from) & mask);
  // A field that ends behind bit 31 is extended with the sign of bit 31.
  const U32 last = std::min(from + size - 1, 31u);
  const bool negative = size != 0 && (x >> last & 1) != 0;
  const U32 held = size == 0 ? 0 : std::min(size, 32 - from);
  const U32 extended = negative ? field | static_cast<U32>(~U64{0} << held) : field;
  const U32 placed = static_cast<U32>(mask << from);
  const U32 inserted = (x & ~placed) | (static_cast<U32>((y & mask) << from));
  const U32 top = x >> from;
  return {field, extended, inserted, top == 0 ? ~0u : 31 - U32(std::countl_zero(top)), placed};
}

std::array<U32, 3> logic(U32 x, U32 y) {
  const U32 z = x * 2654435761u;
  return {(x & y) | (y & z) | (x & z), (x & y) | (~x & z), x ^ y ^ z};
}

template <class T>
S32 part_of(S32 word, int k) {
  return static_cast<T>(static_cast<U32>(word) >> (k * 8 * static_cast<int>(sizeof(T))));
}
std::array<S32, 6> packed(S32 x, S32 y) {
  S32 dot = 5, unsigned_dot = 5;
  U32 sums = 0, apart = 0, most = 0;
  for (int k = 0; k < 4; ++k) {
    dot += part_of<std::int8_t>(x, k) * part_of<std::int8_t>(y, k);
    const S32 a = part_of<std::uint8_t>(x, k), b = part_of<std::uint8_t>(y, k);
    unsigned_dot += a * b;
    sums |= static_cast<U32>((a + b) & 0xff) << 8 * k;
    apart |= static_cast<U32>(std::abs(a - b)) << 8 * k;
  }
  for (int k = 0; k < 2; ++k) {
    const S32 greater = std::max(part_of<std::int16_t>(x, k), part_of<std::int16_t>(y, k));
    most |= static_cast<U32>(greater & 0xffff) << 16 * k;
  }
  S32 halves = 9;
  for (int k = 0; k < 2; ++k) halves += part_of<std::int16_t>(x, k) * part_of<std::int8_t>(y, k);
  return {dot, unsigned_dot, S32(sums), S32(apart), S32(most), halves};
}

std::array<S32, 3> saturated(S32 x, S32 y) {
  const auto clamp = [](S64 value, S64 most) { return S32(std::clamp(value, -most - 1, most)); };
  return {clamp(S64{x} + y, INT32_MAX), clamp(S64{x} - y, INT32_MAX), clamp(x >> 20, 127)};
}

std::array<U64, 3> carried(U64 x, U64 y) {
  const U64 low = x + y;
  // The difference less its own borrow.
  return {low, x + (low < x ? 1 : 0), x - y - (x < y ? 1 : 0)};
}

std::vector<KernelRow> bit_rows() {
  const auto a = words<S64>(count, 1), b = divisors(2);
  const auto c = words<S32>(count, 3), d = words<S32>(count, 4);
  const auto p = words<U32>(count, 5), q = words<U32>(count, 6);
  const auto r = words<U64>(count, 7), s = words<U64>(count, 8);
  return {
      row("wide_operations", threads(count), exactly(each<S64>(wide, a, b)), a, b, n),
      row("narrow_operations", threads(count), exactly(each<S32>(narrow, c, d)), c, d, n),
      row("permuted_bytes", threads(count), exactly(several<3, U32>(permuted, p, q)), p, q),
      row("bit_fields", threads(count), exactly(several<5, U32>(fields, p, q)), p, q),
      row("logic_of_three", threads(count), exactly(several<3, U32>(logic, p, q)), p, q),
      row("four_at_once", threads(count), exactly(several<6, S32>(packed, c, d)), c, d),
      row("saturated", threads(count), exactly(several<3, S32>(saturated, c, d)), c, d),
      row("carried", threads(count), exactly(several<3, U64>(carried, r, s)), r, s),
  };
}

std::vector<KernelRow> index_rows() {
  // 5 x 7 x 24 elements of a tensor with strides of its own.
  const auto memory = numbers<float>(2000, 9, -1, 1);
  std::vector<float> permuted_tensor;
  for (std::size_t x = 0; x < 5; ++x)
    for (std::size_t y = 0; y < 7; ++y)
      for (std::size_t z = 0; z < 24; ++z)
        permuted_tensor.push_back(memory[x * 3 + y * 20 + z * 65]);
  const auto wide_values = words<S64>(count, 10);
  const auto known = each<S64>(
      [](S64 x) {
        const auto y = static_cast<S32>(x);
        return x / 48 + x % 1000003 * 7 + y / 7 + static_cast<U32>(y) % 641u + (y / -24 << 3) +
               static_cast<S64>(static_cast<U64>(x) / 10u);
      },
      wide_values);
  const auto table = numbers<float>(100 * 20, 11, -1, 1);
  std::vector<S64> rows = words<S64>(48, 12);
  for (S64& each : rows) each = each % 100;
  std::vector<float> gathered;
  for (const S64 row_number : rows)
    for (S64 column = 0; column < 20; ++column) {
      const S64 from = row_number < 0 ? row_number + 100 : row_number;
      gathered.push_back(table[static_cast<std::size_t>(from * 20 + column)]);
    }
  return {
      row("strided_32", threads(840), exactly(permuted_tensor), memory, 840u, 24u, 7u, 3u, 20u,
          65u),
      row("strided_64", threads(840), exactly(permuted_tensor), memory, S64{840}, S64{24}, S64{7},
          S64{3}, S64{20}, S64{65}),
      row("known_divisors", threads(count), exactly(known), wide_values, n),
      row("gathered", threads(count), exactly(gathered), table, rows, n, 20, 100),
  };
}

std::vector<KernelRow> loop_rows() {
  const auto p = words<U32>(count, 13), q = words<U32>(count, 14);
  const auto divided = several<2, U32>(
      [](U32 x, U32 y) {
        U32 steps = 0;
        for (U32 a = x, b = y; b != 0; ++steps) a = std::exchange(b, a % b);
        return std::array<U32, 2>{std::gcd(x, y), steps};
      },
      p, q);
  std::vector<S32> steps(96);
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (U64 x = i + 1; x != 1 && steps[i] < 60; ++steps[i]) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
  const auto roots = each<U32>(
      [](U32 x) { return static_cast<U32>(std::floor(std::sqrt(static_cast<double>(x)))); }, p);
  std::vector<char> decimals;
  for (const U32 each : p) {
    const std::string text = std::to_string(each);
    decimals.insert(decimals.end(), text.begin(), text.end());
    decimals.insert(decimals.end(), 12 - text.size(), ' ');
  }
  return {
      row("common_divisors", threads(count), exactly(divided), p, q),
      row("collatz", threads(96), exactly(steps), 60),
      row("square_roots", threads(count), exactly(roots), p),
      row("decimals", threads(count), exactly(decimals), p),
  };
}

/// Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
std::array<U32, 4> philox(U32 index, U64 seed, U64 offset) {
  std::array<U32, 4> c{index, 0, static_cast<U32>(offset), static_cast<U32>(offset >> 32)};
  U32 first = static_cast<U32>(seed), second = static_cast<U32>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const U64 a = U64{0xd251'1f53u} * c[0], b = U64{0xcd9e'8d57u} * c[2];
    c = {static_cast<U32>(b >> 32) ^ c[1] ^ first, static_cast<U32>(b),
         static_cast<U32>(a >> 32) ^ c[3] ^ second, static_cast<U32>(a)};
    first += 0x9e37'79b9u;
    second += 0xbb67'ae85u;
  }
  return c;
}

std::vector<KernelRow> structured_rows() {
  constexpr U64 seed = 0x1234'5678'9abc'def0u, offset = 0xfeed'0000'0001u;
  std::vector<std::array<U32, 4>> random(count);
  for (std::size_t i = 0; i < count; ++i) random[i] = philox(static_cast<U32>(i), seed, offset);
  const auto p = words<U32>(count, 15);
  const auto changed = each<U32>(
      [](U32 x) {
        const U32 low = (x + 3) & 31;
        const U32 middle = (0u - (x >> 5)) & 511;
        return low | middle << 5 | ((x >> 14) ^ low) << 14;
      },
      p);
  return {
      row("philox", threads(count), exactly(random), seed, offset),
      row("struct_fields", threads(count), exactly(changed), p),
  };
}

}  // namespace

TEST_CASE("simgpu suite: whole numbers and their bits" * doctest::skip(!has_nvrtc())) {
  std::vector<KernelRow> rows;
  for (auto make : {bit_rows, index_rows, loop_rows, structured_rows})
    for (KernelRow& each : make()) rows.push_back(std::move(each));
  check_kernels("integers.cu", rows);
}

}  // namespace simgpu
