/// \file
/// Runs programs of the machine: no shell, nothing inherited but what is given, output captured.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace sinter::jit {

struct HostProgram {
  std::vector<std::string> words;        ///< The path of the program, then its arguments.
  std::vector<std::string> environment;  ///< All of it, as `NAME=value`.
};

/// How a program ended. At most one of the three numbers is not zero.
struct HostOutcome {
  int start_error = 0;  ///< errno where it could not be started.
  int exit_status = 0;
  int signal = 0;
  /// The embedding program took the status away: it ignores SIGCHLD, or waits for every child. The
  /// program has ended, well or not.
  bool unknown = false;
  std::string output;  ///< What it printed on both streams, the last megabyte at most.

  bool failed() const { return start_error != 0 || exit_status != 0 || signal != 0; }
  /// What went wrong in a few words: `ended with status 1`, `was killed by signal 9 (Killed)`.
  std::string problem() const;
};

/// Runs each of `programs`, at most `at_once` at a time, and returns when all have ended. Standard
/// input is empty, signals have their defaults. May be called from several threads at once.
/// \throws FileError where the machine has no file descriptors left.
std::vector<HostOutcome> run_programs(std::span<const HostProgram> programs, int at_once);

}  // namespace sinter::jit
