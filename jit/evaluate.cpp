// The pipeline: what the runtime's one call upward runs through, stage by stage.

#include "runtime/evaluate.h"

#include <pthread.h>

#include <chrono>
#include <mutex>

#include "jit/execute.h"
#include "jit/guard.h"
#include "jit/program.h"
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
    return pthread_atfork(before_fork, after_fork, after_fork) == 0;
  }();
  (void)once;
}

/// The state of evaluation: one for the process, guarded by the launch lock.
struct Evaluator {
  jit::ProgramCache programs;
  EvaluationStatistics statistics;  // but for the counts that the cache keeps
};

Evaluator& evaluator() {
  static Evaluator evaluator;
  return evaluator;
}

/// Adds the time of each stage to its sum.
class Stopwatch {
 public:
  /// Ends a stage.
  void lap(std::uint64_t& sum) {
    const Clock::time_point now = Clock::now();
    sum += static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now - last_).count());
    last_ = now;
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

/// Fails every step that reads a failed leaf or, through others, `origin`. Says whether any did.
bool spread_failure(const jit::Trace& trace, std::size_t origin, std::exception_ptr failure) {
  std::vector<std::exception_ptr> failures(trace.steps.size());
  if (origin < trace.steps.size()) failures[origin] = std::move(failure);
  bool any = false;
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    for (const jit::Source source : trace.sources_of(i)) {
      if (failures[i]) break;
      failures[i] = source.leaf ? trace.leaves[source.index]->failure() : failures[source.index];
    }
    any = any || failures[i];
  }
  for (std::size_t i = 0; i < trace.steps.size(); ++i)
    if (failures[i]) trace.steps[i]->set_failed(failures[i]);
  return any;
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

/// Gives the nodes their values and takes away the inputs nobody needs any more.
void commit(const jit::Program& program, const jit::Trace& trace, jit::Outcome& outcome) {
  std::vector<NodeRef> released;
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    Node* node = trace.steps[i];
    // A node with several results has no value of its own: its picks do.
    if (!trace.kept[i] || has_several_results(node->op)) continue;
    node->set_value(std::move(outcome.values[program.steps[i].first_value]));
    if (!trace.history[i]) released.emplace_back(node);
  }
  // Only now: releasing inputs ends nodes of the trace.
  for (const NodeRef& node : released) node->release_inputs();
}

/// A trace that reads nothing that has failed; what does read it fails too.
jit::Trace linearise_sound(const std::vector<NodeRef>& roots, WrittenVariables& written,
                           Level level) {
  jit::Trace trace = jit::linearise(roots, level);
  if (!spread_failure(trace, trace.steps.size(), nullptr)) return trace;
  written.roll_back();
  return jit::linearise(roots, level);
}

/// The stages, in order. Throws what the data showed.
void run_pipeline(const std::vector<NodeRef>& roots, WrittenVariables& written) {
  Evaluator& state = evaluator();
  EvaluationStatistics& statistics = state.statistics;
  Stopwatch watch;
  const Level how = level();
  const jit::Trace trace = linearise_sound(roots, written, how);
  watch.lap(statistics.linearise_ns);
  if (trace.steps.empty()) return written.commit();

  std::shared_ptr<const jit::Program> program = state.programs.find(trace);
  watch.lap(statistics.match_ns);
  if (!program) program = state.programs.add(jit::build_program(trace, how), trace);
  watch.lap(statistics.build_ns);

  jit::Outcome outcome = jit::execute(*program, trace, find_donated(trace, written));
  watch.lap(statistics.execute_ns);
  if (outcome.failure) {
    spread_failure(trace, outcome.failed_step, outcome.failure);
    std::rethrow_exception(outcome.failure);
  }
  statistics.nodes_evaluated += trace.steps.size();
  commit(*program, trace, outcome);
  written.commit();
  watch.lap(statistics.commit_ns);
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
  const std::vector<NodeRef> all = sample_roots(roots, written);
  try {
    run_pipeline(all, written);
  } catch (...) {
    written.roll_back();
    throw;
  }
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
