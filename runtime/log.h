/// \file
/// What sinter tells about its own work: structured records on named channels, all off by default.
///
/// `SINTER_LOGS=recompiles,plan` or set_logs() turn channels on; records go to stderr, or to a sink
/// that a program gives. Everything here may be called from several threads at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "error.h"

namespace sinter {

/// The channels, in the order of log_channel_table(). `warning` is always on and cannot be chosen.
enum class LogChannel : std::uint8_t {
  graph_breaks,
  recompiles,
  perf_hints,
  guards,
  fusion,
  schedule,
  output_code,
  plan,
  cache,
  autotune,
  replay,
  warning,
};

struct LogChannelInfo {
  std::string_view name;
  std::string_view meaning;  ///< What its records tell; "None yet." where nothing writes any.
};

/// The channels that can be turned on.
std::span<const LogChannelInfo> log_channel_table();

/// A set of channels.
struct LogChannels {
  std::uint32_t bits = 0;
  bool has(LogChannel channel) const { return (bits >> static_cast<int>(channel) & 1u) != 0; }
  friend bool operator==(LogChannels, LogChannels) = default;
};

/// Reads `a,b,+c,-d` from left to right. A spec with a plain name begins with none on, one of only
/// `+name` and `-name` changes `current`; `all` names every channel.
/// \throws UsageError `origin: unknown channel "x", known: ...`.
LogChannels parse_log_channels(std::string_view origin, std::string_view spec, LogChannels current);

/// Turns channels on and off; `spec` as in parse_log_channels. \throws UsageError
void set_logs(std::string_view spec, Where where = Where::current());

namespace detail {
inline constexpr std::uint32_t logs_unread = 0x8000'0000u;
/// All ones, so that every channel looks on, until the environment has been read.
inline constinit std::atomic<std::uint32_t> log_bits{0xffff'ffffu};
/// \throws UsageError where SINTER_LOGS or another variable has a bad value.
std::uint32_t read_log_bits();
}  // namespace detail

/// Whether records on `channel` are wanted. One relaxed load, so ask before building a record.
/// \throws UsageError the first time, where the environment has a bad value.
inline bool log_enabled(LogChannel channel) {
  std::uint32_t bits = detail::log_bits.load(std::memory_order_relaxed);
  const std::uint32_t bit = 1u << static_cast<int>(channel);
  if ((bits & bit) == 0) [[likely]]
    return false;
  if ((bits & detail::logs_unread) != 0) bits = detail::read_log_bits();
  return (bits & bit) != 0;
}

struct LogField {
  std::string key;
  std::string value;
};

/// One record. As text: `sinter [channel] [prefix] message: key=value, key=value`.
struct LogRecord {
  LogChannel channel = LogChannel::warning;
  std::string prefix;  ///< `function/recompile`, or empty.
  std::string message;
  std::vector<LogField> fields;
};

std::string to_string(const LogRecord& record);

/// Gives the record to the sink if its channel is on.
void write_log(const LogRecord& record);

/// Shows `message` once in this process for each `key`, whatever channels are on.
void warn(std::string_view key, std::string_view message);

/// Called for every record, on the thread that wrote it; may be called by several at once.
using LogSink = std::function<void(const LogRecord&)>;

/// Replaces the sink and returns the one before; an empty one is stderr, one line a record.
LogSink set_log_sink(LogSink sink);

}  // namespace sinter
