#include "tools/simgpu/code/names.h"

#include <bit>
#include <cstring>
#include <string>
#include <variant>

#include "tools/simgpu/code/decode_calls.h"
#include "tools/simgpu/machine/call_stack.h"

namespace simgpu {
namespace {

/// PTX ISA 5.4.5: an address, or bytes of it.
std::uint64_t value_of(const ptx::Initial& initial, const ptx::Variable& owner,
                       const ModuleNames& names) {
  if (initial.symbol.empty()) return initial.bits;
  const auto found = names.addresses.find(initial.symbol);
  if (found == names.addresses.end())
    throw ptx::Error(owner.position, owner.name + " holds the address of " + initial.symbol +
                                         ", which is no global or constant variable or "
                                         "function with a definition in this module");
  // Addresses within a space are generic ones here.
  const std::uint64_t address = found->second + initial.bits;
  return (address & initial.mask) >> std::countr_zero(initial.mask);
}

void write_initial(const ptx::Variable& variable, std::uint64_t address, const ModuleNames& names) {
  auto* to = reinterpret_cast<std::byte*>(address);
  std::memset(to, 0, variable.bytes());
  const auto step = static_cast<std::size_t>(variable.type.bytes());
  if (step > sizeof(std::uint64_t) && !variable.initial.empty())
    throw ptx::Error(variable.position, "initial values of 128 bits are not simulated");
  for (const ptx::Initial& each : variable.initial) {
    const std::uint64_t value = value_of(each, variable, names);
    std::memcpy(to, &value, step);
    to += step;
  }
}

/// Finds the functions that the module names otherwise than to call them.
class NamedFunctions {
 public:
  explicit NamedFunctions(ModuleNames& names) : names_(names) {}

  void look_at(const ptx::Variable& variable) {
    for (const ptx::Initial& each : variable.initial) add(each.symbol);
  }
  void look_at(const ptx::Function& function) {
    for (const ptx::Statement& statement : function.body)
      if (const auto* made = std::get_if<ptx::Instruction>(&statement); made && !is_call(*made))
        for (const ptx::Operand& operand : made->operands) add(operand.name);
  }

 private:
  void add(const std::string& name) {
    const auto found = names_.functions.find(name);
    if (found == names_.functions.end() || !found->second->defined || found->second->entry) return;
    const std::uint64_t address = function_address_step * (names_.callable.size() + 1);
    if (names_.addresses.emplace(found->first, address).second)
      names_.callable.push_back(found->second);
  }

  ModuleNames& names_;
};

}  // namespace

ModuleNames names_of(const ptx::Module& module) {
  ModuleNames names;
  for (const ptx::Function& function : module.functions) {
    const ptx::Function*& known = names.functions[function.name];
    if (known != nullptr && known->defined && function.defined)
      throw ptx::Error(function.position, "a second definition of " + function.name);
    if (known == nullptr || function.defined) known = &function;
  }
  for (const ptx::Variable& variable : module.variables) {
    const ptx::Variable*& known = names.variables[variable.name];
    if (known != nullptr && !known->external && !variable.external)
      throw ptx::Error(variable.position, "a second definition of " + variable.name);
    if (known == nullptr || !variable.external) known = &variable;
  }
  NamedFunctions named(names);
  for (const ptx::Variable& variable : module.variables) named.look_at(variable);
  for (const ptx::Function& function : module.functions) named.look_at(function);
  return names;
}

std::map<std::string, GlobalVariable> place_variables(ModuleNames& names,
                                                      const PlaceVariable& place) {
  // Each takes a page of its own, and one of shadow.
  constexpr std::size_t most = 1 << 16;
  std::map<std::string, GlobalVariable> placed;
  const auto is_placed = [](const ptx::Variable& variable) {
    return !variable.external && variable.space != ptx::Space::shared;
  };
  for (const auto& [name, variable] : names.variables) {
    if (!is_placed(*variable)) continue;
    const std::size_t bytes = variable->bytes();
    if (bytes == 0) throw ptx::Error(variable->position, variable->name + " has no bytes");
    if (placed.size() == most) throw ptx::Error(variable->position, "more than 65536 variables");
    const std::uint64_t address = place(variable->name, bytes);
    if (address == 0)
      throw ptx::Error(variable->position, "there is no memory for " + variable->name + ", of " +
                                               std::to_string(bytes) + " bytes");
    names.addresses[name] = address;
    placed[variable->name] = {variable->name, address, bytes,
                              variable->space == ptx::Space::constant};
  }
  for (const auto& [name, variable] : names.variables)
    if (is_placed(*variable)) write_initial(*variable, names.addresses.at(name), names);
  return placed;
}

}  // namespace simgpu
