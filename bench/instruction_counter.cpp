#include "bench/instruction_counter.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sinter {

InstructionCounter::InstructionCounter() {
  perf_event_attr event{};
  event.type = PERF_TYPE_HARDWARE;
  event.size = sizeof event;
  event.config = PERF_COUNT_HW_INSTRUCTIONS;
  event.exclude_kernel = 1;
  event.exclude_hv = 1;
  constexpr int this_thread = 0, any_processor = -1, no_group = -1, no_flags = 0;
  descriptor_ = static_cast<int>(
      ::syscall(SYS_perf_event_open, &event, this_thread, any_processor, no_group, no_flags));
}

InstructionCounter::~InstructionCounter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<std::uint64_t> InstructionCounter::read() const {
  std::uint64_t count = 0;
  if (descriptor_ < 0 || ::read(descriptor_, &count, sizeof count) != sizeof count)
    return std::nullopt;
  return count;
}

}  // namespace sinter
