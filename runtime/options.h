/// \file
/// Every environment variable sinter reads, in one table. No other file calls getenv.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "log.h"

namespace sinter {

/// How a graph is evaluated: `interpret` is the meaning, slow and obvious; `eager` runs one kernel
/// a node, compiled ahead of time; `fused` makes few kernels of many nodes and has them compiled by
/// the machine's compiler.
enum class Level : std::uint8_t { interpret, eager, fused };

std::string_view to_string(Level level);
/// The level of this name, or nothing.
std::optional<Level> parse_level(std::string_view name);

/// Which code path kernels take: `automatic` is the best one this machine has.
enum class CpuPath : std::uint8_t { automatic, portable, avx2, avx512 };

/// Variables that sinter shares with other programs, as they stand; empty where they are not set.
struct Surroundings {
  std::string search_path;   ///< PATH
  std::string library_path;  ///< LD_LIBRARY_PATH
  std::string home;          ///< HOME
  std::string cache_home;    ///< XDG_CACHE_HOME
  std::string temporary;     ///< TMPDIR
};

/// What the environment asks for.
struct Options {
  Level level = Level::fused;
  int threads = 0;  ///< At most this many threads; 0 for as many as the process may use.
  CpuPath cpu = CpuPath::automatic;
  LogChannels logs;
  std::string compiler;         ///< Path or name; empty for the system's.
  bool disk_cache = true;       ///< Whether compiled kernels are kept on disk.
  std::string cache_directory;  ///< Where; empty for the user's cache directory.
  std::uint64_t cache_bytes = std::uint64_t{1} << 30;  ///< The most the disk cache may hold.
  bool check_nan = false;       ///< Whether evaluation looks for NaN and infinity (inspection.h).
  bool shadow = false;          ///< Whether generated kernels are compared (inspection.h).
  std::string trace_directory;  ///< Where programs are reported; empty for nowhere.
  std::string cuda_path;        ///< Where CUDA's libraries are; empty for where the loader looks.
  Surroundings surroundings;
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

/// A number of bytes as an option gives it: `4096`, `64K`, `512M`, `2G`; nothing for other text.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// Gives the value of a variable, or nothing where it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view variable)>;

/// Reads the whole table from `environment`; an empty value counts as not set.
/// \throws UsageError naming the variable, its value and the allowed ones.
Options read_options(const Environment& environment);

/// The options of this process, read from its environment by the first call.
/// \throws UsageError as read_options does, in every call until the process ends.
const Options& options();

}  // namespace sinter
