#include "tools/simgpu/code/scopes.h"

#include <charconv>

namespace simgpu {

void Scopes::open() {
  scopes_.emplace_back();
  scopes_.back().parent = current_;
  current_ = scopes_.size() - 1;
}

void Scopes::add(const std::string& name, const Place& place, ptx::Position position) {
  if (!scopes_[current_].places.emplace(name, place).second)
    throw ptx::Error(position, "a second declaration of " + name);
}

void Scopes::declare(const ptx::Variable& variable) {
  const bool is_register = variable.space == ptx::Space::registers;
  if (is_register && variable.vector != 1)
    throw ptx::Error(variable.position, "registers that are vectors are not simulated");
  if (variable.space == ptx::Space::parameter) return declare_parameter(variable);
  if (variable.count == 0)
    add(variable.name,
        {is_register ? Place::Kind::waiting : Place::Kind::variable, 0, 0, &variable},
        variable.position);
  else if (!scopes_[current_].numbered.emplace(variable.name, &variable).second)
    throw ptx::Error(variable.position, "a second declaration of " + variable.name);
}

void Scopes::declare_parameter(const ptx::Variable& variable, bool own) {
  const bool is_register = variable.space == ptx::Space::registers;
  Slot slot = registers_.slot_of(variable);
  if (own) slot.offset = registers_.add_slot(slot.bytes, variable.position);
  held_.push_back(slot);
  add(variable.name,
      {is_register ? Place::Kind::in_registers : Place::Kind::slot, slot.offset, slot.bytes,
       &variable},
      variable.position);
}

void Scopes::declare_entry_parameter(const ptx::Variable& variable, std::uint32_t offset) {
  add(variable.name,
      {Place::Kind::entry_parameter, offset, static_cast<std::uint32_t>(variable.bytes()),
       &variable},
      variable.position);
}

void Scopes::declare(const ptx::Label& label, std::uint32_t instruction) {
  add(label.name, {Place::Kind::label, instruction, 0, nullptr, &label}, label.position);
}

/// The place of a name, itself or as one of numbered registers: which becomes one that the scope
/// knows by its name.
Place* Scopes::find_in(Scope& scope, const std::string& name) {
  const auto found = scope.places.find(name);
  if (found != scope.places.end()) return &found->second;
  if (scope.numbered.empty()) return nullptr;
  // `%r12` may be the 12th of %r<20>, or the second of %r1<5>.
  constexpr std::size_t most_digits = 7;
  for (std::size_t split = name.size(); split-- > 1 && name[split] >= '0' && name[split] <= '9' &&
                                        name.size() - split <= most_digits;) {
    const auto range = scope.numbered.find(std::string_view(name).substr(0, split));
    if (range == scope.numbered.end()) continue;
    int number = 0;
    const char* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + split, end, number);
    const bool padded = name[split] == '0' && split + 1 != name.size();
    if (error != std::errc() || padded || number >= range->second->count) continue;
    Place place;
    place.variable = range->second;
    return &scope.places.emplace(name, place).first->second;
  }
  return nullptr;
}

void Scopes::allocate(Place& place, ptx::Position position) {
  const ptx::Variable& variable = *place.variable;
  if (variable.type.name == "pred") {
    place.kind = Place::Kind::predicate;
    place.offset = registers_.add_predicate(position);
    predicates_.push_back(place.offset);
    return;
  }
  place.kind = Place::Kind::in_registers;
  place.bytes = static_cast<std::uint32_t>(variable.type.bytes());
  place.offset = registers_.add(variable.type.bytes(), position);
  held_.push_back({place.offset, place.bytes});
}

std::optional<Place> Scopes::find(const std::string& name, ptx::Position position) {
  for (std::size_t scope = current_;; scope = scopes_[scope].parent) {
    if (Place* place = find_in(scopes_[scope], name)) {
      if (place->kind == Place::Kind::waiting) allocate(*place, position);
      return *place;
    }
    if (scope == outermost) return std::nullopt;
  }
}

std::optional<Place> Scopes::find_label(const std::string& name, ptx::Label::Kind kind,
                                        std::size_t scope) const {
  for (;; scope = scopes_[scope].parent) {
    const auto found = scopes_[scope].places.find(name);
    if (found != scopes_[scope].places.end() && found->second.label != nullptr &&
        found->second.label->kind == kind)
      return found->second;
    if (scope == outermost) return std::nullopt;
  }
}

}  // namespace simgpu
