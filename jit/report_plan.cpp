#include "jit/report_plan.h"

#include "jit/report_line.h"
#include "jit/report_memory.h"

namespace sinter::jit {
namespace {

const char* name_of(Role role) {
  switch (role) {
    case Role::elementwise: return "elementwise";
    case Role::row: return "row";
    case Role::pick_column: return "pick_column";
    case Role::column_sum: return "column_sum";
    default: return "cast_sum";
  }
}

const char* name_of(LoopOperand::Kind kind) {
  switch (kind) {
    case LoopOperand::Kind::read: return "read";
    case LoopOperand::Kind::written: return "written";
    case LoopOperand::Kind::block_sums: return "block_sums";
    default: return "coordinate";
  }
}

/// The kernels of an operation: those of the groups come first, then those of maps and of folds.
Json kernels_of(const Plan& plan, const Operation& operation) {
  std::size_t first = plan.groups.size(), count = 1;
  if (operation.kind == Operation::Kind::group) {
    first = operation.number;
  } else if (operation.kind == Operation::Kind::map) {
    for (std::uint32_t m = 0; m < operation.number; ++m) first += plan.maps[m].loops.size();
    count = plan.maps[operation.number].loops.size();
  } else {
    for (const PlannedMap& map : plan.maps) first += map.loops.size();
    first += 2 * std::size_t{operation.number};
    count = 2;
  }
  Json kernels = Json::array();
  for (std::size_t k = first; k < first + count; ++k) kernels.push_back(k);
  return kernels;
}

Json operands_of(const ScheduledGroup& group) {
  Json operands = Json::array();
  for (const LoopOperand& operand : group.operands) {
    Json entry = json_of(operand.value, "primitive");
    entry["kind"] = name_of(operand.kind);
    entry["axes"] = operand.axes;
    operands.push_back(std::move(entry));
  }
  return operands;
}

/// What the operation runs: kernels and their operands, or a primitive.
void append_work(Json& record, const LiveValues& values, const Operation& operation) {
  const Plan& plan = values.plan();
  if (operation.is_generated()) record["kernels"] = kernels_of(plan, operation);
  if (operation.kind == Operation::Kind::group) {
    record["name"] = name_of(plan, operation);
    record["operands"] = operands_of(plan.groups[operation.number].schedule);
    return;
  }
  record["primitive"] = operation.primitive;
  record["op"] = to_string(values.node(operation.primitive).op);
}

void append_memory(Json& record, const OperationMemory& memory,
                   const std::vector<std::uint32_t>& dying) {
  record["reads"] = memory.reads;
  record["writes"] = memory.writes;
  record["held"] = memory.held;
  record["dying"] = dying;
}

std::string summary_line(const ProgramMemory& memory, std::size_t kernels, const Json& more) {
  Json record{{"record", "plan"},          {"operations", memory.operations.size()},
              {"kernels", kernels},        {"reads", memory.reads()},
              {"writes", memory.writes()}, {"peak", memory.peak}};
  record.update(more);
  std::string line;
  append_line(line, record);
  return line;
}

}  // namespace

std::string fusion_lines(const LiveValues& values, const LoweringRecord& record) {
  std::string lines;
  for (std::size_t g = 0; g < record.fusion.groups.size(); ++g) {
    const Group& group = record.fusion.groups[g];
    Json members = Json::array();
    for (const Member& member : group.members)
      members.push_back({{"primitive", member.id}, {"role", name_of(member.role)}});
    append_line(lines, {{"record", "group"},
                        {"index", g},
                        {"axes", group.axes},
                        {"rows", group.rows},
                        {"members", std::move(members)}});
  }
  for (const Refusal& refusal : record.fusion.refused) {
    const Primitive& primitive = values.primitives().steps[refusal.primitive];
    append_line(lines, {{"record", "refused"},
                        {"primitive", refusal.primitive},
                        {"op", to_string(values.node(refusal.primitive).op)},
                        {"group_of", refusal.group_of},
                        {"reason", refusal.reason},
                        {"line", place_text(values.trace().steps[primitive.origin]->user)}});
  }
  return lines;
}

std::string kernel_lines(const LoweringRecord& record) {
  std::string lines;
  append_line(lines, {{"record", "build"},
                      {"known", record.built.process_hits},
                      {"from_disk", record.built.disk_hits},
                      {"compiled", record.built.misses},
                      {"refused", record.built.refused},
                      {"compile_milliseconds", record.built.compile_milliseconds},
                      {"load_milliseconds", record.built.load_milliseconds}});
  for (std::size_t k = 0; k < record.kernels.size(); ++k)
    append_line(lines, {{"record", "kernel"},
                        {"index", k},
                        {"name", record.kernels[k].source.name_hint},
                        {"loop", record.kernels[k].loop},
                        {"source", record.kernels[k].source.body}});
  return lines;
}

std::string plan_lines(const LiveValues& values, const MemoryPlan& planned) {
  const ProgramMemory memory = memory_of(values, planned);
  std::string lines;
  std::size_t kernels = 0;
  for (std::size_t at = 0; at < memory.operations.size(); ++at) {
    const Operation& operation = values.plan().operations[at];
    kernels += operation.kind != Operation::Kind::view;
    Json record{{"record", "operation"}, {"index", at}};
    append_work(record, values, operation);
    append_memory(record, memory.operations[at], operation.dying);
    append_line(lines, record);
  }
  return lines + summary_line(memory, kernels, {{"arena", planned.bytes}, {"live", planned.live}});
}

std::string plan_lines(const Program& program, const Trace& trace) {
  const ProgramMemory memory = memory_of(program, trace);
  std::string lines;
  std::size_t kernels = 0;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    kernels += program.steps[i].kernel.run != nullptr;
    Json record{
        {"record", "operation"}, {"index", i}, {"step", i}, {"op", to_string(trace.steps[i]->op)}};
    append_memory(record, memory.operations[i], program.steps[i].dying);
    append_line(lines, record);
  }
  return lines + summary_line(memory, kernels, Json::object());
}

}  // namespace sinter::jit
