#include <ctime>

#include "tools/simgpu/lanes/apply.h"

// Special registers that change while a warp runs (PTX ISA 10.21 to 10.25, written into the
// opcode: mov.u32.%clock), and instructions that only take time or end it (9.7.19).

namespace simgpu {
namespace SIMGPU_ISA {
namespace {

u64 nanoseconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<u64>(now.tv_sec) * 1'000'000'000u + static_cast<u64>(now.tv_nsec);
}

/// The bits of a clock from `shift` on, the same in all lanes. A cycle takes a nanosecond.
template <class T, clockid_t clock, int shift>
void read_clock(Warp& w, const Instruction& i) {
  const auto now = static_cast<T>(nanoseconds(clock) >> shift);
  write<false>(w, lanes<T>(w, i, 0), [&](int) { return now; });
}

void nothing(Warp&, const Instruction&) {}

[[noreturn]] void trap(Warp& w, const Instruction&) {
  fail(FaultKind::trapped, __builtin_ctz(w.active), 0, "trap");
}
[[noreturn]] void breakpoint(Warp& w, const Instruction&) {
  fail(FaultKind::trapped, __builtin_ctz(w.active), 0, "brkpt, and no debugger is there");
}

#define CLOCK(type, name, pattern, T, clock, shift) \
  { "mov" type ".%" name, pattern, SIMGPU_EITHER((read_clock<T, clock, shift>)) }
#define CLOCK_32(name, clock, shift)                                                          \
  CLOCK(".u32", name, "d4", u32, clock, shift), CLOCK(".s32", name, "d4", u32, clock, shift), \
      CLOCK(".b32", name, "d4", u32, clock, shift)
#define CLOCK_64(name, clock)                                                         \
  CLOCK(".u64", name, "d8", u64, clock, 0), CLOCK(".s64", name, "d8", u64, clock, 0), \
      CLOCK(".b64", name, "d8", u64, clock, 0)

constexpr Opcode table[] = {
    CLOCK_32("clock", CLOCK_MONOTONIC, 0),
    CLOCK_32("clock_hi", CLOCK_MONOTONIC, 32),
    CLOCK_64("clock64", CLOCK_MONOTONIC),
    CLOCK_64("globaltimer", CLOCK_REALTIME),
    CLOCK_32("globaltimer_lo", CLOCK_REALTIME, 0),
    CLOCK_32("globaltimer_hi", CLOCK_REALTIME, 32),
    {"nanosleep.u32", "s4", SIMGPU_EITHER(nothing)},
    {"pmevent", "i", SIMGPU_EITHER(nothing)},
    {"pmevent.mask", "i", SIMGPU_EITHER(nothing)},
    {"trap", "", SIMGPU_EITHER(trap)},
    {"brkpt", "", SIMGPU_EITHER(breakpoint)},
};

}  // namespace

OpcodeList clock_opcodes() { return {table, sizeof table / sizeof *table, "clock"}; }

}  // namespace SIMGPU_ISA
}  // namespace simgpu
