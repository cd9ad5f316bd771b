#include "tools/simgpu/code/decoder.h"

#include <algorithm>
#include <variant>

#include "tools/simgpu/code/compared.h"
#include "tools/simgpu/code/specials.h"

namespace simgpu {

Instruction& KernelParts::add(const Opcode& opcode, const Matched& matched, Origin origin) {
  Instruction made;
  made.all = opcode.all;
  made.some = opcode.some;
  made.immediate = matched.immediate;
  made.control = opcode.control;
  made.members = opcode.members;
  operand_starts.push_back(static_cast<std::uint32_t>(kernel.operands.size()));
  kernel.operands.insert(kernel.operands.end(), matched.operands.begin(), matched.operands.end());
  kernel.origins.push_back(std::move(origin));
  return kernel.code.emplace_back(made);
}

Decoder::Decoder(KernelParts& parts, const ptx::Function& function)
    : parts_(parts),
      function_(function),
      compared_(compared_registers(function)),
      scopes_(parts.registers),
      matcher_(parts, scopes_, function.name) {}

FunctionCode Decoder::decode() {
  code_.first = here();
  last_label_ = here();
  declare_parameters();
  enter();
  for (const ptx::Statement& each : function_.body) statement(each);
  if (falls_off()) {
    ptx::Instruction end;
    end.position = function_.position;
    end.opcode = "ret";
    instruction(end);
  }
  resolve_jumps();
  fill_keeping_calls();
  code_.last = here();
  return std::move(code_);
}

void Decoder::fail(ptx::Position position, const std::string& problem) const {
  throw ptx::Error(position, problem + " (in " + function_.name + ")");
}

void Decoder::declare_parameters() {
  if (!function_.entry) {
    for (const auto* variables : {&function_.results, &function_.parameters})
      for (const ptx::Variable& each : *variables) scopes_.declare_parameter(each, is_recursive());
    return;
  }
  for (std::size_t k = 0; k < function_.parameters.size(); ++k)
    scopes_.declare_entry_parameter(function_.parameters[k], parts_.kernel.parameters[k].offset);
}

void Decoder::statement(const ptx::Statement& statement) {
  if (const auto* made = std::get_if<ptx::Instruction>(&statement)) instruction(*made);
  else if (const auto* location = std::get_if<ptx::Location>(&statement)) location_ = *location;
  else if (const auto* variable = std::get_if<ptx::Variable>(&statement))
    scopes_.declare(*variable);
  else if (const auto* label = std::get_if<ptx::Label>(&statement)) {
    scopes_.declare(*label, here());
    if (label->kind == ptx::Label::Kind::code) last_label_ = here();
  } else if (std::holds_alternative<ptx::ScopeBegin>(statement)) scopes_.open();
  else scopes_.close();
}

void Decoder::instruction(const ptx::Instruction& made) {
  if (is_call(made)) return call(made);
  if (made.opcode == "param.copy") fail(made.position, "no text may name " + made.opcode);
  if (made.opcode == "ret" || made.opcode == "ret.uni") leave(made);
  const bool is_move = made.opcode.starts_with("mov.") && made.operands.size() == 2;
  if (!is_move || !is_dynamic_special(made.operands[1].name))
    return decode_as(made, relaxed_opcode(made, compared_));
  ptx::Instruction read = made;
  read.operands.pop_back();
  decode_as(read, made.opcode + "." + made.operands[1].name);
}

void Decoder::decode_as(const ptx::Instruction& made, const std::string& name) {
  const std::span<const Opcode> entries = opcodes(name);
  if (entries.empty()) fail(made.position, "the opcode " + name + " is not simulated");
  Matched matched;
  const Opcode& opcode = matcher_.match(made, entries, matched);
  for (const Addition& each : matched.additions) emit_sum(made, each);
  emit(made, opcode, matched);
}

void Decoder::emit(const ptx::Instruction& from, const Opcode& opcode, const Matched& matched) {
  constexpr std::size_t most_instructions = 1 << 22;
  if (here() >= most_instructions) fail(from.position, "the kernel is too long");
  if (!matched.label.empty())
    jumps_.push_back({here(), scopes_.current(), matched.label, from.position});
  for (const std::uint32_t offset : matched.read) code_.uses.push_back({here(), offset, false});
  for (const std::uint32_t offset : matched.written) code_.uses.push_back({here(), offset, true});
  Instruction& made = parts_.add(opcode, matched,
                                 {from.position.line, location_.file, location_.line, from.opcode});
  if (!from.guard) return;
  made.guard = matcher_.predicate(from.guard->name, from.position);
  made.guard_negated = from.guard->negated;
}

void Decoder::emit_sum(const ptx::Instruction& from, const Addition& sum) {
  const std::uint32_t value =
      parts_.registers.preset({Preset::Kind::constant, 0, sum.bytes, sum.value}, from.position);
  Matched matched;
  matched.operands = {sum.to, sum.from, value};
  emit(from, opcodes(sum.bytes == 8 ? "add.s64" : "add.s32").front(), matched);
}

/// Whether a thread comes to the end of the code.
bool Decoder::falls_off() const {
  if (here() == code_.first || last_label_ == here()) return true;
  const Instruction& last = parts_.kernel.code.back();
  return !last.jumps() || last.guard != true_predicate;
}

std::uint32_t Decoder::place_of(const Jump& jump, const std::string& label) const {
  const auto found = scopes_.find_label(label, ptx::Label::Kind::code, jump.scope);
  if (!found) fail(jump.position, "the label " + label + " is not declared");
  return found->offset;
}

void Decoder::resolve_jumps() {
  Kernel& kernel = parts_.kernel;
  std::unordered_map<const ptx::Label*, std::uint32_t> lists;
  for (const Jump& jump : jumps_) {
    Instruction& made = kernel.code[jump.instruction];
    if (made.control != Control::select) {
      made.target = place_of(jump, jump.label);
      continue;
    }
    const auto targets = scopes_.find_label(jump.label, ptx::Label::Kind::targets, jump.scope);
    if (!targets) fail(jump.position, "the targets " + jump.label + " are not declared");
    const auto [list, is_new] =
        lists.emplace(targets->label, static_cast<std::uint32_t>(kernel.targets.size()));
    made.target = list->second;
    if (!is_new) continue;
    kernel.targets.emplace_back();
    for (const std::string& label : targets->label->targets)
      kernel.targets.back().push_back(place_of(jump, label));
  }
}

}  // namespace simgpu
