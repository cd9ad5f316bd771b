/// \file
/// Counts of instructions, which a busy machine does not change.
#pragma once

#include <cstdint>
#include <optional>

namespace sinter {

/// The instructions of this thread in user mode, from the processor's own counter.
class InstructionCounter {
 public:
  InstructionCounter();
  ~InstructionCounter();
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;

  /// Since the counter was made; nothing where the machine gives no counter to programs.
  std::optional<std::uint64_t> read() const;

 private:
  int descriptor_;
};

}  // namespace sinter
