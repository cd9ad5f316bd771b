#include "runtime/options.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>

#include "runtime/error.h"

namespace sinter {
namespace {

[[noreturn]] void refuse(const OptionInfo& info, std::string_view value) {
  throw UsageError(
      fmt::format("{}: bad value \"{}\", allowed: {}", info.variable, value, info.allowed));
}

void read_level(std::string_view value, Options& options);
void read_threads(std::string_view value, Options& options);
void read_cpu(std::string_view value, Options& options);
void read_logs(std::string_view value, Options& options);

constexpr int most_threads = 1024;

constexpr std::array table = {
    OptionInfo{"SINTER_LEVEL", "interpret, eager",
               "How a graph is evaluated: slowly by its meaning, or by one kernel a node.",
               read_level},
    OptionInfo{"SINTER_THREADS", "1 to 1024",
               "Use at most this many threads; affinity and container quotas hold all the same.",
               read_threads},
    OptionInfo{"SINTER_CPU", "auto, avx512, avx2, portable",
               "Take this code path instead of the best one the machine has.", read_cpu},
    OptionInfo{"SINTER_LOGS", "channels separated by commas, each name, +name or -name",
               "Which log channels are on; `all` names every one.", read_logs},
};

constexpr const OptionInfo& row(std::string_view variable) {
  for (const OptionInfo& info : table)
    if (info.variable == variable) return info;
  throw "no such variable";  // reached only at compile time, as a compile error
}

void read_level(std::string_view value, Options& options) {
  if (value == "interpret") options.level = Level::interpret;
  else if (value == "eager") options.level = Level::eager;
  else refuse(row("SINTER_LEVEL"), value);
}

void read_threads(std::string_view value, Options& options) {
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, options.threads);
  if (error != std::errc{} || stop != end || options.threads < 1 || options.threads > most_threads)
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

std::optional<std::string> process_environment(std::string_view variable) {
  const char* value = std::getenv(std::string(variable).c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace

std::span<const OptionInfo> option_table() { return table; }

Options read_options(const Environment& environment) {
  Options options;
  for (const OptionInfo& info : table) {
    const std::optional<std::string> value = environment(info.variable);
    if (value && !value->empty()) info.read(*value, options);
  }
  return options;
}

const Options& options() {
  static const Options process_options = read_options(process_environment);
  return process_options;
}

}  // namespace sinter
