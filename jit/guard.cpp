#include "jit/guard.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/log.h"
#include "runtime/word_hash.h"

namespace sinter::jit {
namespace {

std::uint64_t hash_of(const std::vector<std::uint32_t>& key) {
  WordHash hash;
  for (const std::uint32_t word : key) hash.add(word);
  return hash.value();
}

std::string describe_range(const SizeConstraint& constraint) {
  const char* relation = constraint.low == constraint.high ? "==" : ">=";
  return fmt::format("{} {}", relation, constraint.low);
}

/// The first step that reads the leaf.
const Node& first_reader(const Trace& trace, std::uint32_t leaf) {
  const auto read = std::find(trace.sources.begin(), trace.sources.end(), Source::of_leaf(leaf));
  invariant(read != trace.sources.end(), "a leaf that no step reads");
  const auto place = static_cast<std::uint32_t>(read - trace.sources.begin());
  const auto after = std::upper_bound(trace.first_source.begin(), trace.first_source.end(), place);
  return *trace.steps[static_cast<std::size_t>(after - trace.first_source.begin() - 1)];
}

/// The step, or the first that reads the leaf: what the user called, and where.
const Node& call_of(const Trace& trace, Source source) {
  return source.leaf ? first_reader(trace, source.index) : *trace.steps[source.index];
}

/// `input 3 of add`, or `step 4 (mul)`.
std::string name_of(const Trace& trace, Source source) {
  const std::uint32_t index = source.index;
  const std::string_view op = to_string(call_of(trace, source).op);
  return source.leaf ? fmt::format("input {} of {}", index, op)
                     : fmt::format("step {} ({})", index, op);
}

/// The first of the node's sizes that has become 0 or 1, or is so no more. All before are alike, up
/// to the node's rank.
std::string size_difference(const Program& program, const Trace& trace, Source source) {
  std::size_t first = 0;  // of the node's sizes, among all
  const auto skip = [&](const std::vector<Node*>& nodes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      first += static_cast<std::size_t>(nodes[i]->shape.rank());
  };
  skip(trace.leaves, source.leaf ? source.index : trace.leaves.size());
  if (!source.leaf) skip(trace.steps, source.index);
  const Shape& shape = trace.node(source).shape;
  const auto kind = [](std::int64_t size) { return std::min<std::int64_t>(size, 2); };
  int axis = 0;
  while (axis + 1 < shape.rank() &&
         kind(shape[axis]) == kind(program.first_sizes[first + static_cast<std::size_t>(axis)]))
    ++axis;
  return fmt::format(
      "size of axis {} of {} was {}, is {}: sizes of 0 and of 1 have programs of their own", axis,
      name_of(trace, source), program.first_sizes[first + static_cast<std::size_t>(axis)],
      shape[axis]);
}

/// What differs in the key from `word` on.
Mismatch explain_key(const Program& program, const Trace& trace, std::size_t word) {
  constexpr std::size_t leaves_begin = 2;
  const std::size_t steps_begin = leaves_begin + 2 * trace.leaves.size();
  const Where first_line = trace.steps.empty() ? Where() : trace.steps.front()->user;
  if (word == 0) return {"the level is another", first_line, word};
  if (word < leaves_begin || word >= trace.key.size() || word >= program.key.size())
    return {fmt::format("{} steps and {} inputs, the program has {} and {}", trace.steps.size(),
                        trace.leaves.size(), program.steps.size(), program.key[1]),
            first_line, word};
  Source source = Source::of_leaf(static_cast<std::uint32_t>((word - leaves_begin) / 2));
  bool sizes = (word - leaves_begin) % 2 == 1;
  if (word >= steps_begin) {
    const auto after = std::upper_bound(trace.first_word.begin(), trace.first_word.end(), word);
    source = Source::of_step(static_cast<std::uint32_t>(after - trace.first_word.begin() - 1));
    sizes = word == trace.first_word[source.index] + 1;
  }
  const Node& node = trace.node(source);
  const Where line = call_of(trace, source).user;
  if (sizes) return {size_difference(program, trace, source), line, word};
  constexpr std::uint32_t lifetime = 3;  // the bits of kept and history
  if (!source.leaf && word == trace.first_word[source.index] &&
      ((program.key[word] ^ trace.key[word]) & ~lifetime) == 0)
    return {fmt::format("what is kept of {} is another", name_of(trace, source)), line, word};
  return {fmt::format("{} is another: {} {}", name_of(trace, source), to_string(node.dtype),
                      to_string(node.shape)),
          line, word};
}

/// The first step whose payload is another than the program's, or null.
const Node* find_other_payload(const Program& program, const Trace& trace) {
  if (program.payloads.empty()) return nullptr;
  auto expected = program.payloads.begin();
  for (const Node* step : trace.steps) {
    if (!step->payload || !step->payload->in_program()) continue;
    if (!(*expected++)->same_program(*step->payload)) return step;
  }
  return nullptr;
}

/// The first constraint that does not hold, or null.
const SizeConstraint* find_broken(const Program& program, const Trace& trace) {
  for (const SizeConstraint& constraint : program.constraints)
    if (!constraint.holds(size_of(trace, constraint.axis))) return &constraint;
  return nullptr;
}

}  // namespace

bool fits(const Program& program, const Trace& trace) {
  return program.key == trace.key && !find_other_payload(program, trace) &&
         !find_broken(program, trace);
}

Mismatch explain(const Program& program, const Trace& trace) {
  const auto [a, b] =
      std::mismatch(program.key.begin(), program.key.end(), trace.key.begin(), trace.key.end());
  if (a != program.key.end() || b != trace.key.end())
    return explain_key(program, trace, static_cast<std::size_t>(b - trace.key.begin()));
  if (const Node* step = find_other_payload(program, trace))
    return {fmt::format("{} has another body", to_string(step->op)), step->user, trace.key.size()};
  const SizeConstraint* broken = find_broken(program, trace);
  invariant(broken != nullptr, "a program that fits was to be explained");
  return {fmt::format("size of axis {} of {} must be {}, is {}", broken->axis.axis,
                      name_of(trace, broken->axis.source), describe_range(*broken),
                      size_of(trace, broken->axis)),
          call_of(trace, broken->axis.source).user, trace.key.size()};
}

std::shared_ptr<const Program> ProgramCache::find(const Trace& trace) {
  const auto found = programs_.find(hash_of(trace.key));
  if (found == programs_.end()) return nullptr;
  for (Entry& entry : found->second) {
    if (!fits(*entry.program, trace)) continue;
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
  Mismatch reason;
  for (const auto& [hash, entries] : programs_) {
    for (const Entry& entry : entries) {
      // Equal depths: the older program, so that the choice does not hang on the hash table.
      Mismatch mismatch = explain(*entry.program, trace);
      const bool nearer = !nearest || mismatch.depth > reason.depth ||
                          (mismatch.depth == reason.depth && entry.program->id < nearest->id);
      if (!nearer) continue;
      nearest = entry.program;
      reason = std::move(mismatch);
    }
  }
  if (!nearest) return;
  write_log({LogChannel::recompiles,
             fmt::format("program {}", misses_ + 1),
             "no program fits",
             {{"nearest", fmt::format("{}", nearest->id)},
              {"guard", reason.guard},
              {"line", to_string(reason.where)}}});
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
