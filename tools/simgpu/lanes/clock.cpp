#include <ctime>
#include <type_traits>

#include "tools/simgpu/lanes/lanes.h"

// Special registers that change while a warp runs (PTX ISA 10.21 to 10.25, written into the
// opcode: mov.u32.%clock), and instructions that only take time or end it (9.7.19).

namespace simgpu::SIMGPU_ISA {
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

[[noreturn]] void trap(Warp& w, const Instruction&) {
  fail(FaultKind::trapped, __builtin_ctz(w.active), 0, "trap");
}
[[noreturn]] void breakpoint(Warp& w, const Instruction&) {
  fail(FaultKind::trapped, __builtin_ctz(w.active), 0, "brkpt, and no debugger is there");
}

template <class T, clockid_t clock, int shift = 0>
void add_clock(OpcodeTable& table, const char* name) {
  for (const char* type : {type_name<T>, type_name<std::make_signed_t<T>>, bits_name<T>})
    table.add({"mov.", type, ".%", name}, {written<T>}, &read_clock<T, clock, shift>);
}

}  // namespace

void clock_opcodes(OpcodeTable& table) {
  add_clock<u32, CLOCK_MONOTONIC>(table, "clock");
  add_clock<u32, CLOCK_MONOTONIC, 32>(table, "clock_hi");
  add_clock<u64, CLOCK_MONOTONIC>(table, "clock64");
  add_clock<u64, CLOCK_REALTIME>(table, "globaltimer");
  add_clock<u32, CLOCK_REALTIME>(table, "globaltimer_lo");
  add_clock<u32, CLOCK_REALTIME, 32>(table, "globaltimer_hi");
  table.add({"nanosleep.u32"}, {"s4"}, &nothing);
  table.add({"pmevent"}, {"i"}, &nothing);
  table.add({"pmevent.mask"}, {"i"}, &nothing);
  table.add({"trap"}, {""}, &trap);
  table.add({"brkpt"}, {""}, &breakpoint);
}

}  // namespace simgpu::SIMGPU_ISA
