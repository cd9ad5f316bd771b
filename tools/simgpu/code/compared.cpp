#include "tools/simgpu/code/compared.h"

#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace simgpu {
namespace {

using Names = std::vector<std::string>;

bool is_compare_and_swap(const ptx::Instruction& each) {
  return each.opcode.starts_with("atom.") && each.opcode.find(".cas.") != std::string::npos &&
         each.operands.size() > 2;
}

void add_names(const ptx::Operand& operand, Names& to) {
  if (operand.kind == ptx::OperandKind::name) to.push_back(operand.name);
  for (const ptx::Operand& part : operand.parts) add_names(part, to);
}

/// From where each register is moved to it.
std::unordered_map<std::string, Names> moves_of(const ptx::Function& function) {
  std::unordered_map<std::string, Names> sources;
  for (const ptx::Statement& statement : function.body) {
    const auto* each = std::get_if<ptx::Instruction>(&statement);
    if (each == nullptr || !each->opcode.starts_with("mov.") || each->operands.size() != 2)
      continue;
    Names written;
    add_names(each->operands[0], written);
    for (const std::string& name : written) add_names(each->operands[1], sources[name]);
  }
  return sources;
}

}  // namespace

ComparedRegisters::ComparedRegisters(const ptx::Function& function) {
  Names open;
  for (const ptx::Statement& statement : function.body) {
    const auto* each = std::get_if<ptx::Instruction>(&statement);
    if (each != nullptr && is_compare_and_swap(*each)) add_names(each->operands[2], open);
  }
  if (open.empty()) return;
  const std::unordered_map<std::string, Names> moves = moves_of(function);
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (!names_.insert(name).second) continue;
    const auto found = moves.find(name);
    if (found != moves.end()) open.insert(open.end(), found->second.begin(), found->second.end());
  }
}

bool ComparedRegisters::is_loaded_by(const ptx::Instruction& instruction) const {
  if (names_.empty() || !instruction.opcode.starts_with("ld.") || instruction.operands.empty() ||
      !names_.contains(instruction.operands[0].name))
    return false;
  for (const std::string_view word :
       {".volatile", ".relaxed", ".acquire", ".mmio", ".nc", ".param"})
    if (instruction.opcode.find(word) != std::string::npos) return false;
  return true;
}

std::string relaxed_load(const std::string& opcode) {
  std::string_view rest = std::string_view(opcode).substr(2);
  constexpr std::string_view weak = ".weak";
  if (rest.starts_with(weak)) rest.remove_prefix(weak.size());
  return std::string("ld.relaxed.sys").append(rest);
}

}  // namespace simgpu
