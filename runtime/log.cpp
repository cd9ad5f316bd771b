#include "runtime/log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdio>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "runtime/error.h"
#include "runtime/options.h"

namespace sinter {
namespace {

// A channel whose stage does not exist yet says so.
constexpr std::array table = {
    LogChannelInfo{"graph_breaks", "Where a compiled function was split, and why. None yet."},
    LogChannelInfo{"recompiles", "Why no program fitted: the guard that failed."},
    LogChannelInfo{"perf_hints", "What makes a program slower than it need be, and what to do."},
    LogChannelInfo{"guards", "The guards of each new entry."},
    LogChannelInfo{"fusion", "Which merges were refused, and why."},
    LogChannelInfo{"schedule", "The loop of each group."},
    LogChannelInfo{"output_code", "The generated source."},
    LogChannelInfo{"plan",
                   "What a graph has become: operations, and generated kernels among them."},
    LogChannelInfo{"cache",
                   "Kernels found, compiled or refused on disk; programs dropped for others."},
    LogChannelInfo{"autotune", "What was measured, and what was chosen. None yet."},
    LogChannelInfo{"replay", "What is replayed, and what runs again instead. None yet."},
};
static_assert(table.size() == static_cast<std::size_t>(LogChannel::warning));

constexpr std::uint32_t all_channels = (1u << table.size()) - 1u;
constexpr std::uint32_t warning_bit = 1u << static_cast<int>(LogChannel::warning);

/// Lives until the process ends: records may come from destructors of static objects.
struct LogState {
  std::mutex mutex;
  std::shared_ptr<const LogSink> sink;
  std::set<std::string, std::less<>> warned;
};

LogState& state() {
  static LogState* const forever = new LogState;
  return *forever;
}

std::uint32_t bits_of(std::string_view origin, std::string_view name) {
  if (name == "all") return all_channels;
  for (std::size_t i = 0; i < table.size(); ++i)
    if (table[i].name == name) return 1u << i;
  std::array<std::string_view, table.size()> names;
  for (std::size_t i = 0; i < table.size(); ++i) names[i] = table[i].name;
  throw UsageError(fmt::format("{}: unknown channel \"{}\", known: {}, all", origin, name,
                               fmt::join(names, ", ")));
}

std::string_view name_of(LogChannel channel) {
  return channel == LogChannel::warning ? "warning" : table[static_cast<std::size_t>(channel)].name;
}

void deliver(const LogRecord& record) {
  std::shared_ptr<const LogSink> sink;
  {
    const std::lock_guard lock(state().mutex);
    sink = state().sink;
  }
  if (sink) return (*sink)(record);
  const std::string line = to_string(record) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);  // one call, so that lines do not mix
}

}  // namespace

std::span<const LogChannelInfo> log_channel_table() { return table; }

LogChannels parse_log_channels(std::string_view origin, std::string_view spec,
                               LogChannels current) {
  std::uint32_t added = 0, removed = 0;
  bool plain = false;
  while (!spec.empty()) {
    const std::size_t comma = spec.find(',');
    std::string_view name = spec.substr(0, comma);
    spec.remove_prefix(comma == std::string_view::npos ? spec.size() : comma + 1);
    const char sign = name.empty() ? '\0' : name.front();
    if (sign == '+' || sign == '-') name.remove_prefix(1);
    const std::uint32_t bits = bits_of(origin, name);
    if (sign == '-') {
      removed |= bits;
      added &= ~bits;
    } else {
      removed &= ~bits;
      added |= bits;
      plain = plain || sign != '+';
    }
  }
  const std::uint32_t start = plain ? 0 : current.bits & all_channels;
  return {(start & ~removed) | added};
}

void set_logs(std::string_view spec, Where where) {
  const std::lock_guard lock(state().mutex);
  const std::uint32_t bits = detail::log_bits.load(std::memory_order_relaxed);
  const LogChannels current =
      (bits & detail::logs_unread) != 0 ? options().logs : LogChannels{bits};
  try {
    const LogChannels wanted = parse_log_channels("set_logs", spec, current);
    detail::log_bits.store(wanted.bits | warning_bit, std::memory_order_relaxed);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{} ({})", error.what(), to_string(where)));
  }
}

std::uint32_t detail::read_log_bits() {
  const std::uint32_t wanted = options().logs.bits | warning_bit;
  std::uint32_t expected = 0xffff'ffffu;
  // Another thread may have read them, or called set_logs, in the meantime.
  if (log_bits.compare_exchange_strong(expected, wanted, std::memory_order_relaxed)) return wanted;
  return expected;
}

std::string to_string(const LogRecord& record) {
  std::string text = fmt::format("sinter [{}] ", name_of(record.channel));
  if (!record.prefix.empty()) text += fmt::format("[{}] ", record.prefix);
  text += record.message;
  const char* separator = ": ";
  for (const LogField& field : record.fields) {
    text += fmt::format("{}{}={}", separator, field.key, field.value);
    separator = ", ";
  }
  return text;
}

void write_log(const LogRecord& record) {
  if (log_enabled(record.channel)) deliver(record);
}

void warn(std::string_view key, std::string_view message) {
  {
    const std::lock_guard lock(state().mutex);
    if (!state().warned.emplace(key).second) return;
  }
  deliver({LogChannel::warning, {}, std::string(message), {}});
}

LogSink set_log_sink(LogSink sink) {
  auto replacement = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
  const std::lock_guard lock(state().mutex);
  std::swap(state().sink, replacement);
  return replacement ? *replacement : LogSink{};
}

}  // namespace sinter
