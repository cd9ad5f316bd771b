// Initial values of variables. Source: PTX ISA 5.4.4 and 5.4.5.
#include <bit>
#include <string>
#include <utility>

#include "tools/simgpu/ptx/parser.h"

namespace simgpu::ptx {
namespace {

class InitialParser {
 public:
  InitialParser(Words& words, const Variable& variable, const std::vector<std::uint64_t>& extents)
      : words_(words), variable_(variable), dimensions_(extents) {
    if (variable.open) dimensions_.insert(dimensions_.begin(), 0);
    if (variable.vector > 1) dimensions_.push_back(static_cast<std::uint64_t>(variable.vector));
  }

  std::vector<Initial> parse() {
    if (words_.next().is('{')) braces(0);
    else made_.push_back(element());
    return std::move(made_);
  }

 private:
  /// What braces hold that stand within others of this depth.
  std::uint64_t elements_within(std::size_t depth) const {
    std::uint64_t elements = 1;
    for (std::size_t d = depth + 1; d < dimensions_.size(); ++d) elements *= dimensions_[d];
    return elements;
  }

  void braces(std::size_t depth) {
    const Position position = words_.position();
    words_.expect('{');
    do {
      if (!words_.next().is('{')) {
        made_.push_back(element());
        continue;
      }
      if (depth + 1 >= dimensions_.size()) words_.refuse("a number");
      const std::size_t before = made_.size();
      const Position inner = words_.position();
      braces(depth + 1);
      // Elements that are left out within are zero: here they would have to be put in.
      if (words_.next().is(',') && made_.size() - before != elements_within(depth))
        throw Error(inner, "inner braces that leave out elements are not simulated");
    } while (words_.accept(','));
    words_.expect('}');
    check_count(position);
  }

  void check_count(Position position) const {
    if (variable_.open) return;
    const std::uint64_t most =
        variable_.extent.value_or(1) * static_cast<std::uint64_t>(variable_.vector);
    if (made_.size() > most)
      throw Error(position, variable_.name + " has " + std::to_string(most) +
                                " elements, fewer than it gets values");
  }

  Initial element() {
    if (words_.next().kind == TokenKind::name) return symbol();
    if (variable_.type.name == "f32" || variable_.type.name == "f64") return {real_bits(), {}};
    if (words_.next().is_real()) words_.refuse("an integer");
    const std::uint64_t bits = words_.expect_signed("a number");
    if (!words_.accept('(')) return {bits, {}};
    Initial masked = symbol();
    words_.expect(')');
    if (bits == 0) words_.refuse("a mask that is not zero");
    masked.mask = bits;
    return masked;
  }

  std::uint64_t real_bits() {
    const bool negative = words_.accept('-'), narrow = variable_.type.bits == 32;
    const TokenKind kind = words_.next().kind;
    const std::uint64_t bits = words_.next().is_real()
                                   ? words_.take().bits
                                   : words_.expect_integer("a number", UINT64_MAX);
    // A float keeps its bits: as a double and back, a NaN might lose some.
    if (kind == TokenKind::single && narrow) return negative ? bits ^ 0x8000'0000u : bits;
    double value = static_cast<double>(bits);
    if (kind == TokenKind::single) value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (kind == TokenKind::real) value = std::bit_cast<double>(bits);
    if (negative) value = -value;
    return narrow ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                  : std::bit_cast<std::uint64_t>(value);
  }

  /// `name`, `name + 4`, `generic(name) + 4`.
  Initial symbol() {
    Initial made;
    made.symbol = words_.expect_name("a variable");
    if (made.symbol == "generic" && words_.accept('(')) {
      made.generic = true;
      made.symbol = words_.expect_name("a variable");
      words_.expect(')');
    }
    if (words_.next().is('+') || words_.next().is('-'))
      made.bits = words_.expect_signed("what is added to the address");
    return made;
  }

  Words& words_;
  const Variable& variable_;
  std::vector<std::uint64_t> dimensions_;  ///< 0 for an open one
  std::vector<Initial> made_;
};

}  // namespace

std::vector<Initial> parse_initial(Words& words, const Variable& variable,
                                   const std::vector<std::uint64_t>& extents) {
  return InitialParser(words, variable, extents).parse();
}

}  // namespace simgpu::ptx
