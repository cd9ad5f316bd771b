#include <doctest/doctest.h>

#include <algorithm>

#include "tests/simgpu/integer_values.h"
#include "tests/simgpu/lane_check.h"

namespace simgpu {
namespace {

using Unary = Whole (*)(Whole);
using Binary = Whole (*)(Whole, Whole);

Expectation of_one(const IntegerType& type, Unary f) {
  return [=](LaneCase& lane) { lane.out[0] = low_word(f(type.value(lane.in[0]))); };
}
Expectation of_two(const IntegerType& type, Binary f) {
  return [=](LaneCase& lane) {
    lane.out[0] = low_word(f(type.value(lane.in[0]), type.value(lane.in[1])));
  };
}
Expectation of_two_clamped(const IntegerType& type, Binary f) {
  return [=](LaneCase& lane) {
    const Whole exact = f(type.value(lane.in[0]), type.value(lane.in[1]));
    lane.out[0] = low_word(type.clamped(exact));
  };
}
/// Of the upper and lower half of a word apart.
Expectation of_halves(const IntegerType& type, Binary f) {
  return [=](LaneCase& lane) {
    for (int shift : {0, 16}) {
      const Whole half = f(type.value(lane.in[0] >> shift), type.value(lane.in[1] >> shift));
      lane.out[0] |= (low_word(half) & 0xffff) << shift;
    }
  };
}

Whole sum(Whole a, Whole b) { return a + b; }
Whole difference(Whole a, Whole b) { return a - b; }
Whole least(Whole a, Whole b) { return std::min(a, b); }
Whole most(Whole a, Whole b) { return std::max(a, b); }
Whole least_from_zero(Whole a, Whole b) { return std::max<Whole>(std::min(a, b), 0); }
Whole most_from_zero(Whole a, Whole b) { return std::max<Whole>(std::max(a, b), 0); }
Whole quotient(Whole a, Whole b) { return b == 0 ? -1 : a / b; }
Whole remainder(Whole a, Whole b) { return b == 0 ? -1 : a % b; }

/// The bits of a product from `shift` on.
Whole product(const IntegerType& type, const LaneCase& lane, int shift) {
  const Natural exact = long_product(type.value(lane.in[0]), type.value(lane.in[1]));
  return static_cast<Whole>(exact >> shift);
}

void add_products(Expectations& all, const IntegerType& type) {
  for (const auto& [mode, shift] : {std::pair{".lo.", 0}, {".hi.", type.bits}, {".wide.", 0}}) {
    if (type.bits == 64 && std::string_view(mode) == ".wide.") continue;
    all["mul" + std::string(mode) + type.name] = [=](LaneCase& lane) {
      lane.out[0] = low_word(product(type, lane, shift));
    };
    all["mad" + std::string(mode) + type.name] = [=](LaneCase& lane) {
      lane.out[0] = low_word(product(type, lane, shift)) + lane.in[2];
    };
  }
}

/// Products of 24 bits, sign-extended where the type is signed.
void add_products_24(Expectations& all, const IntegerType& type) {
  const IntegerType short_type{"", 24, type.is_signed};
  for (const auto& [mode, shift] : {std::pair{".lo.", 0}, {".hi.", 16}}) {
    all["mul24" + std::string(mode) + type.name] = [=](LaneCase& lane) {
      lane.out[0] = low_word(product(short_type, lane, shift));
    };
    all["mad24" + std::string(mode) + type.name] = [=](LaneCase& lane) {
      lane.out[0] = low_word(product(short_type, lane, shift)) + lane.in[2];
    };
  }
}

/// The product's part of 32 bits from `shift` on, a number of s32, plus c, clamped.
Expectation product_then_clamped(int bits, int shift) {
  return [=](LaneCase& lane) {
    const IntegerType s32{"", 32, true};
    const Whole part = s32.value(low_word(product({"", bits, true}, lane, shift)));
    lane.out[0] = low_word(s32.clamped(part + s32.value(lane.in[2])));
  };
}

void add_dot_products(Expectations& all) {
  for (const bool a_signed : {false, true})
    for (const bool b_signed : {false, true}) {
      const std::string types =
          std::string(a_signed ? "s32" : "u32") + (b_signed ? ".s32" : ".u32");
      const IntegerType byte_a{"", 8, a_signed}, half_a{"", 16, a_signed}, byte_b{"", 8, b_signed};
      all["dp4a." + types] = [=](LaneCase& lane) {
        Whole total = static_cast<Whole>(lane.in[2]);
        for (int bit = 0; bit < 32; bit += 8)
          total += byte_a.value(lane.in[0] >> bit) * byte_b.value(lane.in[1] >> bit);
        lane.out[0] = low_word(total);
      };
      for (const int first : {0, 16})
        all[(first == 0 ? "dp2a.lo." : "dp2a.hi.") + types] = [=](LaneCase& lane) {
          const Whole low = half_a.value(lane.in[0]) * byte_b.value(lane.in[1] >> first);
          const Whole high =
              half_a.value(lane.in[0] >> 16) * byte_b.value(lane.in[1] >> (first + 8));
          lane.out[0] = low_word(static_cast<Whole>(lane.in[2]) + low + high);
        };
    }
}

void add_distances(Expectations& all) {
  for (const int bits : {8, 16})
    for (const bool is_signed : {false, true}) {
      const IntegerType type{"", bits, is_signed};
      const std::string types = is_signed ? ".u32.s32.s32" : ".u32.u32.u32";
      const std::string name = (bits == 8 ? "vabsdiff4" : "vabsdiff2") + types;
      const auto apart = [=](const LaneCase& lane, int from) {
        const Whole difference = type.value(lane.in[0] >> from) - type.value(lane.in[1] >> from);
        return difference < 0 ? -difference : difference;
      };
      all[name] = [=](LaneCase& lane) {
        Whole word = 0;
        for (int from = 0; from < 32; from += bits) word |= apart(lane, from) << from;
        lane.out[0] = low_word(word);
      };
      all[name + ".add"] = [=](LaneCase& lane) {
        Whole sum = static_cast<Whole>(lane.in[2]);
        for (int from = 0; from < 32; from += bits) sum += apart(lane, from);
        lane.out[0] = low_word(sum);
      };
    }
}

Expectations integer_expectations() {
  Expectations all;
  for (const IntegerType& type : integer_types()) {
    all["add." + type.name] = of_two(type, sum);
    all["sub." + type.name] = of_two(type, difference);
    all["min." + type.name] = of_two(type, least);
    all["max." + type.name] = of_two(type, most);
    all["sad." + type.name] = [=](LaneCase& lane) {
      const Whole apart = type.value(lane.in[0]) - type.value(lane.in[1]);
      lane.out[0] = low_word((apart < 0 ? -apart : apart) + type.value(lane.in[2]));
    };
    add_products(all, type);
    if (type.bits == 32) add_products_24(all, type);
    if (!type.is_signed) continue;
    all["abs." + type.name] = of_one(type, [](Whole a) { return a < 0 ? -a : a; });
    all["neg." + type.name] = of_one(type, [](Whole a) { return -a; });
  }
  const IntegerType &u16 = integer_types()[0], &s16 = integer_types()[1];
  const IntegerType& s32 = integer_types()[3];
  for (const IntegerType& half : {u16, s16}) {
    all["add." + half.name + "x2"] = of_halves(half, sum);
    all["min." + half.name + "x2"] = of_halves(half, least);
    all["max." + half.name + "x2"] = of_halves(half, most);
  }
  all["add.sat.s32"] = of_two_clamped(s32, sum);
  all["sub.sat.s32"] = of_two_clamped(s32, difference);
  all["min.relu.s32"] = of_two(s32, least_from_zero);
  all["max.relu.s32"] = of_two(s32, most_from_zero);
  all["min.relu.s16x2"] = of_halves(s16, least_from_zero);
  all["max.relu.s16x2"] = of_halves(s16, most_from_zero);
  all["mad.hi.sat.s32"] = product_then_clamped(32, 32);
  all["mad24.hi.sat.s32"] = product_then_clamped(24, 16);
  add_dot_products(all);
  add_distances(all);
  return all;
}

/// Which half of a product the opcode takes, or that it adds or subtracts two numbers.
enum class Operation { sum, difference, low, high };

/// Without borrow or carry in, `takes` is false; what comes out is kept where `sets`.
Expectation with_carry(const IntegerType& type, Operation operation, bool takes, bool sets) {
  return [=](LaneCase& lane) {
    const IntegerType plain{"", type.bits, false};
    const Whole carry = takes && lane.carry ? 1 : 0;
    Whole exact = 0;
    if (operation == Operation::sum)
      exact = plain.value(lane.in[0]) + plain.value(lane.in[1]) + carry;
    if (operation == Operation::difference)
      exact = plain.value(lane.in[0]) - (plain.value(lane.in[1]) + carry);
    if (operation == Operation::low || operation == Operation::high) {
      const int shift = operation == Operation::high ? type.bits : 0;
      const Whole half = plain.value(low_word(product(type, lane, shift)));
      exact = half + plain.value(lane.in[2]) + carry;
    }
    lane.out[0] = low_word(exact);
    if (sets) lane.carry = exact < 0 || exact > plain.most();
  };
}

Expectations carry_expectations() {
  Expectations all;
  for (const IntegerType& type : integer_types()) {
    if (type.bits == 16) continue;
    const auto add = [&](const char* first, const char* then, const char* mode,
                         Operation operation) {
      const std::string start(first), next(then), rest(mode);
      all[start + rest + ".cc." + type.name] = with_carry(type, operation, false, true);
      all[next + rest + "." + type.name] = with_carry(type, operation, true, false);
      all[next + rest + ".cc." + type.name] = with_carry(type, operation, true, true);
    };
    add("add", "addc", "", Operation::sum);
    add("sub", "subc", "", Operation::difference);
    add("mad", "madc", ".lo", Operation::low);
    add("mad", "madc", ".hi", Operation::high);
  }
  return all;
}

}  // namespace

TEST_CASE("simgpu integers: arithmetic") { check_family("integer", integer_expectations()); }

TEST_CASE("simgpu integers: extended precision") {
  check_family("integer_carry", carry_expectations());
}

TEST_CASE("simgpu integers: division") {
  Expectations all;
  for (const IntegerType& type : integer_types()) {
    all["div." + type.name] = of_two(type, quotient);
    all["rem." + type.name] = of_two(type, remainder);
  }
  check_family("integer_divide", all);
}

}  // namespace simgpu
