/// \file
/// What evaluation does beside computing, to find where something goes wrong. Off, it costs
/// nothing.
#pragma once

#include <string>

#include "error.h"

namespace sinter {

/// What is asked for. The environment says it first (options.h), set_inspection afterwards.
struct Inspection {
  /// Every step looks at the floating results it gives. The first node that makes a NaN or an
  /// infinity fails with a UsageError that names the op, its line and the element, as a fault in
  /// the data does: written Variables keep their old values. What a node passes on it has not made:
  /// of a NaN an operand has none, of an infinity all operands are finite and so are the numbers of
  /// the call, so that `where(mask, x, -infinity)` makes nothing. A NaN or infinity that a handle
  /// held before the evaluation began blames nobody. At the level fused a generated kernel whose
  /// results show one is followed by the level eager on the same data, which names the node inside
  /// of it; what arises in a kernel and does not reach its results is not seen.
  bool nan = false;

  /// At the level fused each generated kernel is followed by an interpretation of the ops it stands
  /// for, on the values it read, and everything it stored is compared: the same bits. The first
  /// difference is an InternalError that names the op, its line, the element with both values, and
  /// the kernel. Written Variables keep their old values.
  bool shadow = false;

  /// A directory for the reports of the programs that are built from now on: what was recorded,
  /// fused, generated and planned, and the first run (jit/report.h). Empty for none.
  std::string trace_directory = {};

  friend bool operator==(const Inspection&, const Inspection&) = default;
};

/// What is asked for now: of the environment, until set_inspection is called.
/// \throws UsageError where the environment has a bad value.
Inspection inspection();

/// From the next evaluation on, for the whole process.
void set_inspection(const Inspection& wanted);

}  // namespace sinter
