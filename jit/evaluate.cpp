// The pipeline: what the runtime's one call upward runs through, stage by stage.

#include "runtime/evaluate.h"

#include <pthread.h>

#include <chrono>
#include <mutex>
#include <optional>

#include "jit/execute.h"
#include "jit/forms.h"
#include "jit/guard.h"
#include "jit/inspect.h"
#include "jit/kernel_cache.h"
#include "jit/lower.h"
#include "jit/program.h"
#include "jit/report.h"
#include "jit/run_plan.h"
#include "jit/statistics.h"
#include "jit/trace.h"
#include "runtime/cpu/pool.h"
#include "runtime/level.h"
#include "runtime/memory.h"
#include "runtime/results.h"
#include "runtime/variable.h"

namespace sinter {
namespace {

std::mutex launch_mutex;
thread_local bool holds_launch = false;

void before_fork() {
  if (!holds_launch) launch_mutex.lock();
}

void after_fork() {
  if (!holds_launch) launch_mutex.unlock();
}

/// Lets a fork wait for the evaluation of another thread, which its child could never end.
void wait_at_fork() {
  static const bool once = [] {
    // Handlers run in reverse order: an evaluation takes the locks of these after the launch lock.
    memory_statistics();
    cpu::threads();
    jit::kernel_cache();
    return pthread_atfork(before_fork, after_fork, after_fork) == 0;
  }();
  (void)once;
}

/// The state of evaluation: one for the process, guarded by the launch lock.
struct Evaluator {
  jit::ProgramCache programs;
  EvaluationStatistics statistics;  // but for the counts that the cache keeps
};

/// Never destroyed: threads may still evaluate while the program ends.
Evaluator& evaluator() {
  static auto* const forever = new Evaluator;
  return *forever;
}

/// Adds the time of each stage to its sum.
class Stopwatch {
 public:
  /// Ends a stage. Returns its nanoseconds.
  std::int64_t lap(std::uint64_t& sum) {
    const Clock::time_point now = Clock::now();
    const std::int64_t took = std::chrono::nanoseconds(now - last_).count();
    sum += static_cast<std::uint64_t>(took);
    last_ = now;
    return took;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

/// What this evaluation computes: what was asked for, what was written, what something outside of
/// the graph still refers to.
std::vector<NodeRef> sample_roots(std::span<const NodeRef> asked, const WrittenVariables& written) {
  std::vector<NodeRef> roots(asked.begin(), asked.end());
  roots.insert(roots.end(), written.values().begin(), written.values().end());
  const std::vector<NodeRef> pending = pending_with_handles();
  roots.insert(roots.end(), pending.begin(), pending.end());
  return roots;
}

/// For each leaf, whether it is the old value of a Variable that only the trace and the list of
/// written Variables (with its cell) refer to.
std::vector<bool> find_donated(const jit::Trace& trace, const WrittenVariables& written) {
  std::vector<bool> donated(trace.leaves.size(), false);
  std::vector<std::uint32_t> uses(trace.leaves.size(), 0);
  std::vector<bool> in_history(trace.leaves.size(), false);
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    for (const jit::Source source : trace.sources_of(i)) {
      if (!source.leaf) continue;
      ++uses[source.index];
      if (trace.history[i]) in_history[source.index] = true;
    }
  }
  constexpr std::uint32_t held_by_written_and_cell = 2;
  for (const NodeRef& old : written.previous()) {
    const Node* node = old.get();
    if (!node || node->index >= trace.leaves.size() || trace.leaves[node->index] != node) continue;
    donated[node->index] = !in_history[node->index] &&
                           node->reference_count() == uses[node->index] + held_by_written_and_cell;
  }
  return donated;
}

jit::Outcome run(const jit::Program& program, const std::optional<jit::Form>& form,
                 const jit::Trace& trace, const WrittenVariables& written,
                 const jit::Inspectors& inspectors) {
  const jit::Observers observers = inspectors.observers();
  const std::vector<bool> donated = inspectors.may_refuse()
                                        ? std::vector<bool>(trace.leaves.size(), false)
                                        : find_donated(trace, written);
  std::optional<jit::Outcome> outcome;
  if (form) outcome = jit::run_plan(*form, program, trace, donated, observers);
  if (!outcome) outcome = jit::execute(program, trace, donated, observers);
  inspectors.finish();
  return *std::move(outcome);
}

/// Gives the nodes their values or failures and takes away the inputs nobody needs any more.
/// Returns how many have a value. Nodes end here, but none before its turn: readers come after what
/// they read.
std::size_t commit(const jit::Program& program, const jit::Trace& trace,
                   jit::Outcome& outcome) noexcept {
  if (outcome.first_fresh)
    for (std::size_t leaf = 0; leaf < trace.leaves.size(); ++leaf)
      if (outcome.overwritten[leaf]) trace.leaves[leaf]->set_failed(outcome.first_fresh);
  std::size_t computed = 0;
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    Node* node = trace.steps[i];
    if (outcome.failures[i]) {
      node->set_failed(std::move(outcome.failures[i]));
      continue;
    }
    ++computed;
    // A node with several results has no value of its own: its picks do.
    if (!trace.keeps_value(i)) continue;
    node->set_value(std::move(outcome.values[program.steps[i].first_value]));
    if (!trace.history[i]) node->release_inputs();
  }
  return computed;
}

/// The failure of this run that a written value depends on, if one does.
std::exception_ptr find_failed_write(const jit::Trace& trace, const jit::Outcome& outcome,
                                     const WrittenVariables& written) {
  for (const NodeRef& value : written.values()) {
    const std::size_t step = value->index;
    if (step < trace.steps.size() && trace.steps[step] == value.get() && outcome.fresh[step])
      return outcome.failures[step];
  }
  return nullptr;
}

/// The stages, in order. Returns the failure for which no write may be kept, if there is one.
std::exception_ptr run_pipeline(const std::vector<NodeRef>& roots,
                                const WrittenVariables& written) {
  Evaluator& state = evaluator();
  EvaluationStatistics& statistics = state.statistics;
  Stopwatch watch;
  const Level how = level();
  const Inspection wanted = inspection();
  const jit::Trace trace = jit::linearise(roots, how);
  const std::int64_t linearise_time = watch.lap(statistics.linearise_ns);
  if (trace.steps.empty()) return nullptr;

  std::shared_ptr<const jit::Program> program = state.programs.find(trace);
  const std::int64_t match_time = watch.lap(statistics.match_ns);
  jit::LoweringRecord record;
  std::string report;  // the folder of a new program's
  if (!program) {
    record.stages = {{"linearise", linearise_time}, {"match", match_time}};
    jit::LoweringRecord* const recorded = wanted.trace_directory.empty() ? nullptr : &record;
    jit::Program built = jit::build_program(trace, how);
    if (how == Level::fused)
      if (auto lowered = jit::lower(trace, recorded))
        built.forms = std::make_shared<jit::Forms>(std::move(lowered));
    program = state.programs.add(std::move(built), trace);
    if (recorded)
      report = jit::report_program(wanted.trace_directory, how, *program, trace, written, record);
  }
  watch.lap(statistics.build_ns);
  std::optional<jit::Form> form;
  if (program->forms) form = program->forms->find(trace);
  watch.lap(statistics.match_ns);
  if (program->forms && !form) form = program->forms->add(trace, program->id);
  watch.lap(statistics.build_ns);

  const jit::Inspectors inspectors(wanted, trace, report, record);
  jit::Outcome outcome = run(*program, form, trace, written, inspectors);
  watch.lap(statistics.execute_ns);
  std::exception_ptr failed_write;
  if (outcome.first_fresh) failed_write = find_failed_write(trace, outcome, written);
  statistics.kernels_run += outcome.kernels;
  statistics.nodes_evaluated += commit(*program, trace, outcome);
  watch.lap(statistics.commit_ns);
  return failed_write;
}

}  // namespace

LaunchLock::LaunchLock() {
  if (holds_launch)
    throw UsageError("evaluate: called from inside an evaluation, by a log sink or a deleter");
  wait_at_fork();
  launch_mutex.lock();
  holds_launch = true;
}

LaunchLock::~LaunchLock() {
  holds_launch = false;
  launch_mutex.unlock();
}

void evaluate(std::span<const NodeRef> roots) {
  const LaunchLock lock;
  WrittenVariables written = WrittenVariables::take();
  std::exception_ptr failed_write;
  try {
    failed_write = run_pipeline(sample_roots(roots, written), written);
  } catch (...) {
    written.settle(true, std::current_exception());
    throw;
  }
  const std::exception_ptr refused = written.settle(failed_write != nullptr, failed_write);
  if (failed_write) std::rethrow_exception(failed_write);
  if (refused) std::rethrow_exception(refused);
}

EvaluationStatistics evaluation_statistics() {
  const LaunchLock lock;
  const Evaluator& state = evaluator();
  EvaluationStatistics statistics = state.statistics;
  statistics.programs_built = state.programs.misses();
  statistics.programs_found = state.programs.hits();
  statistics.programs_held = state.programs.size();
  return statistics;
}

void reset_programs() {
  const LaunchLock lock;
  evaluator().programs.clear();
}

}  // namespace sinter
