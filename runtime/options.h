/// \file
/// Every environment variable sinter reads, in one table. No other file calls getenv.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "log.h"

namespace sinter {

/// How a graph is evaluated: `interpret` is the meaning, slow and obvious; `eager` runs one kernel
/// a node, compiled ahead of time.
enum class Level : std::uint8_t { interpret, eager };

/// Which code path kernels take: `automatic` is the best one this machine has.
enum class CpuPath : std::uint8_t { automatic, portable, avx2, avx512 };

/// What the environment asks for.
struct Options {
  Level level = Level::eager;
  int threads = 0;  ///< At most this many threads; 0 for as many as the process may use.
  CpuPath cpu = CpuPath::automatic;
  LogChannels logs;
};

/// One row of the table of environment variables.
struct OptionInfo {
  std::string_view variable;  ///< `SINTER_LEVEL`
  std::string_view allowed;   ///< The values it takes, as an error lists them.
  std::string_view meaning;   ///< One sentence.
  void (*read)(std::string_view value, Options& options);  ///< \throws UsageError
};

/// The table, in the order of the documentation.
std::span<const OptionInfo> option_table();

/// Gives the value of a variable, or nothing where it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view variable)>;

/// Reads the whole table from `environment`; an empty value counts as not set.
/// \throws UsageError naming the variable, its value and the allowed ones.
Options read_options(const Environment& environment);

/// The options of this process, read from its environment by the first call.
/// \throws UsageError as read_options does, in every call until the process ends.
const Options& options();

}  // namespace sinter
