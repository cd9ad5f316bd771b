/// \file
/// The error word: how a kernel reports what only the data could show. The kernel writes a defined
/// value, notes the fault and goes on; whoever launched it turns the fault into a UsageError.
#pragma once

#include <cstdint>
#include <mutex>

namespace sinter::kernels {

enum class FaultKind : std::uint8_t { index_out_of_range, division_by_zero };

/// Keeps the fault at the lowest position, so that the report does not depend on threads.
class Fault {
 public:
  void report(FaultKind kind, std::int64_t position, std::int64_t value, std::int64_t limit) {
    const std::lock_guard lock(mutex_);
    if (set_ && position_ <= position) return;
    set_ = true;
    kind_ = kind;
    position_ = position;
    value_ = value;
    limit_ = limit;
  }

  /// To be asked only after the kernel has returned.
  bool set() const { return set_; }
  FaultKind kind() const { return kind_; }
  std::int64_t position() const { return position_; }  ///< element of the kernel's operand
  std::int64_t value() const { return value_; }        ///< the offending index
  std::int64_t limit() const { return limit_; }        ///< indices are valid in [0, limit)

 private:
  std::mutex mutex_;
  bool set_ = false;
  FaultKind kind_{};
  std::int64_t position_ = 0, value_ = 0, limit_ = 0;
};

}  // namespace sinter::kernels
