/// \file
/// The log's records, collected for one test.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "runtime/log.h"

namespace sinter::tests {

/// Collects records while alive, with all channels off at the start and at the end.
class LogRecorder {
 public:
  LogRecorder() {
    set_logs("-all");
    previous_ = set_log_sink([this](const LogRecord& record) {
      const std::lock_guard lock(mutex_);
      records.push_back(record);
    });
  }
  ~LogRecorder() {
    set_log_sink(previous_);
    set_logs("-all");
  }
  LogRecorder(const LogRecorder&) = delete;
  LogRecorder& operator=(const LogRecorder&) = delete;

  /// What was written to a channel, as text.
  std::vector<std::string> texts(LogChannel channel) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> found;
    for (const LogRecord& record : records)
      if (record.channel == channel) found.push_back(to_string(record));
    return found;
  }

  std::vector<LogRecord> records;

 private:
  mutable std::mutex mutex_;
  LogSink previous_;
};

}  // namespace sinter::tests
