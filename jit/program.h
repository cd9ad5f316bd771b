/// \file
/// A Program: what was decided about a trace, to be run for every trace that matches it.
///
/// At the levels interpret and eager that is one step a node, the kernel of each, and when each
/// value dies. A Program holds no node, no address, and relies on no size it does not guard.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "jit/eager.h"
#include "jit/size_classes.h"
#include "jit/trace.h"

namespace sinter::jit {

/// What a size class must satisfy for a Program to be used.
struct SizeConstraint {
  Axis axis;             ///< the representative of the class
  std::int64_t low = 0;  ///< low <= size <= high
  std::int64_t high = INT64_MAX;

  bool holds(std::int64_t size) const { return size >= low && size <= high; }
};

class Forms;

inline constexpr std::uint32_t never_dies = UINT32_MAX;

struct ProgramStep {
  EagerKernel kernel;         ///< run is null for views at the level eager
  std::uint32_t first_value;  ///< where its results are in the table of values
  std::uint32_t value_count;
  std::vector<std::uint32_t> dying;  ///< values nobody reads after this step and nobody keeps
};

struct Program {
  std::uint64_t id = 0;  ///< its number in the logs
  std::vector<std::uint32_t> key;
  /// Of the steps whose payload is in the program, in order.
  std::vector<std::shared_ptr<const Payload>> payloads;
  std::vector<SizeConstraint> constraints;
  /// The sizes it was built with, of the leaves and then of the steps: for what the logs say only.
  std::vector<std::int64_t> first_sizes;
  std::vector<ProgramStep> steps;
  std::uint32_t value_count = 0;
  /// For each value the step after which it is gone; never_dies for those that are kept.
  std::vector<std::uint32_t> death;
  /// The number of steps up to the last whose data can make it fail: no Variable is overwritten
  /// before.
  std::size_t fallible_steps = 0;
  /// At the level fused how the same is done in fewer kernels; null where it is not.
  std::shared_ptr<Forms> forms;
};

Program build_program(const Trace& trace, Level level);

}  // namespace sinter::jit
