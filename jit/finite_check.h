/// \file
/// Finite check: which node makes the first NaN or infinity (runtime/inspection.h says what
/// counts).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jit/live_values.h"
#include "jit/observer.h"

namespace sinter::jit {

/// What of a view is not finite: the first NaN and the first infinity, counted in row-major order.
struct NotFinite {
  std::optional<std::int64_t> nan, infinity;

  bool any() const { return nan || infinity; }
};

/// Nothing for a dtype without either.
NotFinite find_not_finite(const kernels::ConstView& view);

/// Looks on for one evaluation: first at its Plan, if it has one, and then at the level eager.
class FiniteCheck final : public Observer {
 public:
  explicit FiniteCheck(const Trace& trace);

  /// A failure where the step has made what it gives.
  std::exception_ptr after_step(std::size_t step,
                                std::span<const kernels::ConstView> results) override;

  /// false where a value of the trace is not finite, so that the level eager tells why.
  bool after_operation(const LiveValues& values, const Operation& operation) override;

  /// After the evaluation. \throws InternalError where the Plan had what the level eager has not.
  void finish() const;

 private:
  struct Kinds {
    bool nan = false, infinity = false;
  };
  struct Suspect {
    std::size_t step;
    std::string kernel;
  };

  std::optional<std::size_t> step_of(const Primitives& primitives, PrimitiveId i);
  /// At result `r` of the primitive, which the operation has given.
  void look_at(const LiveValues& values, PrimitiveId i, std::uint32_t r,
               const Operation& operation);
  Kinds read_by(std::size_t step);
  Kinds of_leaf(std::size_t leaf);

  const Trace& trace_;
  std::vector<std::optional<Kinds>> leaves_;         // looked at when they are first read
  std::vector<std::optional<Kinds>> steps_;          // of those that ran at the level eager
  std::vector<std::optional<std::size_t>> step_of_;  // whose value each primitive is
  std::optional<Suspect> suspect_;                   // of the Plan
};

}  // namespace sinter::jit
