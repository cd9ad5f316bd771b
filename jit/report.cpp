#include "jit/report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "jit/digest.h"
#include "jit/host_compiler.h"
#include "jit/host_flags.h"
#include "jit/prelude.h"
#include "jit/report_file.h"
#include "jit/report_graph.h"
#include "jit/report_line.h"
#include "jit/report_plan.h"
#include "jit/trace_file.h"
#include "runtime/cpu/probe.h"
#include "runtime/error.h"

namespace sinter::jit {
namespace {

std::string folder_name(const Program& program) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y%m%d-%H%M%S}-{}-{:03}", fmt::gmtime(now), ::getpid(), program.id);
}

std::string head_lines(Level level, const Program& program, const Trace& trace,
                       const LoweringRecord& record) {
  const cpu::InstructionSet set = cpu::instruction_set();
  std::string lines;
  append_line(lines, {{"record", "program"},
                      {"version", library_version()},
                      {"process", ::getpid()},
                      {"program", program.id},
                      {"level", to_string(level)},
                      {"fused", program.forms != nullptr},
                      {"leaves", trace.leaves.size()},
                      {"steps", trace.steps.size()},
                      {"cpu", cpu::to_string(set)},
                      {"flags", compile_flags(set)},
                      {"prelude", to_hex(digest_of(prelude()))}});
  for (const LoweringRecord::Stage& stage : record.stages)
    append_line(lines,
                {{"record", "stage"}, {"name", stage.name}, {"nanoseconds", stage.nanoseconds}});
  return lines;
}

std::string all_lines(Level level, const Program& program, const Trace& trace,
                      const LoweringRecord& record) {
  std::string lines = head_lines(level, program, trace, record) + graph_lines(trace);
  if (record.lowered) {
    const PlanLayout* laid = record.lowered->layouts.find(trace, record.lowered->plan);
    invariant(laid != nullptr, "a plan does not serve the trace it was made from");
    const LiveValues values(record.lowered->plan, laid->layout, trace);
    lines += primitive_lines(trace, laid->layout.primitives) + fusion_lines(values, record) +
             kernel_lines(record);
    if (program.forms) return lines + plan_lines(values, laid->memory);
  }
  return lines + plan_lines(program, trace);
}

}  // namespace

std::string report_program(const std::string& directory, Level level, const Program& program,
                           const Trace& trace, const WrittenVariables& written,
                           const LoweringRecord& record) {
  std::error_code error;
  std::string folder = (std::filesystem::path(directory) / folder_name(program)).string();
  std::filesystem::create_directories(folder, error);
  try {
    if (error) throw FileError(fmt::format("{}: {}", folder, error.message()));
    ReportFile file(folder + "/program.jsonl");
    file.write(all_lines(level, program, trace, record));
    file.done();
    ReportFile graph(folder + "/graph.json");
    graph.write(trace_text(trace, written.values(), written.previous()) + "\n");
    graph.done();
    return folder;
  } catch (const FileError& problem) {
    warn_of_report(problem.what());
    return {};
  }
}

}  // namespace sinter::jit
