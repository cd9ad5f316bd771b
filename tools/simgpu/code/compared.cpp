#include "tools/simgpu/code/compared.h"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace simgpu {
namespace {

using Names = std::vector<std::string>;

bool is_compare_and_swap(const ptx::Instruction& each) {
  return each.opcode.starts_with("atom.") && each.opcode.find(".cas.") != std::string::npos &&
         each.operands.size() > 2;
}

Names names_of(const ptx::Operand& operand) {
  Names names;
  operand.each_name([&names](const std::string& name) { names.push_back(name); });
  return names;
}

}  // namespace

std::unordered_set<std::string> compared_registers(const ptx::Function& function) {
  std::unordered_set<std::string> compared;
  Names open;
  std::unordered_map<std::string, Names> sources;  // from where each register is moved to it
  function.each_instruction([&](const ptx::Instruction& each) {
    if (is_compare_and_swap(each))
      for (const std::string& name : names_of(each.operands[2])) open.push_back(name);
    if (!each.opcode.starts_with("mov.") || each.operands.size() != 2) return;
    const Names from = names_of(each.operands[1]);
    for (const std::string& name : names_of(each.operands[0]))
      sources[name].insert(sources[name].end(), from.begin(), from.end());
  });
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (!compared.insert(name).second) continue;
    const auto found = sources.find(name);
    if (found != sources.end()) open.insert(open.end(), found->second.begin(), found->second.end());
  }
  return compared;
}

std::string relaxed_opcode(const ptx::Instruction& instruction,
                           const std::unordered_set<std::string>& compared) {
  const std::string& opcode = instruction.opcode;
  if (compared.empty() || !opcode.starts_with("ld.") || instruction.operands.empty() ||
      !compared.contains(instruction.operands[0].name))
    return opcode;
  for (const std::string_view word :
       {".volatile", ".relaxed", ".acquire", ".mmio", ".nc", ".param"})
    if (opcode.find(word) != std::string::npos) return opcode;
  constexpr std::string_view plain = "ld", weak = "ld.weak";
  return "ld.relaxed.sys" + opcode.substr((opcode.starts_with(weak) ? weak : plain).size());
}

}  // namespace simgpu
