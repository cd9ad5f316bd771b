#include "tools/simgpu/code/decoder.h"

#include <algorithm>
#include <variant>

#include "tools/simgpu/code/specials.h"
#include "tools/simgpu/code/word_order.h"

namespace simgpu {
namespace {

constexpr std::size_t most_instructions = 1 << 22;

}  // namespace

Decoder::Decoder(KernelParts& parts, const ptx::Function& function)
    : parts_(parts),
      function_(function),
      compared_(function),
      scopes_(parts.registers, parts.slots),
      matcher_(parts.registers, scopes_, parts.names, parts.layout, function.name) {}

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
    scopes_.declare_label(*label, here());
    last_label_ = here();
  } else if (const auto* targets = std::get_if<ptx::BranchTargets>(&statement))
    scopes_.declare_targets(*targets);
  else if (const auto* prototype = std::get_if<ptx::CallPrototype>(&statement))
    prototypes_.insert(prototype->name);
  else if (std::holds_alternative<ptx::ScopeBegin>(statement)) scopes_.open();
  else if (std::holds_alternative<ptx::ScopeEnd>(statement)) scopes_.close();
}

void Decoder::instruction(const ptx::Instruction& made) {
  if (is_call(made)) return call(made);
  if (parameter_access(made)) return;
  if (made.opcode == "param.copy") fail(made.position, "no text may name " + made.opcode);
  if (made.opcode == "ret" || made.opcode == "ret.uni") leave(made);
  if (compared_.is_loaded_by(made)) return decode_as(made, relaxed_load(made.opcode));
  const bool is_move = made.opcode.starts_with("mov.") && made.operands.size() == 2;
  if (!is_move || !is_dynamic_special(made.operands[1].name)) return decode_as(made, made.opcode);
  ptx::Instruction read = made;
  read.operands.pop_back();
  decode_as(read, made.opcode + "." + made.operands[1].name);
}

void Decoder::decode_as(const ptx::Instruction& made, const std::string& name) {
  const Entries entries = opcodes(name);
  if (entries.empty()) {
    ptx::Instruction usual = made;
    usual.opcode = usual_order(name).value_or(name);
    if (usual.opcode == name) fail(made.position, "the opcode " + name + " is not simulated");
    return decode_as(usual, usual.opcode);
  }
  Matched matched;
  const Opcode& opcode = matcher_.match(made, entries, matched);
  for (const Addition& each : matched.additions) {
    Matched sum;
    const std::uint32_t value =
        parts_.registers.preset({Preset::Kind::constant, 0, each.bytes, each.value}, made.position);
    sum.operands = {each.to, each.from, value};
    const Entries add = opcodes(each.bytes == 8 ? "add.s64" : "add.s32");
    if (add.empty()) fail(made.position, "the opcode add is not simulated");
    emit(made, add.front(), sum);
  }
  emit(made, opcode, matched);
}

Decoder::Guard Decoder::guard_of(const ptx::Instruction& made) {
  if (!made.guard) return {};
  const std::uint32_t number =
      matcher_.predicate(made.guard->name, made.guard->negated, made.position);
  return {static_cast<std::uint16_t>(number & ~negated_predicate),
          (number & negated_predicate) != 0};
}

void Decoder::emit(const ptx::Instruction& from, const Opcode& opcode, const Matched& matched) {
  Kernel& kernel = parts_.kernel;
  if (kernel.code.size() >= most_instructions) fail(from.position, "the kernel is too long");
  if (!matched.label.empty())
    jumps_.push_back({here(), scopes_.current(), matched.label, from.position});
  if (!matched.targets.empty())
    selections_.push_back({here(), scopes_.current(), matched.targets, from.position});
  const Guard guard = guard_of(from);
  Instruction made;
  made.all = opcode.all;
  made.some = opcode.some;
  made.immediate = matched.immediate;
  made.guard = guard.predicate;
  made.guard_negated = guard.negated;
  made.control = opcode.control;
  made.members = opcode.members;
  for (const std::uint32_t offset : matched.read) code_.uses.push_back({here(), offset, false});
  for (const std::uint32_t offset : matched.written) code_.uses.push_back({here(), offset, true});
  parts_.operand_starts.push_back(static_cast<std::uint32_t>(kernel.operands.size()));
  kernel.operands.insert(kernel.operands.end(), matched.operands.begin(), matched.operands.end());
  kernel.code.push_back(made);
  kernel.origins.push_back({from.position.line, location_.file, location_.line, from.opcode});
}

/// Whether a thread comes to the end of the code.
bool Decoder::falls_off() const {
  if (here() == code_.first || last_label_ == here()) return true;
  const Instruction& last = parts_.kernel.code.back();
  const bool leaves = last.control == Control::branch || last.control == Control::select ||
                      last.control == Control::give_back || last.control == Control::exit;
  return !leaves || last.guard != true_predicate;
}

std::uint32_t Decoder::find_label(const std::string& label, const Jump& jump) const {
  const auto found = scopes_.find_label(label, jump.scope);
  if (!found) fail(jump.position, "the label " + label + " is not declared");
  return *found;
}

void Decoder::resolve_jumps() {
  Kernel& kernel = parts_.kernel;
  for (const Jump& jump : jumps_)
    kernel.code[jump.instruction].target = find_label(jump.label, jump);
  std::unordered_map<const ptx::BranchTargets*, std::uint32_t> lists;
  for (const Jump& jump : selections_) {
    const ptx::BranchTargets* targets = scopes_.find_targets(jump.label, jump.scope);
    if (targets == nullptr) fail(jump.position, "the targets " + jump.label + " are not declared");
    const auto [list, is_new] =
        lists.emplace(targets, static_cast<std::uint32_t>(kernel.targets.size()));
    kernel.code[jump.instruction].target = list->second;
    if (!is_new) continue;
    kernel.targets.emplace_back();
    for (const std::string& label : targets->targets)
      kernel.targets.back().push_back(find_label(label, jump));
  }
}

}  // namespace simgpu
