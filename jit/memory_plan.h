/// \file
/// Plan: where the values of a run lie in memory, for the sizes of a Layout.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jit/decompose.h"

namespace sinter::jit {

class LiveValues;

/// Values that nobody keeps share one arena; a value that is written over one it takes the place of
/// has its block.
struct MemoryPlan {
  static constexpr std::int64_t outside = -1;

  /// Of each value the bytes from the arena's start, or `outside`: of values that are kept, of
  /// those that show another, and of copies that are made only where strides of a leaf ask for it.
  std::vector<std::int64_t> offsets;
  /// Of each group, for its block_sums in order: where they lie while it runs.
  std::vector<std::vector<std::int64_t>> block_sums;
  std::int64_t bytes = 0;          ///< of the arena
  std::int64_t live = 0;           ///< the most of it that is in use at once
  std::vector<std::int64_t> held;  ///< by all values, kept ones too, while each operation runs
  /// Leaves that values outside may be written over, those of value i from first_leaf[i] on.
  std::vector<Operand> leaves;
  std::vector<std::uint32_t> first_leaf;

  /// The leaves that the value may be written over if their memory lies as it should and nobody
  /// else has it: they are read last where it is written, and no operation fails later.
  std::span<const Operand> leaves_to_overwrite(std::uint32_t value) const {
    return std::span(leaves).subspan(first_leaf[value], first_leaf[value + 1] - first_leaf[value]);
  }
};

/// Plans for values of which none is there yet.
MemoryPlan plan_memory(const LiveValues& values);

}  // namespace sinter::jit
