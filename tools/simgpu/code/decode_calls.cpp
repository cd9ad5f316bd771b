#include "tools/simgpu/code/decode_calls.h"

#include <optional>
#include <string>

#include "tools/simgpu/code/call_targets.h"
#include "tools/simgpu/code/decoder.h"

// Source: PTX ISA 7.1 and 9.7.12.5.
namespace simgpu {
namespace {

const ptx::Operand& no_list() {
  static const ptx::Operand none{ptx::OperandKind::list, {}, {}, 0, false, {}};
  return none;
}

const Opcode& opcode_of(const char* name) { return opcodes(name).front(); }

}  // namespace

bool is_call(const ptx::Instruction& instruction) {
  return instruction.opcode == "call" || instruction.opcode.starts_with("call.");
}

CallParts parts_of(const ptx::Instruction& call) {
  const std::vector<ptx::Operand>& operands = call.operands;
  std::size_t next = 0;
  const auto list = [&]() -> const ptx::Operand& {
    const bool is_list = next < operands.size() && operands[next].kind == ptx::OperandKind::list;
    return is_list ? operands[next++] : no_list();
  };
  const auto name = [&]() -> const ptx::Operand* {
    const bool is_name = next < operands.size() && operands[next].kind == ptx::OperandKind::name;
    return is_name ? &operands[next++] : nullptr;
  };
  const ptx::Operand& results = list();
  const ptx::Operand* callee = name();
  const ptx::Operand& arguments = list();
  const ptx::Operand* prototype = name();
  return {results, next == operands.size() ? callee : nullptr, arguments, prototype};
}

/// A call with a guard is one that is jumped over: what it calls may change the predicate.
void Decoder::call_guarded(const ptx::Instruction& made) {
  ptx::Instruction jump = made, inner = made;
  jump.guard->negated = !jump.guard->negated;
  inner.guard.reset();
  const std::uint32_t at = here();
  emit(jump, opcode_of("bra"), {});
  call(inner);
  parts_.kernel.code[at].target = here();
  last_label_ = here();
}

void Decoder::call(const ptx::Instruction& made) {
  if (made.guard) return call_guarded(made);
  const CallParts parts = parts_of(made);
  if (parts.callee == nullptr) fail(made.position, "a call of nothing");
  const std::string& name = parts.callee->name;
  if (scopes_.find(name, made.position)) return call_pointer(made, parts);
  if (parts.prototype != nullptr)
    fail(made.position, name + " is called through a prototype, and is no register");
  const auto found = parts_.names.functions.find(name);
  if (found == parts_.names.functions.end())
    fail(made.position, "the function " + name + " is not declared");
  if (found->second->defined) call_function(made, *found->second, parts);
  else call_opcode(made, name, parts);
}

void Decoder::call_function(const ptx::Instruction& made, const ptx::Function& callee,
                            const CallParts& parts) {
  if (parts.results.parts.size() != callee.results.size() ||
      parts.arguments.parts.size() != callee.parameters.size())
    fail(made.position, "the call has other parameters than " + callee.name);
  const auto passed = [this](const ptx::Variable& variable) {
    return Argument{parts_.registers.slot_of(variable), variable.space == ptx::Space::registers};
  };
  for (std::size_t k = 0; k < callee.parameters.size(); ++k) {
    const Argument to = passed(callee.parameters[k]);
    copy(made, to, argument(parts.arguments.parts[k], to.slot.bytes, false));
  }
  parts_.calls.emplace_back(here(), &callee);
  if (is_recursive() && parts_.reached.recursive.contains(&callee)) keeping_.push_back(here());
  emit(made, opcode_of("call"), {});
  for (std::size_t k = 0; k < callee.results.size(); ++k) {
    const Argument from = passed(callee.results[k]);
    copy(made, argument(parts.results.parts[k], from.slot.bytes, true), from);
  }
}

/// A function that calls itself has parameters and results of its own beside those that are passed,
/// and its local variables where the stack ends.
void Decoder::enter() {
  if (!is_recursive()) return;
  ptx::Instruction made;
  made.position = function_.position;
  made.opcode = "call";
  for (const ptx::Variable& each : function_.parameters)
    copy(made, own(each), {parts_.registers.slot_of(each), false});
  const auto frame = parts_.layout.frames.find(&function_);
  if (frame == parts_.layout.frames.end()) return;
  frame_ = parts_.registers.add_slot(8, function_.position);
  matcher_.set_frame(*frame_);
  emit_sum(made, {*frame_, *parts_.stack_pointer, 8, 0});
  move_stack(made, frame->second);
}

void Decoder::leave(const ptx::Instruction& made) {
  if (!is_recursive()) return;
  for (const ptx::Variable& each : function_.results)
    copy(made, {parts_.registers.slot_of(each), false}, own(each));
  if (frame_) move_stack(made, 0 - std::uint64_t{parts_.layout.frames.at(&function_)});
}

Decoder::Argument Decoder::own(const ptx::Variable& parameter) {
  const Place place = scopes_.find(parameter.name, parameter.position).value();
  return {{place.offset, place.bytes}, place.kind == Place::Kind::in_registers};
}

void Decoder::move_stack(const ptx::Instruction& made, std::uint64_t bytes) {
  emit_sum(made, {*parts_.stack_pointer, *parts_.stack_pointer, 8, bytes});
}

/// What is kept is known when the whole function is: machine/call_stack.h.
void Decoder::fill_keeping_calls() {
  if (keeping_.empty()) return;
  Kernel& kernel = parts_.kernel;
  const auto start = static_cast<std::uint32_t>(kernel.operands.size());
  std::vector<Slot> slots = scopes_.slots();
  if (frame_) slots.push_back({*frame_, 8});
  const std::vector<std::uint32_t>& predicates = scopes_.predicates();
  kernel.operands.push_back(static_cast<std::uint32_t>(slots.size()));
  kernel.operands.push_back(static_cast<std::uint32_t>(predicates.size()));
  kernel.operands.push_back(frame_ ? parts_.layout.frames.at(&function_) : 0);
  for (const Slot& each : slots) {
    kernel.operands.push_back(each.offset);
    kernel.operands.push_back(each.bytes);
  }
  kernel.operands.insert(kernel.operands.end(), predicates.begin(), predicates.end());
  for (const std::uint32_t each : keeping_) {
    parts_.operand_starts[each] = start;
    kernel.code[each].immediate = 1;
  }
}

/// A jump by the pointer to a call of each function that it may be.
void Decoder::call_pointer(const ptx::Instruction& made, const CallParts& parts) {
  if (parts.prototype == nullptr) fail(made.position, "a call through a pointer has no prototype");
  if (!scopes_.find_label(parts.prototype->name, ptx::Label::Kind::prototype, scopes_.current()))
    fail(made.position, "the prototype " + parts.prototype->name + " is not declared");
  for (const ptx::Operand* passed : {&parts.results, &parts.arguments})
    for (const ptx::Operand& each : passed->parts)
      if (!scopes_.find(each.name, each.position))
        fail(each.position, "a call through a pointer passes what has no size");
  const Argument pointer = argument(*parts.callee, 8, false);
  Matched matched;
  matched.operands = matched.read = {pointer.slot.offset};
  matched.immediate = 1;
  Kernel& kernel = parts_.kernel;
  const std::vector<const ptx::Function*>& callable = parts_.names.callable;
  const std::size_t list = kernel.targets.size();
  constexpr std::size_t most_targets = 1 << 22;
  if ((list + 1) * callable.size() > most_targets)
    fail(made.position, "calls through pointers have too many targets");
  kernel.targets.emplace_back(callable.size(), no_target);
  emit(made, opcode_of("brx.idx"), matched);
  kernel.code.back().target = static_cast<std::uint32_t>(list);
  std::vector<std::uint32_t> ends;
  for (std::size_t k = 0; k < callable.size(); ++k) {
    if (!parts_.reached.contains(*callable[k]) ||
        !have_sizes_of(parts.results, callable[k]->results) ||
        !have_sizes_of(parts.arguments, callable[k]->parameters))
      continue;
    kernel.targets[list][k] = here();
    call_function(made, *callable[k], parts);
    ends.push_back(here());
    emit(made, opcode_of("bra"), {});
  }
  for (const std::uint32_t each : ends) kernel.code[each].target = here();
  last_label_ = here();
}

bool Decoder::have_sizes_of(const ptx::Operand& passed,
                            const std::vector<ptx::Variable>& declared) {
  if (passed.parts.size() != declared.size()) return false;
  for (std::size_t k = 0; k < declared.size(); ++k) {
    const ptx::Operand& each = passed.parts[k];
    if (scopes_.find(each.name, each.position)->bytes != declared[k].bytes()) return false;
  }
  return true;
}

Decoder::Argument Decoder::argument(const ptx::Operand& operand, std::uint32_t bytes,
                                    bool written) {
  if (operand.kind == ptx::OperandKind::name && !operand.negated && operand.bits == 0) {
    const std::optional<Place> place = scopes_.find(operand.name, operand.position);
    if (!place) fail(operand.position, operand.name + " is not declared");
    const bool is_register = place->kind == Place::Kind::in_registers;
    if ((is_register || place->kind == Place::Kind::slot) && place->bytes == bytes)
      return {{place->offset, bytes}, is_register};
  }
  if (operand.kind == ptx::OperandKind::sink && written && bytes <= 16)
    return {{parts_.registers.sink(operand.position), bytes}, false};
  const bool number = (operand.kind == ptx::OperandKind::integer && bytes <= 8) ||
                      (operand.kind == ptx::OperandKind::single && bytes == 4) ||
                      (operand.kind == ptx::OperandKind::real && bytes == 8);
  if (!number || written)
    fail(operand.position, "the call passes something that has not " + std::to_string(bytes) +
                               " bytes as the function has them");
  const Preset constant{Preset::Kind::constant, 0, static_cast<int>(bytes), operand.bits};
  return {{parts_.registers.preset(constant, operand.position), bytes}, false};
}

void Decoder::copy(const ptx::Instruction& made, const Argument& to, const Argument& from) {
  Matched matched;
  matched.operands = {to.slot.offset, to.slot.bytes, from.slot.offset, from.slot.bytes};
  matched.immediate = to.slot.bytes;
  if (from.is_register) matched.read.push_back(from.slot.offset);
  if (to.is_register) matched.written.push_back(to.slot.offset);
  emit(made, opcode_of("param.copy"), matched);
}

/// What the module declares and does not define is an opcode: vprintf, __assertfail.
void Decoder::call_opcode(const ptx::Instruction& made, const std::string& name,
                          const CallParts& parts) {
  const ptx::Operand &results = parts.results, &arguments = parts.arguments;
  const std::span<const Opcode> entries = opcodes("call." + name);
  if (entries.empty())
    fail(made.position, "the function " + name + " is not defined, and none that is simulated");
  const Opcode& opcode = entries.front();
  const std::vector<PatternWord> words = parse_pattern(opcode.pattern);
  if (words.size() != results.parts.size() + arguments.parts.size())
    fail(made.position, "the call has other parameters than " + name);
  Matched matched;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const bool result = k < results.parts.size();
    const ptx::Operand& operand =
        result ? results.parts[k] : arguments.parts[k - results.parts.size()];
    const Argument passed = argument(operand, static_cast<std::uint32_t>(words[k].bytes), result);
    matched.operands.push_back(passed.slot.offset);
    if (passed.is_register) (result ? matched.written : matched.read).push_back(passed.slot.offset);
  }
  emit(made, opcode, matched);
}

}  // namespace simgpu
