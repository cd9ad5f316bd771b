#include "tools/simgpu/code/match.h"

#include <bit>
#include <set>

#include "tools/simgpu/code/specials.h"

namespace simgpu {
namespace {

using ptx::OperandKind;
using ptx::Space;
using WordKind = PatternWord::Kind;
using PlaceKind = Place::Kind;

bool is_real(const ptx::Operand& operand) {
  return operand.kind == OperandKind::single || operand.kind == OperandKind::real;
}

/// Whether all that the opcode computes with are floating-point numbers, by its last type: then an
/// integer is a mistake. Masks, strides and sizes are integers in the others.
bool takes_only_reals(std::string_view opcode) {
  if (opcode.find(".sync") != std::string_view::npos || opcode.starts_with("cp.") ||
      opcode.starts_with("slct."))
    return false;
  for (const std::string_view type : {".f32", ".f64", ".f16", ".f16x2", ".bf16", ".bf16x2"})
    if (opcode.ends_with(type)) return true;
  return false;
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

std::string known_patterns(std::span<const Opcode> entries) {
  std::string text;
  std::set<std::string_view> named;
  for (const Opcode& entry : entries)
    if (named.insert(entry.pattern).second) {
      if (!text.empty()) text += ", ";
      text += "'" + std::string(entry.pattern) + "'";
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
    bool all_fit = words.size() == instruction.operands.size();
    for (std::size_t k = 0; all_fit && k < words.size(); ++k)
      all_fit = fits(instruction.operands[k], words[k]);
    if (!all_fit) continue;
    for (std::size_t k = 0; k < words.size(); ++k) put(instruction.operands[k], words[k], matched);
    return entry;
  }
  const std::string where = " (" + instruction.opcode + " in " + function_ + ")";
  if (!unknown_.empty())
    throw ptx::Error(instruction.position, unknown_ + " is not declared" + where);
  throw ptx::Error(instruction.position,
                   "the operands fit none of the patterns " + known_patterns(entries) + where);
}

std::uint32_t Matcher::predicate(const std::string& name, bool negated, ptx::Position position) {
  const std::optional<Place> found = scopes_.find(name, position);
  if (!found) throw ptx::Error(position, "the predicate " + name + " is not declared");
  if (found->kind != PlaceKind::predicate) throw ptx::Error(position, name + " is no predicate");
  return found->offset | (negated ? negated_predicate : 0);
}

std::optional<Place> Matcher::place(const ptx::Operand& operand) {
  if (const std::optional<Place> found = scopes_.find(operand.name, operand.position)) return found;
  Place made;
  const auto variable = names_.variables.find(operand.name);
  if (variable == names_.variables.end()) {
    const auto address = names_.addresses.find(operand.name);
    if (address == names_.addresses.end()) return std::nullopt;
    made.kind = PlaceKind::function;
    made.offset = static_cast<std::uint32_t>(address->second);
    return made;
  }
  made.kind = PlaceKind::variable;
  made.variable = variable->second;
  return made;
}

bool Matcher::fits(const ptx::Operand& operand, const PatternWord& word) {
  switch (word.kind) {
    case WordKind::written:
    case WordKind::read: break;
    case WordKind::address: return fits_address(operand, word.bytes);
    case WordKind::number: return operand.kind == OperandKind::integer;
    case WordKind::label:
    case WordKind::targets:
      return operand.kind == OperandKind::name && !operand.negated && operand.bits == 0;
    case WordKind::entry_parameter:
    case WordKind::slot: {
      if (operand.kind != OperandKind::address || operand.parts.size() != 1) return false;
      const std::optional<Place> found = place(operand.parts[0]);
      return found && found->kind == (word.kind == WordKind::slot ? PlaceKind::slot
                                                                  : PlaceKind::entry_parameter);
    }
  }
  const auto elements = static_cast<std::size_t>(word.vector);
  if (operand.kind != OperandKind::vector) return word.vector == 0 && fits_register(operand, word);
  // A vector of one element may be written as one and without braces.
  if (operand.parts.size() != (word.vector == 0 ? 1 : elements)) return false;
  for (const ptx::Operand& part : operand.parts)
    if (part.kind == OperandKind::vector || !fits_register(part, word)) return false;
  return true;
}

/// A single register, predicate or pair, or for one that is read a value.
bool Matcher::fits_register(const ptx::Operand& operand, const PatternWord& word) {
  if (operand.kind == OperandKind::pair) {
    if (!word.pair) return false;
    PatternWord first = word, second = word;
    first.pair = second.pair = false;
    second.bytes = 0;
    return fits_register(operand.parts[0], first) && fits_register(operand.parts[1], second);
  }
  if (word.kind == WordKind::written && operand.kind == OperandKind::sink) return true;
  if (word.bytes == 0)
    return is_predicate(operand) && !(operand.negated && word.kind == WordKind::written) &&
           (operand.kind == OperandKind::name || word.kind == WordKind::read);
  if (operand.negated) return false;
  if (word.kind == WordKind::read) return fits_value(operand, word.bytes);
  if (operand.kind != OperandKind::name || operand.bits != 0) return false;
  const std::optional<Place> found = place(operand);
  if (!found && unknown_.empty()) unknown_ = operand.name;
  return found && found->kind == PlaceKind::in_registers &&
         found->bytes == static_cast<std::uint32_t>(word.bytes);
}

bool Matcher::is_predicate(const ptx::Operand& operand) {
  if (operand.kind == OperandKind::integer) return true;
  if (operand.kind != OperandKind::name || operand.bits != 0) return false;
  const std::optional<Place> found = place(operand);
  if (found) return found->kind == PlaceKind::predicate;
  const std::optional<Special> special = find_special(operand.name);
  if (!special && unknown_.empty()) unknown_ = operand.name;
  return special && special->bytes == 0;
}

bool Matcher::fits_value(const ptx::Operand& operand, int bytes) {
  if (is_real(operand)) return bytes == 4 || bytes == 8;
  if (operand.kind == OperandKind::integer)
    return bytes <= 8 && !takes_only_reals(instruction_->opcode);
  return operand.kind == OperandKind::name && fits_name(operand, bytes);
}

bool Matcher::fits_name(const ptx::Operand& operand, int bytes) {
  const std::optional<Place> found = place(operand);
  if (!found) {
    const std::optional<Special> special = find_special(operand.name);
    if (!special && unknown_.empty()) unknown_ = operand.name;
    // The lower half of a special register was a register once: PTX ISA 10.1.
    return special && operand.bits == 0 &&
           (special->bytes == bytes || (special->bytes == 4 && bytes == 2));
  }
  switch (found->kind) {
    case PlaceKind::in_registers:
      return operand.bits == 0 && found->bytes == static_cast<std::uint32_t>(bytes);
    case PlaceKind::variable:
      return bytes == 8 || (bytes == 4 && found->variable->space == Space::shared);
    case PlaceKind::entry_parameter:
    case PlaceKind::function: return bytes == 8;
    default: return false;
  }
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

bool Matcher::fits_address(const ptx::Operand& operand, int bytes) {
  if (operand.kind != OperandKind::address || operand.parts.size() != 1) return false;
  const ptx::Operand& base = operand.parts[0];
  if (base.kind == OperandKind::integer) return true;
  const std::optional<Place> found = place(base);
  if (!found && unknown_.empty()) unknown_ = base.name;
  if (!found) return false;
  if (found->kind == PlaceKind::in_registers)
    return found->bytes == static_cast<std::uint32_t>(bytes);
  return found->kind == PlaceKind::variable && reaches(found->variable->space);
}

void Matcher::put(const ptx::Operand& operand, const PatternWord& word, Matched& to) {
  switch (word.kind) {
    case WordKind::address: return put_address(operand, word.bytes, to);
    case WordKind::number: to.immediate = static_cast<std::int64_t>(operand.bits); return;
    case WordKind::label: to.label = operand.name; return;
    case WordKind::targets: to.targets = operand.name; return;
    case WordKind::entry_parameter:
      to.immediate = static_cast<std::int64_t>(place(operand.parts[0])->offset + operand.bits);
      return;
    case WordKind::slot: {
      const Place slot = *place(operand.parts[0]);
      to.operands.insert(to.operands.end(), {slot.offset, slot.bytes});
      to.immediate = static_cast<std::int64_t>(operand.bits);
      return;
    }
    case WordKind::written:
    case WordKind::read: break;
  }
  if (word.pair) return put_pair(operand, word, to);
  const auto put_one = [&](const ptx::Operand& one) {
    word.kind == WordKind::read ? put_read(one, word.bytes, to) : put_written(one, word.bytes, to);
  };
  if (operand.kind != OperandKind::vector) return put_one(operand);
  for (const ptx::Operand& part : operand.parts) put_one(part);
}

void Matcher::put_pair(const ptx::Operand& operand, const PatternWord& word, Matched& to) {
  const bool both = operand.kind == OperandKind::pair;
  put_written(both ? operand.parts[0] : operand, word.bytes, to);
  if (both) put_written(operand.parts[1], 0, to);
  else to.operands.push_back(registers_.predicate_sink(operand.position));
}

void Matcher::put_written(const ptx::Operand& operand, int bytes, Matched& to) {
  if (operand.kind == OperandKind::sink) {
    to.operands.push_back(bytes == 0 ? registers_.predicate_sink(operand.position)
                                     : registers_.sink(operand.position));
    return;
  }
  to.operands.push_back(place(operand)->offset);
  if (bytes != 0) to.written.push_back(to.operands.back());
}

std::uint32_t Matcher::constant(const ptx::Operand& operand, int bytes) {
  return registers_.preset({Preset::Kind::constant, 0, bytes, bits_of(operand, bytes)},
                           operand.position);
}

void Matcher::put_read(const ptx::Operand& operand, int bytes, Matched& to) {
  if (operand.kind != OperandKind::name) {
    if (bytes == 0)
      to.operands.push_back(true_predicate | (operand.bits == 0 ? negated_predicate : 0));
    else to.operands.push_back(constant(operand, bytes));
    return;
  }
  const std::optional<Place> found = place(operand);
  if (!found) {
    const Special special = *find_special(operand.name);
    const bool negated = operand.negated;
    if (bytes == 0) to.operands.push_back(true_predicate | (negated ? 0 : negated_predicate));
    else
      to.operands.push_back(
          registers_.preset({special.kind, 0, bytes, special.value}, operand.position));
  } else if (found->kind == PlaceKind::predicate) {
    to.operands.push_back(found->offset | (operand.negated ? negated_predicate : 0));
  } else if (found->kind == PlaceKind::in_registers) {
    to.operands.push_back(found->offset);
    to.read.push_back(found->offset);
  } else to.operands.push_back(address_of(*found, bytes, operand.bits, to));
}

void Matcher::put_address(const ptx::Operand& operand, int bytes, Matched& to) {
  const ptx::Operand& base = operand.parts[0];
  const bool first = to.addresses++ == 0;
  if (first) to.immediate = static_cast<std::int64_t>(operand.bits);
  const std::uint64_t added = first ? 0 : operand.bits;
  if (base.kind == OperandKind::integer) {
    ptx::Operand sum = base;
    sum.bits += added;
    to.operands.push_back(constant(sum, bytes));
    return;
  }
  const Place found = *place(base);
  if (found.kind == PlaceKind::variable) {
    to.operands.push_back(address_of(found, bytes, added, to));
    return;
  }
  to.read.push_back(found.offset);
  to.operands.push_back(sum_of(found.offset, bytes, added, to));
}

std::uint32_t Matcher::sum_of(std::uint32_t from, int bytes, std::uint64_t added, Matched& to) {
  if (added == 0) return from;
  const std::uint32_t where =
      registers_.add_slot(static_cast<std::uint64_t>(bytes), instruction_->position);
  to.additions.push_back({where, from, bytes, added});
  return where;
}

std::uint32_t Matcher::address_of(const Place& place, int bytes, std::uint64_t added, Matched& to) {
  const ptx::Position position = instruction_->position;
  const auto preset = [&](Preset::Kind kind, std::uint64_t value) {
    return registers_.preset({kind, 0, bytes, value}, position);
  };
  if (place.kind == PlaceKind::entry_parameter || place.kind == PlaceKind::function)
    return preset(Preset::Kind::constant, place.offset + added);
  const ptx::Variable& variable = *place.variable;
  if (variable.space == Space::shared && variable.external)
    return registers_.dynamic_shared_address(bytes, added, position);
  if (variable.space == Space::shared || variable.space == Space::local) {
    const bool local = variable.space == Space::local;
    const std::uint64_t offset = layout_.offsets.at(&variable) + added;
    if (local && frame_) return sum_of(*frame_, bytes, offset, to);
    return preset(local ? Preset::Kind::local_address : Preset::Kind::constant, offset);
  }
  const auto address = names_.addresses.find(variable.name);
  if (address == names_.addresses.end())
    throw ptx::Error(position, variable.name + " is declared here and defined in another module");
  return preset(Preset::Kind::constant, address->second + added);
}

}  // namespace simgpu
