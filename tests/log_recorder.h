/// \file
/// The log's records, collected for one test.
#pragma once

#include <mutex>
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

  std::vector<LogRecord> records;

 private:
  std::mutex mutex_;
  LogSink previous_;
};

}  // namespace sinter::tests
