// Numbers of mma.sync: what is exact, how results are rounded, what integers do at their ends.
// Where numbers lie is tests/simgpu/matrix_layout_test.cpp. Values are worked out in wider types.

#include <doctest/doctest.h>

#include <algorithm>
#include <cfenv>
#include <random>

#include "tests/simgpu/mma_by_text.h"
#include "tools/simgpu/machine/settings.h"

namespace simgpu {
namespace {

constexpr std::uint64_t single_nan = 0x7fff'ffff, half_nan = 0x7fff;

std::uint64_t random_word() {
  static std::mt19937_64 generator(11);
  return generator();
}

bool is_float(const MmaText& text) { return text.d->exponent_bits != 0 && text.d->bits != 64; }

/// A number whose exponent is near that of 1, so that sums cancel.
std::uint64_t near_one(const NumberFormat& format) {
  const std::uint64_t bias = (std::uint64_t{1} << (format.exponent_bits - 1)) - 1;
  const std::uint64_t exponent = bias - 3 + random_word() % 6;
  const std::uint64_t mantissa = random_word() & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  return (random_word() & 1) << (format.bits - 1) | exponent << format.mantissa_bits | mantissa;
}

Matrices filled(int count, int rows, int columns, auto value) {
  Matrices made(count, rows, columns);
  for (std::uint64_t& word : made.words) word = value();
  return made;
}

/// What mma reads of a number of tf32: its low 13 bits do not count (PTX ISA 5.2.3).
double read_number(const NumberFormat& format, std::uint64_t word) {
  return decode(format, format.name == "tf32" ? word & 0xffff'e000u : word);
}

struct Reference {
  long double sum = 0, absolute = 0;
};
Reference reference(const MmaText& text, const Matrices& a, const Matrices& b, const Matrices& c,
                    int matrix, int row, int column) {
  Reference made;
  const double start = read_number(*text.c, c.at(matrix, row, column));
  made = {start, std::fabs(start)};
  for (int k = 0; k < text.k; ++k) {
    const long double product =
        static_cast<long double>(read_number(*text.a, a.at(matrix, row, k))) *
        static_cast<long double>(read_number(*text.b, b.at(matrix, k, column)));
    made.sum += product;
    made.absolute += std::fabs(product);
  }
  return made;
}

/// The word of the nearest f16, from a sorted table of all of them: the last bit even in a tie.
std::uint64_t nearest_half(double value) {
  static const std::vector<double> table = [] {
    std::vector<double> numbers;
    for (std::uint64_t word = 0; word < 0x7c00; ++word)
      numbers.push_back(decode(number_format("f16"), word));
    return numbers;
  }();
  const std::uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520) return sign | 0x7c00;  // half of the way to the number after the last
  const auto above = std::lower_bound(table.begin(), table.end(), magnitude);
  const auto word = static_cast<std::uint64_t>(above - table.begin());
  if (above == table.end()) return sign | 0x7bff;
  if (word == 0) return sign;
  const double low = *(above - 1), high = *above;
  const bool takes_high =
      magnitude - low > high - magnitude || (magnitude - low == high - magnitude && word % 2 == 0);
  return sign | (takes_high ? word : word - 1);
}

/// Runs body(opcode, what its name says) for each mma of a kind, on each instruction set.
template <class Body>
void each_mma(bool (*wanted)(const MmaText&), Body body) {
  int count = 0;
  for (const HostIsa& isa : host_isas())
    for (const Opcode& opcode : family_opcodes(isa, "mma")) {
      const MmaText text = mma_by_text(opcode.name);
      if (!wanted(text)) continue;
      CAPTURE(isa.name);
      CAPTURE(opcode.name);
      ++count;
      body(isa, opcode, text);
    }
  CHECK(count > 0);
}

}  // namespace

TEST_CASE("simgpu mma: sums of floats are rounded once") {
  const bool perturbed = settings().perturb.has_value();
  each_mma(is_float, [&](const HostIsa& isa, const Opcode& opcode, const MmaText& text) {
    const Matrices a = filled(text.count, text.m, text.k, [&] { return near_one(*text.a); });
    const Matrices b = filled(text.count, text.k, text.n, [&] { return near_one(*text.b); });
    const Matrices c = filled(text.count, text.m, text.n, [&] { return near_one(*text.c); });
    const Matrices d = run_mma(isa, opcode, text, a, b, c);
    const long double unit = std::ldexp(1.0L, -text.d->mantissa_bits - 1);
    const long double single = std::ldexp(1.0L, -24);
    for (int matrix = 0; matrix < text.count; ++matrix)
      for (int row = 0; row < text.m; ++row)
        for (int column = 0; column < text.n; ++column) {
          const Reference wanted = reference(text, a, b, c, matrix, row, column);
          const long double got = decode(*text.d, d.at(matrix, row, column));
          const long double bound =
              perturbed ? (2 * unit + (text.k + 2) * single) * wanted.absolute
                        : unit * std::fabs(wanted.sum) * 1.001L + wanted.absolute * 1e-14L;
          CHECK(std::fabs(got - wanted.sum) <= bound);
        }
  });
}

TEST_CASE("simgpu mma: numbers of A are read as what they are, infinities and NaN too") {
  // A times the unit matrix; B has zeros beside its ones, which make an infinity of A a NaN.
  each_mma(
      [](const MmaText& text) {
        return is_float(text) && text.d->bits == 32 && text.c->bits == 32 && text.count == 1;
      },
      [](const HostIsa& isa, const Opcode& opcode, const MmaText& text) {
        const Matrices c(1, text.m, text.n);
        Matrices b(1, text.k, text.n);
        const int units = std::min(text.k, text.n);
        for (int k = 0; k < units; ++k) b.at(0, k, k) = encode_integer(*text.b, 1);
        const std::uint64_t words = text.a->bits == 8 ? 256 : 65536;
        std::uint64_t next = text.a->bits == 8 ? 0 : random_word() % 64;
        // All of 8 bits, a part of the others in each opcode.
        for (const std::uint64_t step = text.a->bits == 8 ? 1 : 17; next < words;) {
          Matrices a(1, text.m, text.k);
          for (int row = 0; row < text.m; ++row)
            for (int k = 0; k < units; ++k, next += step)
              a.at(0, row, k) = text.a->bits == 32 ? random_word() & 0xffff'ffff : next % words;
          const Matrices d = run_mma(isa, opcode, text, a, b, c);
          for (int row = 0; row < text.m; ++row)
            for (int column = 0; column < text.n; ++column) {
              double sum = 0;
              for (int k = 0; k < text.k; ++k)
                sum += read_number(*text.a, a.at(0, row, k)) * decode(*text.b, b.at(0, k, column));
              const std::uint64_t expected =
                  std::isnan(sum) ? single_nan
                                  : std::bit_cast<std::uint32_t>(static_cast<float>(sum));
              CHECK(d.at(0, row, column) == expected);
            }
        }
      });
}

TEST_CASE("simgpu mma: results of f16 are nearest, ties to even, and overflow") {
  each_mma(
      [](const MmaText& text) {
        return text.d->bits == 16 && text.a->bits == 16 && text.count == 1;
      },
      [](const HostIsa& isa, const Opcode& opcode, const MmaText& text) {
        const Matrices c(1, text.m, text.n);
        for (int round = 0; round < 60; ++round) {
          // One product for each sum: its size is anything from what vanishes to what
          // overflows.
          Matrices a(1, text.m, text.k), b(1, text.k, text.n);
          for (int row = 0; row < text.m; ++row) a.at(0, row, 1) = random_word() % 0x7c00;
          for (int column = 0; column < text.n; ++column)
            b.at(0, 1, column) = (random_word() % 0x7c00) | (random_word() & 0x8000);
          if (round == 0) {  // ties: 2^-24 by halves of odd numbers, and the limit
            for (int row = 0; row < text.m; ++row)
              a.at(0, row, 1) = row == 0 ? 0x7bff : static_cast<std::uint64_t>(row);
            for (int column = 0; column < text.n; ++column)
              b.at(0, 1, column) = 0x3800 + static_cast<std::uint64_t>(column % 4) * 0x200;
          }
          const Matrices d = run_mma(isa, opcode, text, a, b, c);
          for (int row = 0; row < text.m; ++row)
            for (int column = 0; column < text.n; ++column) {
              const double product =
                  decode(*text.a, a.at(0, row, 1)) * decode(*text.b, b.at(0, 1, column));
              const std::uint64_t expected = nearest_half(product), got = d.at(0, row, column);
              // A sum that begins with +0 is not -0, but one of numbers that are rounded may be.
              if ((expected & 0x7fff) == 0) CHECK((got & 0x7fff) == 0);
              else CHECK(got == expected);
            }
        }
      });
}

TEST_CASE("simgpu mma: infinities and NaN") {
  each_mma(is_float, [](const HostIsa& isa, const Opcode& opcode, const MmaText& text) {
    const std::uint64_t nan = text.d->bits == 16 ? half_nan : single_nan;
    const auto infinity = [](const NumberFormat& format) {
      return ((std::uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
    };
    Matrices a = filled(text.count, text.m, text.k, [&] { return encode_integer(*text.a, 1); });
    const Matrices b =
        filled(text.count, text.k, text.n, [&] { return encode_integer(*text.b, 1); });
    Matrices c = filled(text.count, text.m, text.n, [&] { return encode_integer(*text.c, 2); });
    const std::uint64_t sign = std::uint64_t{1} << (text.c->bits - 1);
    c.at(0, 0, 0) = infinity(*text.c);
    c.at(0, 0, 1) = infinity(*text.c) | sign;
    c.at(0, 0, 2) = infinity(*text.c) | sign | 5;  // a NaN with a payload
    if (text.a->has_infinity) a.at(0, 1, 0) = infinity(*text.a);
    a.at(0, 2, 0) = text.a->has_infinity ? infinity(*text.a) | 1 << (text.a->mantissa_bits - 1)
                                         : std::uint64_t{0xff};
    c.at(0, 1, 1) = infinity(*text.c) | sign;
    const Matrices d = run_mma(isa, opcode, text, a, b, c);
    const std::uint64_t of_d = infinity(*text.d);
    CHECK(d.at(0, 0, 0) == of_d);
    CHECK(d.at(0, 0, 1) == (of_d | std::uint64_t{1} << (text.d->bits - 1)));
    CHECK(d.at(0, 0, 2) == nan);
    CHECK(d.at(0, 2, 0) == nan);
    if (text.a->has_infinity) {
      CHECK(d.at(0, 1, 0) == of_d);
      CHECK(d.at(0, 1, 1) == nan);
    }
    CHECK(decode(*text.d, d.at(0, 3, 3)) == text.k + 2);
  });
}

TEST_CASE("simgpu mma: f64 is a fused multiply-add for each k, with the rounding that is named") {
  each_mma([](const MmaText& text) { return text.d->bits == 64; },
           [](const HostIsa& isa, const Opcode& opcode, const MmaText& text) {
             const Matrices a = filled(1, text.m, text.k, [&] { return near_one(*text.a); });
             const Matrices b = filled(1, text.k, text.n, [&] { return near_one(*text.b); });
             const Matrices c = filled(1, text.m, text.n, [&] { return near_one(*text.c); });
             const Matrices d = run_mma(isa, opcode, text, a, b, c);
             const int mode = text.rounding == "rz"   ? FE_TOWARDZERO
                              : text.rounding == "rm" ? FE_DOWNWARD
                              : text.rounding == "rp" ? FE_UPWARD
                                                      : FE_TONEAREST;
             for (int row = 0; row < text.m; ++row)
               for (int column = 0; column < text.n; ++column) {
                 volatile double sum = decode(*text.c, c.at(0, row, column));
                 for (int k = 0; k < text.k; ++k) {
                   volatile double x = decode(*text.a, a.at(0, row, k));
                   volatile double y = decode(*text.b, b.at(0, k, column));
                   std::fesetround(mode);
                   sum = std::fma(x, y, sum);
                   std::fesetround(FE_TONEAREST);
                 }
                 const double wanted = sum;
                 CHECK(d.at(0, row, column) == std::bit_cast<std::uint64_t>(wanted));
               }
           });
}

TEST_CASE("simgpu mma: integers wrap, or end at their limits with .satfinite") {
  each_mma([](const MmaText& text) { return text.d->name == "s32" && text.a->bits > 1; },
           [](const HostIsa& isa, const Opcode& opcode, const MmaText& text) {
             const auto extreme = [](const NumberFormat& format) {
               const std::uint64_t lowest = std::uint64_t{1} << (format.bits - 1);
               return format.has_sign ? (random_word() % 2 == 0 ? lowest : lowest - 1)
                                      : 2 * lowest - 1;
             };
             const Matrices a = filled(1, text.m, text.k, [&] { return extreme(*text.a); });
             const Matrices b = filled(1, text.k, text.n, [&] { return extreme(*text.b); });
             const Matrices c = filled(1, text.m, text.n, [&] {
               const std::uint64_t near = random_word() % 64;
               return random_word() % 2 == 0 ? 0x7fff'ffff - near : 0x8000'0000 + near;
             });
             const Matrices d = run_mma(isa, opcode, text, a, b, c);
             for (int row = 0; row < text.m; ++row)
               for (int column = 0; column < text.n; ++column) {
                 auto sum = static_cast<std::int64_t>(decode(*text.c, c.at(0, row, column)));
                 for (int k = 0; k < text.k; ++k)
                   sum += static_cast<std::int64_t>(decode(*text.a, a.at(0, row, k)) *
                                                    decode(*text.b, b.at(0, k, column)));
                 if (text.saturates)
                   sum = std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(),
                                                  std::numeric_limits<std::int32_t>::max());
                 CHECK(d.at(0, row, column) == (static_cast<std::uint64_t>(sum) & 0xffff'ffff));
               }
           });
}

TEST_CASE("simgpu mma: D may be where C is") {
  for (const HostIsa& isa : host_isas()) {
    const Opcode& opcode = find_opcode(isa, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
    OneWarp warp;
    const auto one = [](int, int) -> std::uint64_t { return 0x3f80; };
    std::vector<std::uint32_t> operands =
        add_fragment(warp, 32, 4, [](int lane, int i) -> std::uint64_t {
          return std::bit_cast<std::uint32_t>(static_cast<float>(lane * 4 + i));
        });
    const std::vector<std::uint32_t> sums = operands;
    for (const int elements : {8, 4})
      for (const std::uint32_t offset : add_fragment(warp, 16, elements, one))
        operands.push_back(offset);
    operands.insert(operands.end(), sums.begin(), sums.end());
    warp.run(opcode, operands);
    for (int lane = 0; lane < warp_size; ++lane)
      for (int i = 0; i < 4; ++i)
        CHECK(decode(number_format("f32"), fragment_element(warp, sums, 32, lane, i)) ==
              lane * 4 + i + 16);
  }
}

}  // namespace simgpu
