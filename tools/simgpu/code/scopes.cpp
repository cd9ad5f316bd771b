#include "tools/simgpu/code/scopes.h"

#include <charconv>

namespace simgpu {

Slot Slots::of(const ptx::Variable& variable) {
  const auto found = slots_.find(&variable);
  if (found != slots_.end()) return found->second;
  constexpr std::uint64_t most = 32764;  // as of the parameters of kernels
  const std::uint64_t bytes = variable.bytes();
  if (bytes > most || variable.type.name == "pred")
    throw ptx::Error(variable.position, "a parameter that no function may have");
  const Slot made{registers_.add_slot(bytes, variable.position), static_cast<std::uint32_t>(bytes)};
  slots_[&variable] = made;
  return made;
}

Scopes::Scopes(RegisterFile& registers, Slots& slots) : registers_(registers), slots_(slots) {
  scopes_.emplace_back();
  open_.push_back(0);
}

void Scopes::open() {
  scopes_.emplace_back();
  scopes_.back().parent = current();
  open_.push_back(scopes_.size() - 1);
}

void Scopes::close() { open_.pop_back(); }

void Scopes::add(const std::string& name, const Place& place, ptx::Position position) {
  if (!scopes_[current()].places.emplace(name, place).second)
    throw ptx::Error(position, "a second declaration of " + name);
}

void Scopes::declare(const ptx::Variable& variable) {
  if (variable.space == ptx::Space::registers && variable.vector != 1)
    throw ptx::Error(variable.position, "registers that are vectors are not simulated");
  Place place;
  place.variable = &variable;
  if (variable.count > 0) {
    if (!scopes_[current()].numbered.emplace(variable.name, &variable).second)
      throw ptx::Error(variable.position, "a second declaration of " + variable.name);
    return;
  }
  if (variable.space != ptx::Space::registers) place.kind = Place::Kind::variable;
  if (variable.space == ptx::Space::parameter) return declare_parameter(variable);
  add(variable.name, place, variable.position);
}

void Scopes::declare_parameter(const ptx::Variable& variable, bool own) {
  const bool is_register = variable.space == ptx::Space::registers;
  Slot slot = slots_.of(variable);
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

void Scopes::declare_label(const ptx::Label& label, std::uint32_t instruction) {
  if (!scopes_[current()].labels.emplace(label.name, instruction).second)
    throw ptx::Error(label.position, "a second label " + label.name);
}

void Scopes::declare_targets(const ptx::BranchTargets& targets) {
  scopes_[current()].targets.emplace(targets.name, &targets);
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
  for (auto scope = open_.rbegin(); scope != open_.rend(); ++scope)
    if (Place* place = find_in(scopes_[*scope], name)) {
      if (place->kind == Place::Kind::waiting) allocate(*place, position);
      return *place;
    }
  return std::nullopt;
}

std::optional<std::uint32_t> Scopes::find_label(const std::string& name, std::size_t scope) const {
  while (true) {
    const auto found = scopes_[scope].labels.find(name);
    if (found != scopes_[scope].labels.end()) return found->second;
    if (scope == scopes_[scope].parent) return std::nullopt;
    scope = scopes_[scope].parent;
  }
}

const ptx::BranchTargets* Scopes::find_targets(const std::string& name, std::size_t scope) const {
  while (true) {
    const auto found = scopes_[scope].targets.find(name);
    if (found != scopes_[scope].targets.end()) return found->second;
    if (scope == scopes_[scope].parent) return nullptr;
    scope = scopes_[scope].parent;
  }
}

}  // namespace simgpu
