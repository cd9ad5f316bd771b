#include "runtime/options.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "runtime/cpu/pool.h"
#include "runtime/error.h"

namespace sinter {
namespace {

constexpr std::array<std::string_view, 3> level_names = {"interpret", "eager", "fused"};

[[noreturn]] void refuse(const OptionInfo& info, std::string_view value) {
  throw UsageError(
      fmt::format("{}: bad value \"{}\", allowed: {}", info.variable, value, info.allowed));
}

void read_level(std::string_view value, Options& options);
void read_threads(std::string_view value, Options& options);
void read_cpu(std::string_view value, Options& options);
void read_logs(std::string_view value, Options& options);
void read_compiler(std::string_view value, Options& options);
void read_cache(std::string_view value, Options& options);
void read_cache_size(std::string_view value, Options& options);
void read_check(std::string_view value, Options& options);
void read_shadow(std::string_view value, Options& options);
void read_trace_directory(std::string_view value, Options& options);
void read_cuda_path(std::string_view value, Options& options);

constexpr std::string_view threads_allowed = "1 to 1024";
static_assert(cpu::most_threads == 1024);

constexpr std::array table = {
    OptionInfo{"SINTER_LEVEL", "interpret, eager, fused",
               "How a graph is evaluated: slowly by its meaning, or by one kernel a node.",
               read_level},
    OptionInfo{"SINTER_THREADS", threads_allowed,
               "Use at most this many threads; affinity and container quotas hold all the same.",
               read_threads},
    OptionInfo{"SINTER_CPU", "auto, avx512, avx2, portable",
               "Take this code path instead of the best one the machine has.", read_cpu},
    OptionInfo{"SINTER_LOGS", "channels separated by commas, each name, +name or -name",
               "Which log channels are on; `all` names every one.", read_logs},
    OptionInfo{"SINTER_CXX", "a path, or a name on PATH",
               "The C++ compiler for generated kernels; otherwise c++, g++ or clang++.",
               read_compiler},
    OptionInfo{"SINTER_CACHE", "a directory, off",
               "Where compiled kernels are kept; otherwise sinter in the user's cache directory.",
               read_cache},
    OptionInfo{"SINTER_CACHE_SIZE", "bytes, or a number with K, M or G",
               "The most that the kernels on disk may take; those unused longest make room.",
               read_cache_size},
    OptionInfo{"SINTER_CHECK", "nan",
               "Fail at the first node that makes a NaN or infinity, and name it.", read_check},
    OptionInfo{"SINTER_SHADOW", "0, 1",
               "Compare each generated kernel with an interpretation of its ops.", read_shadow},
    OptionInfo{"SINTER_TRACE_DIR", "a directory",
               "Write there what becomes of each graph: nodes, groups, sources, plan, times.",
               read_trace_directory},
    OptionInfo{"SINTER_CUDA_PATH", "a folder",
               "Take CUDA's libraries from this folder, its lib64 or lib.", read_cuda_path},
};

constexpr const OptionInfo& row(std::string_view variable) {
  for (const OptionInfo& info : table)
    if (info.variable == variable) return info;
  throw "no such variable";  // reached only at compile time, as a compile error
}

void read_level(std::string_view value, Options& options) {
  const std::optional<Level> level = parse_level(value);
  if (!level) refuse(row("SINTER_LEVEL"), value);
  options.level = *level;
}

void read_threads(std::string_view value, Options& options) {
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, options.threads);
  if (error != std::errc{} || stop != end || options.threads < 1 ||
      options.threads > cpu::most_threads)
    refuse(row("SINTER_THREADS"), value);
}

void read_cpu(std::string_view value, Options& options) {
  if (value == "auto") options.cpu = CpuPath::automatic;
  else if (value == "avx512") options.cpu = CpuPath::avx512;
  else if (value == "avx2") options.cpu = CpuPath::avx2;
  else if (value == "portable") options.cpu = CpuPath::portable;
  else refuse(row("SINTER_CPU"), value);
}

void read_logs(std::string_view value, Options& options) {
  options.logs = parse_log_channels("SINTER_LOGS", value, LogChannels{});
}

void read_compiler(std::string_view value, Options& options) { options.compiler = value; }

void read_cache(std::string_view value, Options& options) {
  options.disk_cache = value != "off";
  if (options.disk_cache) options.cache_directory = value;
}

void read_cache_size(std::string_view value, Options& options) {
  const std::optional<std::uint64_t> bytes = parse_size(value);
  if (!bytes) refuse(row("SINTER_CACHE_SIZE"), value);
  options.cache_bytes = *bytes;
}

void read_check(std::string_view value, Options& options) {
  if (value != "nan") refuse(row("SINTER_CHECK"), value);
  options.check_nan = true;
}

void read_shadow(std::string_view value, Options& options) {
  if (value != "0" && value != "1") refuse(row("SINTER_SHADOW"), value);
  options.shadow = value == "1";
}

void read_trace_directory(std::string_view value, Options& options) {
  options.trace_directory = value;
}

void read_cuda_path(std::string_view value, Options& options) { options.cuda_path = value; }

void read_surroundings(const Environment& environment, Surroundings& surroundings) {
  surroundings.search_path = environment("PATH").value_or("");
  surroundings.library_path = environment("LD_LIBRARY_PATH").value_or("");
  surroundings.home = environment("HOME").value_or("");
  surroundings.cache_home = environment("XDG_CACHE_HOME").value_or("");
  surroundings.temporary = environment("TMPDIR").value_or("");
}

std::optional<std::string> process_environment(std::string_view variable) {
  const char* value = std::getenv(std::string(variable).c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace

std::string_view to_string(Level level) { return level_names[static_cast<std::size_t>(level)]; }

std::optional<Level> parse_level(std::string_view name) {
  const auto found = std::find(level_names.begin(), level_names.end(), name);
  if (found == level_names.end()) return std::nullopt;
  return static_cast<Level>(found - level_names.begin());
}

std::span<const OptionInfo> option_table() { return table; }

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  if (unit.size() > 1) return std::nullopt;
  constexpr std::string_view units = "KMG";
  const std::size_t place = unit.empty() ? 0 : units.find(unit[0]) + 1;
  if (!unit.empty() && place == 0) return std::nullopt;
  const std::size_t shift = 10 * place;
  if (number > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return number << shift;
}

Options read_options(const Environment& environment) {
  Options options;
  for (const OptionInfo& info : table) {
    const std::optional<std::string> value = environment(info.variable);
    if (value && !value->empty()) info.read(*value, options);
  }
  read_surroundings(environment, options.surroundings);
  return options;
}

const Options& options() {
  static const Options process_options = read_options(process_environment);
  return process_options;
}

}  // namespace sinter
