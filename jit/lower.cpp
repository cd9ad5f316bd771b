#include "jit/lower.h"

#include <fmt/format.h>

#include <chrono>
#include <set>

#include "jit/emit.h"
#include "jit/live_values.h"
#include "jit/prelude.h"
#include "jit/traffic.h"
#include "runtime/log.h"

namespace sinter::jit {
namespace {

/// A loop, and where its kernel is to be put.
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
  for (PlannedFold& fold : plan.folds) {
    all.push_back({&fold.loops.blocks, &fold.blocks});
    all.push_back({&fold.loops.finish, &fold.finish});
  }
  return all;
}

using Clock = std::chrono::steady_clock;

/// Puts the time of each stage into a record, if there is one.
class StageTimes {
 public:
  explicit StageTimes(LoweringRecord* record) : record_(record) {}

  void end(std::string_view name) {
    if (!record_) return;
    const Clock::time_point now = Clock::now();
    record_->stages.push_back({name, std::chrono::nanoseconds(now - last_).count()});
    last_ = now;
  }

 private:
  LoweringRecord* record_;
  Clock::time_point last_ = Clock::now();
};

std::vector<KernelSource> emit_kernels(const std::vector<Built>& loops) {
  std::vector<KernelSource> sources;
  for (const Built& built : loops) {
    sources.push_back({built.loop->name, emit(*built.loop, "SINTER_KERNEL_NAME")});
    if (log_enabled(LogChannel::output_code))
      write_log({LogChannel::output_code, built.loop->name, sources.back().body, {}});
  }
  return sources;
}

/// Compiles what is not compiled yet. \return false where there is no compiler.
bool build_kernels(const std::vector<Built>& loops, const std::vector<KernelSource>& sources) {
  static const std::string text = std::string(prelude()) + "using namespace sinter::kernels;\n";
  const auto functions = kernel_cache().load(sources, text, "strict");
  if (!functions) return false;
  for (std::size_t i = 0; i < loops.size(); ++i)
    *loops[i].function = reinterpret_cast<kernels::LoopFunction>((*functions)[i]);
  return true;
}

/// What has been done since `before`.
KernelStatistics since(const KernelStatistics& before) {
  KernelStatistics now = kernel_cache().statistics();
  now.process_hits -= before.process_hits;
  now.disk_hits -= before.disk_hits;
  now.misses -= before.misses;
  now.refused -= before.refused;
  now.compiles -= before.compiles;
  now.compile_milliseconds -= before.compile_milliseconds;
  now.load_milliseconds -= before.load_milliseconds;
  return now;
}

void record_kernels(LoweringRecord& record, const std::vector<Built>& built,
                    std::vector<KernelSource> sources) {
  for (std::size_t i = 0; i < built.size(); ++i)
    record.kernels.push_back(
        {std::move(sources[i]), to_string(*built[i].loop), *built[i].function});
}

void log_loops(const std::vector<Built>& loops) {
  for (const Built& built : loops)
    write_log({LogChannel::schedule, built.loop->name, to_string(*built.loop), {}});
}

/// The ops that kernels of the library compute.
std::size_t count_library_kernels(const LiveValues& values) {
  std::set<Op> ops;
  for (const Operation& operation : values.plan().operations)
    if (operation.kind == Operation::Kind::library) ops.insert(values.node(operation.primitive).op);
  return ops.size();
}

void log_plan(const Lowered& lowered, const Trace& trace) {
  const Plan& plan = lowered.plan;
  const PlanLayout& laid = *lowered.layouts.find(trace, plan);
  const LiveValues values(plan, laid.layout, trace);
  const ProgramMemory memory = memory_of(values, laid.memory);
  const std::size_t kernels = plan.groups.size() + plan.maps.size() + plan.folds.size();
  const auto field = [](std::string key, auto number) {
    return LogField{std::move(key), fmt::to_string(number)};
  };
  write_log({LogChannel::plan,
             "plan",
             fmt::format("{} primitives became {} operations, of them {} generated kernels",
                         plan.first_value.size(), plan.operations.size(), kernels),
             {field("library_kernels", count_library_kernels(values)),
              field("bytes_moved", memory.reads() + memory.writes()),
              field("arena_bytes", laid.memory.bytes), field("live_bytes", laid.memory.live)}});
}

}  // namespace

std::shared_ptr<const Lowered> lower(const Trace& trace, LoweringRecord* record) {
  StageTimes times(record);
  Layout layout = make_layout(trace);
  times.end("decompose");
  Fusion fusion = fuse(trace, layout.primitives);
  times.end("fuse");
  if (record) record->fusion = fusion;
  Plan planned = plan(trace, layout.primitives, std::move(fusion));
  times.end("schedule and plan");
  const std::vector<Built> kernels = all_loops(planned);
  if (log_enabled(LogChannel::schedule)) log_loops(kernels);
  std::vector<KernelSource> sources = emit_kernels(kernels);
  times.end("emit");
  const KernelStatistics before = record ? kernel_cache().statistics() : KernelStatistics();
  const bool built = !kernels.empty() && build_kernels(kernels, sources);
  times.end("build");
  if (!built && !record) return nullptr;
  if (record) {
    record_kernels(*record, kernels, std::move(sources));
    record->built = since(before);
  }
  Layouts layouts(std::move(layout), planned, trace);
  auto lowered = std::make_shared<const Lowered>(Lowered{std::move(planned), std::move(layouts)});
  if (log_enabled(LogChannel::plan)) log_plan(*lowered, trace);
  if (record) record->lowered = lowered;
  return built ? lowered : nullptr;
}

}  // namespace sinter::jit
