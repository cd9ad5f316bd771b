#include "jit/lower.h"

#include <fmt/format.h>

#include "jit/emit.h"
#include "jit/kernel_cache.h"
#include "jit/prelude.h"
#include "runtime/log.h"

namespace sinter::jit {
namespace {

struct Built {
  const Loop* loop;
  kernels::LoopFunction* function;
};

std::vector<Built> all_loops(Plan& plan) {
  std::vector<Built> all;
  for (PlannedGroup& group : plan.groups) all.push_back({&group.schedule.loop, &group.function});
  for (PlannedMap& map : plan.maps)
    for (std::size_t i = 0; i < map.loops.size(); ++i)
      all.push_back({&map.loops[i], &map.functions[i]});
  return all;
}

/// Compiles what is not compiled yet. \return false where there is no compiler.
bool build_kernels(Plan& plan) {
  const std::vector<Built> wanted = all_loops(plan);
  std::vector<KernelSource> sources;
  for (const Built& built : wanted) {
    sources.push_back({built.loop->name, emit(*built.loop, "SINTER_KERNEL_NAME")});
    if (log_enabled(LogChannel::output_code))
      write_log({LogChannel::output_code, built.loop->name, sources.back().body, {}});
  }
  static const std::string text = std::string(prelude()) + "using namespace sinter::kernels;\n";
  const auto functions = kernel_cache().load(sources, text, "strict");
  if (!functions) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    *wanted[i].function = reinterpret_cast<kernels::LoopFunction>((*functions)[i]);
  return true;
}

void log_plan(const Plan& plan) {
  write_log({LogChannel::plan,
             "plan",
             fmt::format("{} primitives became {} operations, of them {} generated kernels",
                         plan.first_value.size(), plan.operations.size(),
                         plan.groups.size() + plan.maps.size()),
             {}});
  for (const PlannedGroup& group : plan.groups)
    write_log({LogChannel::schedule, group.schedule.loop.name, to_string(group.schedule.loop), {}});
  for (const PlannedMap& map : plan.maps)
    for (const Loop& loop : map.loops)
      write_log({LogChannel::schedule, loop.name, to_string(loop), {}});
}

}  // namespace

std::shared_ptr<const Lowered> lower(const Trace& trace) {
  Layout layout = make_layout(trace);
  Plan planned = plan(trace, layout.primitives, fuse(trace, layout.primitives));
  if (log_enabled(LogChannel::plan) || log_enabled(LogChannel::schedule)) log_plan(planned);
  if (planned.groups.empty() && planned.maps.empty()) return nullptr;
  if (!build_kernels(planned)) return nullptr;
  return std::make_shared<const Lowered>(Lowered{std::move(planned), Layouts(std::move(layout))});
}

}  // namespace sinter::jit
