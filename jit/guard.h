/// \file
/// Guards: whether a Program fits a trace, and if not, what differs first.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "jit/program.h"

namespace sinter::jit {

/// The first thing in which a trace differs from a Program.
struct Mismatch {
  std::string guard;      ///< what was required and what came
  Where where;            ///< the user's line of the step it was found at
  std::size_t depth = 0;  ///< how many words of the key agree
};

/// A full comparison: key, payloads and every size constraint. Allocates nothing.
bool fits(const Program& program, const Trace& trace);

/// What a Program that does not fit differs in.
Mismatch explain(const Program& program, const Trace& trace);

/// The Programs of this process, found by key; the least recently used one goes when there are too
/// many. Guarded by the launch lock.
class ProgramCache {
 public:
  static constexpr std::size_t most_programs = 1024;

  /// The Program that fits, or null.
  std::shared_ptr<const Program> find(const Trace& trace);
  /// Adds a Program; logs the guard that failed against the nearest one there was.
  std::shared_ptr<const Program> add(Program program, const Trace& trace);
  void clear();

  std::size_t size() const { return count_; }
  std::uint64_t hits() const { return hits_; }      ///< traces that found their Program
  std::uint64_t misses() const { return misses_; }  ///< traces that did not

 private:
  struct Entry {
    std::shared_ptr<const Program> program;
    std::uint64_t last_use;
  };

  static void log_guards(const Program& program);
  void log_miss(const Trace& trace) const;
  void evict_oldest();

  std::unordered_map<std::uint64_t, std::vector<Entry>> programs_;
  std::size_t count_ = 0;
  std::uint64_t hits_ = 0, misses_ = 0;
};

}  // namespace sinter::jit
