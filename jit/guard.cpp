#include "jit/guard.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/log.h"

namespace sinter::jit {
namespace {

std::uint64_t hash_of(const std::vector<std::uint32_t>& key) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (const std::uint32_t word : key) {
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

Where line_of(const Trace& trace, Source source) {
  const Node& node = *(source.leaf ? trace.leaves[source.index] : trace.steps[source.index]);
  return node.user;
}

std::string describe_range(const SizeConstraint& constraint) {
  if (constraint.low == constraint.high) return fmt::format("== {}", constraint.low);
  std::string text = fmt::format(">= {}", constraint.low);
  if (constraint.high != INT64_MAX) text += fmt::format(", <= {}", constraint.high);
  if (constraint.multiple != 1) text += fmt::format(", a multiple of {}", constraint.multiple);
  return text;
}

Mismatch structure_mismatch(const Program& program, const Trace& trace, std::size_t word) {
  // The step whose part of the trace's key holds the word: a step's part starts where those before
  // it end, so walk the steps as write_key does.
  std::size_t position = 2 + 2 * trace.leaves.size();
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const Node& node = *trace.steps[i];
    position += 3 + node.inputs().size() + 2 * node.fixed().size() + (node.payload ? 2 : 0);
    if (word < position)
      return {fmt::format("step {} is another: {} {} {}", i, to_string(node.op),
                          to_string(node.dtype), to_string(node.shape)),
              node.user, word};
  }
  return {fmt::format("{} steps and {} inputs, the program has {} steps", trace.steps.size(),
                      trace.leaves.size(), program.steps.size()),
          trace.steps.empty() ? Where() : trace.steps.front()->user, word};
}

}  // namespace

std::optional<Mismatch> find_mismatch(const Program& program, const Trace& trace) {
  const auto [a, b] =
      std::mismatch(program.key.begin(), program.key.end(), trace.key.begin(), trace.key.end());
  if (a != program.key.end() || b != trace.key.end())
    return structure_mismatch(program, trace, static_cast<std::size_t>(b - trace.key.begin()));

  if (!program.payloads.empty()) {
    auto expected = program.payloads.begin();
    for (const Node* step : trace.steps) {
      if (!step->payload) continue;
      if (!(*expected)->same_program(*step->payload))
        return Mismatch{fmt::format("{} has another body", to_string(step->op)), step->user,
                        trace.key.size()};
      ++expected;
    }
  }
  for (const SizeConstraint& constraint : program.constraints) {
    const std::int64_t size = size_of(trace, constraint.axis);
    if (constraint.holds(size)) continue;
    const Source source = constraint.axis.source;
    return Mismatch{fmt::format("size {} of {} {} must be {}, is {}", constraint.axis.axis,
                                source.leaf ? "input" : "step", std::uint32_t{source.index},
                                describe_range(constraint), size),
                    line_of(trace, source), trace.key.size()};
  }
  return std::nullopt;
}

std::shared_ptr<const Program> ProgramCache::find(const Trace& trace) {
  const auto found = programs_.find(hash_of(trace.key));
  if (found == programs_.end()) return nullptr;
  for (Entry& entry : found->second) {
    if (find_mismatch(*entry.program, trace)) continue;
    entry.last_use = ++hits_ + misses_;
    return entry.program;
  }
  return nullptr;
}

std::shared_ptr<const Program> ProgramCache::add(Program program, const Trace& trace) {
  if (log_enabled(LogChannel::recompiles) && count_ > 0) log_miss(trace);
  program.id = ++misses_;
  if (log_enabled(LogChannel::guards)) log_guards(program);
  if (count_ == most_programs) evict_oldest();
  ++count_;
  auto added = std::make_shared<const Program>(std::move(program));
  programs_[hash_of(trace.key)].push_back({added, hits_ + misses_});
  return added;
}

void ProgramCache::log_guards(const Program& program) {
  for (const SizeConstraint& constraint : program.constraints)
    write_log({LogChannel::guards,
               fmt::format("program {}", program.id),
               fmt::format("size {} of {} {} {}", constraint.axis.axis,
                           constraint.axis.source.leaf ? "input" : "step",
                           std::uint32_t{constraint.axis.source.index}, describe_range(constraint)),
               {}});
}

void ProgramCache::log_miss(const Trace& trace) const {
  std::shared_ptr<const Program> nearest;
  std::optional<Mismatch> reason;
  for (const auto& [hash, entries] : programs_) {
    for (const Entry& entry : entries) {
      std::optional<Mismatch> mismatch = find_mismatch(*entry.program, trace);
      if (!mismatch) continue;
      // Equal depths: the older program, so that the choice does not hang on the hash table.
      const bool nearer = !reason || mismatch->depth > reason->depth ||
                          (mismatch->depth == reason->depth && entry.program->id < nearest->id);
      if (!nearer) continue;
      nearest = entry.program;
      reason = std::move(mismatch);
    }
  }
  if (!reason) return;
  write_log({LogChannel::recompiles,
             fmt::format("program {}", misses_ + 1),
             "no program fits",
             {{"nearest", fmt::format("{}", nearest->id)},
              {"guard", reason->guard},
              {"line", to_string(reason->where)}}});
}

void ProgramCache::evict_oldest() {
  auto oldest = programs_.end();
  std::size_t place = 0;
  for (auto bucket = programs_.begin(); bucket != programs_.end(); ++bucket) {
    for (std::size_t i = 0; i < bucket->second.size(); ++i) {
      if (oldest != programs_.end() && oldest->second[place].last_use <= bucket->second[i].last_use)
        continue;
      oldest = bucket;
      place = i;
    }
  }
  if (log_enabled(LogChannel::cache))
    write_log({LogChannel::cache,
               fmt::format("program {}", oldest->second[place].program->id),
               fmt::format("dropped: {} programs are kept", most_programs),
               {}});
  oldest->second.erase(oldest->second.begin() + static_cast<std::ptrdiff_t>(place));
  if (oldest->second.empty()) programs_.erase(oldest);
  --count_;
}

void ProgramCache::clear() {
  programs_.clear();
  count_ = 0;
}

}  // namespace sinter::jit
