#include "tools/simgpu/code/decode_calls.h"

#include <algorithm>
#include <optional>
#include <string>

#include "tools/simgpu/code/decoder.h"
#include "tools/simgpu/machine/call_stack.h"

// Source: PTX ISA 7.1 and 9.7.12.5.
namespace simgpu {
namespace {

const ptx::Operand& no_list() {
  static const ptx::Operand none{ptx::OperandKind::list, {}, {}, 0, false, {}};
  return none;
}

const Opcode& opcode_of(const char* name) { return opcodes(name).front(); }

std::vector<std::uint32_t> sizes_of(const std::vector<ptx::Variable>& variables) {
  std::vector<std::uint32_t> sizes;
  for (const ptx::Variable& each : variables)
    sizes.push_back(static_cast<std::uint32_t>(each.bytes()));
  return sizes;
}

/// Code that no text has, of one dispatch.
class DispatchCode {
 public:
  DispatchCode(KernelParts& parts, const Dispatch& dispatch)
      : parts_(parts),
        origin_{dispatch.position.line, dispatch.location.file, dispatch.location.line, "call"} {}

  std::uint32_t here() const { return static_cast<std::uint32_t>(parts_.kernel.code.size()); }
  void emit(const Opcode& opcode, std::initializer_list<std::uint32_t> operands,
            std::int64_t immediate = 0, std::uint32_t target = 0) {
    Kernel& kernel = parts_.kernel;
    Instruction made;
    made.all = opcode.all;
    made.some = opcode.some;
    made.control = opcode.control;
    made.immediate = immediate;
    made.target = target;
    parts_.operand_starts.push_back(static_cast<std::uint32_t>(kernel.operands.size()));
    kernel.operands.insert(kernel.operands.end(), operands);
    kernel.code.push_back(made);
    kernel.origins.push_back(origin_);
  }
  void copy(const Slot& to, const Slot& from) {
    emit(opcode_of("param.copy"), {to.offset, to.bytes, from.offset, from.bytes}, to.bytes);
  }

 private:
  KernelParts& parts_;
  Origin origin_;
};

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
  const auto end_of = [this](const ptx::Variable& variable) {
    return Argument{parts_.slots.of(variable), variable.space == ptx::Space::registers};
  };
  std::vector<Argument> to, from;
  for (const ptx::Variable& each : callee.parameters) to.push_back(end_of(each));
  for (const ptx::Variable& each : callee.results) from.push_back(end_of(each));
  const std::uint32_t at = pass(made, parts, to, from, parts_.reached.recursive.contains(&callee));
  parts_.calls.emplace_back(at, &callee);
  code_.calls.push_back({at, parts_.order.at(&callee)});
}

/// The instructions of a call: where the one lies that it is.
std::uint32_t Decoder::pass(const ptx::Instruction& made, const CallParts& parts,
                            const std::vector<Argument>& to, const std::vector<Argument>& from,
                            bool keeps) {
  for (std::size_t k = 0; k < to.size(); ++k)
    copy(made, to[k], argument(parts.arguments.parts[k], to[k].slot.bytes, false));
  const std::uint32_t at = here();
  if (keeps && is_recursive()) keeping_.push_back(at);
  emit(made, opcode_of("call"), {});
  for (std::size_t k = 0; k < from.size(); ++k)
    copy(made, argument(parts.results.parts[k], from[k].slot.bytes, true), from[k]);
  return at;
}

/// A function that calls itself has parameters and results of its own beside those that are passed,
/// and its local variables where the stack ends.
void Decoder::enter() {
  if (!is_recursive()) return;
  ptx::Instruction made;
  made.position = function_.position;
  made.opcode = "call";
  for (const ptx::Variable& each : function_.parameters)
    copy(made, own(each), {parts_.slots.of(each), false});
  const auto frame = parts_.layout.frames.find(&function_);
  if (frame == parts_.layout.frames.end()) return;
  frame_ = parts_.registers.add_slot(8, function_.position);
  matcher_.set_frame(*frame_);
  add_to_stack(made, *frame_, 0);
  add_to_stack(made, *parts_.stack_pointer, frame->second);
}
void Decoder::leave(const ptx::Instruction& made) {
  if (!is_recursive()) return;
  for (const ptx::Variable& each : function_.results)
    copy(made, {parts_.slots.of(each), false}, own(each));
  if (frame_)
    add_to_stack(made, *parts_.stack_pointer,
                 0 - std::uint64_t{parts_.layout.frames.at(&function_)});
}
Decoder::Argument Decoder::own(const ptx::Variable& parameter) {
  const Place place = scopes_.find(parameter.name, parameter.position).value();
  return {{place.offset, place.bytes}, place.kind == Place::Kind::in_registers};
}
void Decoder::add_to_stack(const ptx::Instruction& made, std::uint32_t to, std::uint64_t value) {
  Matched sum;
  const Preset number{Preset::Kind::constant, 0, 8, value};
  sum.operands = {to, *parts_.stack_pointer, parts_.registers.preset(number, made.position)};
  emit(made, opcode_of("add.s64"), sum);
}
bool Decoder::is_recursive() const { return parts_.reached.recursive.contains(&function_); }

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

void Decoder::call_pointer(const ptx::Instruction& made, const CallParts& parts) {
  if (parts.prototype == nullptr) fail(made.position, "a call through a pointer has no prototype");
  if (!prototypes_.contains(parts.prototype->name))
    fail(made.position, "the prototype " + parts.prototype->name + " is not declared");
  const auto sizes = [&](const ptx::Operand& operands) {
    std::vector<std::uint32_t> bytes;
    for (const ptx::Operand& each : operands.parts) {
      const std::optional<Place> place = scopes_.find(each.name, each.position);
      if (!place) fail(each.position, "a call through a pointer passes what has no size");
      bytes.push_back(place->bytes);
    }
    return bytes;
  };
  const CallShape shape{sizes(parts.results), sizes(parts.arguments)};
  Dispatch& dispatch = dispatch_of(shape, made.position);
  std::vector<Argument> to, from;
  for (const Slot& each : dispatch.arguments) to.push_back({each, false});
  for (const Slot& each : dispatch.results) from.push_back({each, false});
  bool keeps = false;
  for (const ptx::Function* each : dispatch.functions)
    keeps = keeps || parts_.reached.recursive.contains(each);
  copy(made, {dispatch.pointer, false}, argument(*parts.callee, 8, false));
  dispatch.calls.push_back(pass(made, parts, to, from, keeps));
  if (!dispatch.functions.empty())
    code_.calls.push_back({dispatch.calls.back(), parts_.order.at(dispatch.functions.front())});
}

Dispatch& Decoder::dispatch_of(const CallShape& shape, ptx::Position position) {
  const auto [found, is_new] = parts_.dispatches.try_emplace(shape);
  Dispatch& dispatch = found->second;
  if (!is_new) return dispatch;
  constexpr std::size_t most_targets = 1 << 22;
  if (parts_.dispatches.size() * parts_.names.callable.size() > most_targets)
    fail(position, "calls through pointers are of too many kinds");
  dispatch.position = position;
  dispatch.location = location_;
  const auto slot = [&](std::uint32_t bytes) {
    return Slot{parts_.registers.add_slot(bytes, position), bytes};
  };
  dispatch.pointer = slot(8);
  for (const std::uint32_t bytes : shape.first) dispatch.results.push_back(slot(bytes));
  for (const std::uint32_t bytes : shape.second) dispatch.arguments.push_back(slot(bytes));
  for (const ptx::Function* each : parts_.names.callable)
    if (parts_.order.contains(each) && sizes_of(each->results) == shape.first &&
        sizes_of(each->parameters) == shape.second)
      dispatch.functions.push_back(each);
  return dispatch;
}

void emit_dispatches(KernelParts& parts,
                     const std::map<const ptx::Function*, std::uint32_t>& first) {
  Kernel& kernel = parts.kernel;
  for (const auto& [shape, dispatch] : parts.dispatches) {
    DispatchCode code(parts, dispatch);
    for (const std::uint32_t call : dispatch.calls) kernel.code[call].target = code.here();
    const auto list = static_cast<std::uint32_t>(kernel.targets.size());
    kernel.targets.emplace_back(parts.names.callable.size(), no_target);
    code.emit(opcode_of("brx.idx"), {dispatch.pointer.offset}, 1, list);
    for (const ptx::Function* function : dispatch.functions) {
      const auto number =
          std::find(parts.names.callable.begin(), parts.names.callable.end(), function) -
          parts.names.callable.begin();
      kernel.targets[list][static_cast<std::size_t>(number)] = code.here();
      for (std::size_t k = 0; k < dispatch.arguments.size(); ++k)
        code.copy(parts.slots.of(function->parameters[k]), dispatch.arguments[k]);
      code.emit(opcode_of("call"), {}, 0, first.at(function));
      for (std::size_t k = 0; k < dispatch.results.size(); ++k)
        code.copy(dispatch.results[k], parts.slots.of(function->results[k]));
      code.emit(opcode_of("ret"), {});
    }
  }
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
  emit(made, opcodes("param.copy").front(), matched);
}

/// What the module declares and does not define is an opcode: vprintf, __assertfail.
void Decoder::call_opcode(const ptx::Instruction& made, const std::string& name,
                          const CallParts& parts) {
  const ptx::Operand &results = parts.results, &arguments = parts.arguments;
  const Entries entries = opcodes("call." + name);
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
