/// \file
/// Runs an opcode over many values of its operands, in all lanes and in some, on each instruction
/// set of the host, and holds each lane against a function of its operands.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simgpu/exact.h"
#include "tests/simgpu/one_warp.h"
#include "tools/simgpu/code/pattern_word.h"

namespace simgpu {

/// The parts of an opcode: `add.rn.ftz.f32`.
class OpcodeName {
 public:
  explicit OpcodeName(std::string_view name);
  const std::string& operator[](std::size_t part) const { return parts_[part]; }
  std::size_t size() const { return parts_.size(); }
  const std::string& first() const { return parts_.front(); }
  const std::string& last() const { return parts_.back(); }
  bool has(std::string_view part) const;
  /// The rounding that it names, else that to the nearest.
  exact::Round rounding() const;

 private:
  std::vector<std::string> parts_;
};

/// Operands of one lane: as many as the pattern has words that are read. Predicates are 0 or 1.
using Operands = std::array<std::uint64_t, 4>;
/// What a lane has to hold, given what it holds: whether `written`, or the pair of predicates, is
/// right. A register is one word, of predicates p is bit 0 and q bit 1.
using IsRight = std::function<bool(const Operands& operands, std::uint64_t written)>;
using Expected = std::function<std::uint64_t(const Operands& operands)>;

/// Fails with the operands of the first lane that is wrong.
void check_opcode(const HostIsa& isa, const Opcode& opcode, const std::vector<Operands>& cases,
                  const IsRight& is_right);
/// The same where there is one right word.
void check_opcode_equals(const HostIsa& isa, const Opcode& opcode,
                         const std::vector<Operands>& cases, const Expected& expected);

/// Numbers at the edges of a format: zeros, subnormal ones, one and its neighbours, halves between
/// integers, the greatest, infinities, NaNs with payloads; of both signs.
std::vector<std::uint64_t> edges(const exact::Layout& layout);
/// Any bits, in exponents where sums and products have something to round.
std::uint64_t random_number(const exact::Layout& layout, std::mt19937_64& random);
/// All combinations of edges for one and two operands, a choice for three; then random ones, sums
/// that cancel and products near ties. `layouts` has one entry an operand.
std::vector<Operands> cases_of(const std::vector<exact::Layout>& layouts, int random_cases);
/// Both halves of operands hold numbers of the layout.
std::vector<Operands> paired(const std::vector<Operands>& cases, int bits);

/// The opcodes of a family, each once for each instruction set.
void each_opcode(std::string_view family,
                 const std::function<void(const HostIsa& isa, const Opcode& opcode)>& check);

}  // namespace simgpu
