#include "tools/simgpu/code/names.h"

#include <bit>
#include <cstring>
#include <string>

#include "tools/simgpu/code/call_targets.h"
#include "tools/simgpu/code/decode_calls.h"
#include "tools/simgpu/code/specials.h"

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

/// Gives a function that is named otherwise than to call it an address.
void take_address(const std::string& name, ModuleNames& names) {
  if (name.starts_with(workspace_prefix)) names.workspace = 0;
  const auto found = names.functions.find(name);
  if (found == names.functions.end() || !found->second->defined || found->second->entry) return;
  const std::uint64_t address = function_address_step * (names.callable.size() + 1);
  if (names.addresses.emplace(found->first, address).second)
    names.callable.push_back(found->second);
}

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
  for (const ptx::Variable& variable : module.variables)
    for (const ptx::Initial& each : variable.initial) take_address(each.symbol, names);
  for (const ptx::Function& function : module.functions)
    function.each_instruction([&names](const ptx::Instruction& made) {
      if (is_call(made)) return;
      for (const ptx::Operand& operand : made.operands)
        operand.each_name([&names](const std::string& name) { take_address(name, names); });
    });
  return names;
}

std::map<std::string, GlobalVariable> place_variables(ModuleNames& names,
                                                      const PlaceVariable& place) {
  // Each takes a page of its own, and one of shadow.
  constexpr std::size_t most = 1 << 16;
  std::map<std::string, GlobalVariable> placed;
  if (names.workspace) {
    names.workspace = place("the workspace of cooperative launches", workspace_bytes);
    if (*names.workspace == 0)
      throw ptx::Error({1, 1}, "there is no memory for the workspace of cooperative launches");
    std::memset(reinterpret_cast<std::byte*>(*names.workspace), 0, workspace_bytes);
  }
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
