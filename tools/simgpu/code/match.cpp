#include "tools/simgpu/code/match.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <set>

#include "tools/simgpu/code/decoder.h"
#include "tools/simgpu/code/specials.h"

namespace simgpu {
namespace {

using ptx::OperandKind;
using ptx::Space;
using WordKind = PatternWord::Kind;
using PlaceKind = Place::Kind;

/// Whether all that the opcode computes with are floating-point numbers, by its last type: then an
/// integer is a mistake. Masks, strides and sizes are integers in the others.
bool takes_only_reals(std::string_view opcode) {
  if (opcode.find(".sync") != std::string_view::npos || opcode.starts_with("cp.") ||
      opcode.starts_with("slct."))
    return false;
  for (const std::string_view type : {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"})
    if (opcode.substr(opcode.find_last_of(". ") + 1) == type) return true;
  return false;
}

/// Of ld.param and st.param, by the name that the table has them by: `ld param v2 b32`.
std::uint32_t accessed_bytes(std::string_view opcode) {
  const std::string_view bits = opcode.substr(opcode.rfind(' ') + 2);
  std::uint32_t number = 0;
  std::from_chars(bits.data(), bits.data() + bits.size(), number);
  const bool two = opcode.find(" v2 ") != opcode.npos, four = opcode.find(" v4 ") != opcode.npos;
  return number / 8 * (two ? 2 : four ? 4 : 1);
}

/// The bits of a number, as wide as its operand: PTX ISA 4.5.2, where floats are doubles until they
/// are used.
std::uint64_t bits_of(const ptx::Operand& operand, int bytes) {
  if (operand.kind == OperandKind::single && bytes == 8)
    return std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits))));
  if (operand.kind == OperandKind::real && bytes == 4)
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
  return bytes == 8 ? operand.bits : operand.bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

std::string what_fits(std::span<const Opcode> entries) {
  std::string text;
  std::set<std::string_view> named;
  for (const Opcode& entry : entries)
    if (named.insert(entry.pattern).second) {
      if (!text.empty()) text += "; or ";
      text += describe_pattern(entry.pattern);
    }
  return text;
}

}  // namespace

const Opcode& Matcher::match(const ptx::Instruction& instruction, std::span<const Opcode> entries,
                             Matched& matched) {
  instruction_ = &instruction;
  unknown_.clear();
  for (const Opcode& entry : entries) {
    const std::vector<PatternWord> words = parse_pattern(entry.pattern);
    if (words.size() != instruction.operands.size()) continue;
    entry_ = &entry;
    matched = {};
    std::size_t taken = 0;
    while (taken < words.size() && take(instruction.operands[taken], words[taken], matched))
      ++taken;
    if (taken == words.size()) return entry;
  }
  const std::string where = " (" + instruction.opcode + " in " + function_ + ")";
  if (!unknown_.empty())
    throw ptx::Error(instruction.position, unknown_ + " is not declared" + where);
  throw ptx::Error(instruction.position,
                   "the operands do not fit: it takes " + what_fits(entries) + where);
}

std::uint16_t Matcher::predicate(const std::string& name, ptx::Position position) {
  const std::optional<Place> found = scopes_.find(name, position);
  if (!found) throw ptx::Error(position, "the predicate " + name + " is not declared");
  if (!found->holds(0)) throw ptx::Error(position, name + " is no predicate");
  return static_cast<std::uint16_t>(found->offset);
}

std::optional<Place> Matcher::find(const ptx::Operand& operand) {
  if (const std::optional<Place> found = scopes_.find(operand.name, operand.position)) return found;
  Place made;
  if (const auto variable = parts_.names.variables.find(operand.name);
      variable != parts_.names.variables.end()) {
    made.kind = PlaceKind::variable;
    made.variable = variable->second;
    return made;
  }
  if (const auto function = parts_.names.addresses.find(operand.name);
      function != parts_.names.addresses.end()) {
    made.kind = PlaceKind::function;
    made.offset = static_cast<std::uint32_t>(function->second);
    return made;
  }
  if (unknown_.empty() && !find_special(operand.name)) unknown_ = operand.name;
  return std::nullopt;
}

bool Matcher::take(const ptx::Operand& operand, const PatternWord& word, Matched& to) {
  switch (word.kind) {
    case WordKind::written:
    case WordKind::read: break;
    case WordKind::address: return take_address(operand, word.bytes, to);
    case WordKind::number:
      to.immediate = static_cast<std::int64_t>(operand.bits);
      return operand.kind == OperandKind::integer;
    case WordKind::label:
      to.label = operand.name;
      return operand.kind == OperandKind::name && !operand.negated && operand.bits == 0;
    case WordKind::entry_parameter: return take_parameter(operand, PlaceKind::entry_parameter, to);
    case WordKind::slot: return take_parameter(operand, PlaceKind::slot, to);
  }
  if (operand.kind != OperandKind::vector) return word.vector == 0 && take_one(operand, word, to);
  // A vector of one element may be written as one and without braces.
  if (operand.parts.size() != static_cast<std::size_t>(std::max(word.vector, 1))) return false;
  return std::all_of(operand.parts.begin(), operand.parts.end(),
                     [&](const ptx::Operand& part) { return take_one(part, word, to); });
}

/// A single register, predicate or pair, or for one that is read a value.
bool Matcher::take_one(const ptx::Operand& operand, const PatternWord& word, Matched& to) {
  if (word.pair && operand.kind == OperandKind::pair)
    return take_written(operand.parts[0], word.bytes, to) && take_written(operand.parts[1], 0, to);
  if (word.kind == WordKind::read)
    return word.bytes == 0 ? take_predicate(operand, to) : take_value(operand, word.bytes, to);
  if (!take_written(operand, word.bytes, to)) return false;
  if (word.pair) to.operands.push_back(parts_.registers.predicate_sink(operand.position));
  return true;
}

bool Matcher::take_written(const ptx::Operand& operand, int bytes, Matched& to) {
  if (operand.kind == OperandKind::sink) {
    to.operands.push_back(bytes == 0 ? parts_.registers.predicate_sink(operand.position)
                                     : parts_.registers.sink(operand.position));
    return true;
  }
  if (operand.kind != OperandKind::name || operand.negated || operand.bits != 0) return false;
  const std::optional<Place> found = find(operand);
  if (!found || !found->holds(bytes)) return false;
  to.operands.push_back(found->offset);
  if (bytes != 0) to.written.push_back(found->offset);
  return true;
}

bool Matcher::take_predicate(const ptx::Operand& operand, Matched& to) {
  std::uint32_t number = true_predicate;
  bool negated = operand.negated;
  if (operand.kind == OperandKind::integer) negated = operand.bits == 0;
  else if (operand.kind != OperandKind::name || operand.bits != 0) return false;
  else if (const std::optional<Place> found = find(operand)) {
    if (!found->holds(0)) return false;
    number = found->offset;
  } else {
    const std::optional<Special> special = find_special(operand.name);
    if (!special || special->bytes != 0) return false;
    negated = !negated;
  }
  to.operands.push_back(number | (negated ? negated_predicate : 0));
  return true;
}

bool Matcher::take_value(const ptx::Operand& operand, int bytes, Matched& to) {
  if (operand.negated) return false;
  switch (operand.kind) {
    case OperandKind::name: return take_name(operand, bytes, to);
    case OperandKind::single:
    case OperandKind::real:
      if (bytes != 4 && bytes != 8) return false;
      break;
    case OperandKind::integer:
      if (bytes > 8 || takes_only_reals(instruction_->opcode) || takes_only_reals(entry_->name))
        return false;
      break;
    default: return false;
  }
  to.operands.push_back(preset(Preset::Kind::constant, bytes, bits_of(operand, bytes)));
  return true;
}

bool Matcher::take_name(const ptx::Operand& operand, int bytes, Matched& to) {
  const std::optional<Place> found = find(operand);
  if (!found) {
    const std::optional<Special> special = find_special(operand.name);
    // The lower half of a special register was a register once: PTX ISA 10.1.
    if (!special || operand.bits != 0 ||
        (special->bytes != bytes && (special->bytes != 4 || bytes != 2)))
      return false;
    to.operands.push_back(preset(special->kind, bytes, value_of(*special)));
    if (special->differs_between_lanes()) to.read.push_back(to.operands.back());
    return true;
  }
  if (found->kind == PlaceKind::in_registers) {
    to.operands.push_back(found->offset);
    to.read.push_back(found->offset);
    return operand.bits == 0 && found->holds(bytes);
  }
  const bool is_shared =
      found->kind == PlaceKind::variable && found->variable->space == Space::shared;
  if (!found->has_address() || (bytes != 8 && !(bytes == 4 && is_shared))) return false;
  to.operands.push_back(address_of(*found, bytes, operand.bits, to));
  return true;
}

/// An address without a space is a generic one, which that of a global or constant variable is too.
bool Matcher::reaches(Space space) const {
  const std::string& opcode = instruction_->opcode;
  const auto has = [&opcode](const char* part) { return opcode.find(part) != std::string::npos; };
  const bool generic = !has(".global") && !has(".const") && !has(".shared") && !has(".local");
  switch (space) {
    case Space::global: return generic || has(".global");
    case Space::constant: return generic || has(".const");
    case Space::shared: return has(".shared");
    case Space::local: return has(".local");
    default: return false;
  }
}

bool Matcher::take_address(const ptx::Operand& operand, int bytes, Matched& to) {
  if (operand.kind != OperandKind::address || operand.parts.size() != 1) return false;
  const ptx::Operand& base = operand.parts[0];
  const bool first = to.addresses++ == 0;
  if (first) to.immediate = static_cast<std::int64_t>(operand.bits);
  const std::uint64_t added = first ? 0 : operand.bits;
  if (base.kind == OperandKind::integer) {
    ptx::Operand sum = base;
    sum.bits += added;
    to.operands.push_back(preset(Preset::Kind::constant, bytes, bits_of(sum, bytes)));
    return true;
  }
  const std::optional<Place> found = find(base);
  if (found && found->holds(bytes)) {
    to.read.push_back(found->offset);
    to.operands.push_back(sum_of(found->offset, bytes, added, to));
    return true;
  }
  if (!found || found->kind != PlaceKind::variable || !reaches(found->variable->space))
    return false;
  to.operands.push_back(address_of(*found, bytes, added, to));
  return true;
}

/// Of an entry: where it lies among all; of a function or call: where in the registers.
bool Matcher::take_parameter(const ptx::Operand& operand, Place::Kind kind, Matched& to) {
  if (operand.kind != OperandKind::address || operand.parts.size() != 1) return false;
  const ptx::Operand& base = operand.parts[0];
  const std::optional<Place> found = find(base);
  if (!found || found->kind != kind) return false;
  const std::uint32_t bytes = accessed_bytes(entry_->name);
  if (operand.bits > found->bytes || bytes > found->bytes - operand.bits)
    throw ptx::Error(operand.position, instruction_->opcode + " behind the end of " + base.name +
                                           " (in " + function_ + ")");
  to.immediate = static_cast<std::int64_t>(operand.bits);
  if (kind == PlaceKind::slot) to.operands.insert(to.operands.end(), {found->offset, found->bytes});
  else to.immediate += found->offset;
  return true;
}

std::uint32_t Matcher::preset(Preset::Kind kind, int bytes, std::uint64_t value) {
  return parts_.registers.preset({kind, 0, bytes, value}, instruction_->position);
}

std::uint64_t Matcher::value_of(const Special& special) const {
  switch (special.base) {
    case Special::Base::none: return special.value;
    case Special::Base::reserved_shared:
      return parts_.kernel.reserved_shared_offset + special.value;
    case Special::Base::workspace: return *parts_.names.workspace & 0xffff'ffffu;
    case Special::Base::workspace_high: return *parts_.names.workspace >> 32;
  }
  return 0;
}

std::uint32_t Matcher::sum_of(std::uint32_t from, int bytes, std::uint64_t added, Matched& to) {
  if (added == 0) return from;
  const std::uint32_t where =
      parts_.registers.add_slot(static_cast<std::uint64_t>(bytes), instruction_->position);
  to.additions.push_back({where, from, bytes, added});
  return where;
}

std::uint32_t Matcher::address_of(const Place& place, int bytes, std::uint64_t added, Matched& to) {
  if (place.kind == PlaceKind::entry_parameter || place.kind == PlaceKind::function)
    return preset(Preset::Kind::constant, bytes, place.offset + added);
  const ptx::Variable& variable = *place.variable;
  if (variable.space == Space::shared && variable.external)
    return preset(Preset::Kind::constant, bytes, parts_.kernel.dynamic_shared_offset + added);
  if (variable.space == Space::shared || variable.space == Space::local) {
    const bool local = variable.space == Space::local;
    const std::uint64_t offset = parts_.layout.offsets.at(&variable) + added;
    if (local && frame_) return sum_of(*frame_, bytes, offset, to);
    return preset(local ? Preset::Kind::local_address : Preset::Kind::constant, bytes, offset);
  }
  const auto address = parts_.names.addresses.find(variable.name);
  if (address == parts_.names.addresses.end())
    throw ptx::Error(instruction_->position,
                     variable.name + " is declared here and defined in another module");
  return preset(Preset::Kind::constant, bytes, address->second + added);
}

}  // namespace simgpu
