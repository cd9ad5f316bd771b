/// \file
/// Shadow: what each generated kernel gives, held against what its primitives mean.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "jit/live_values.h"
#include "jit/observer.h"

namespace sinter::jit {

/// Interprets what the generated kernels of an operation stand for (the primitives of a group, the
/// sums of a list, the body of a map) on the values they read, copied before as they may be
/// overwritten, and compares all that they stored: the same bits, all NaNs being equal, for
/// generated kernels have exact and ordered ops alone.
class Shadow final : public Observer {
 public:
  /// Told of each value that differs, as it was given and as it should be, both without gaps.
  using Difference =
      std::function<void(const kernels::ConstView& given, const kernels::ConstView& meant)>;

  explicit Shadow(Difference difference = {}) : difference_(std::move(difference)) {}

  void before_operation(const LiveValues& values, const Operation& operation) override;
  /// \throws InternalError naming the kernel, the first primitive that differs, its user's line,
  /// the element and both values.
  bool after_operation(const LiveValues& values, const Operation& operation) override;

 private:
  Difference difference_;
  std::map<std::uint64_t, Value> read_;  // copies of what the operation was given
};

}  // namespace sinter::jit
