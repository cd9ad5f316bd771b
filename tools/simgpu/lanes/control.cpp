#include "tools/simgpu/lanes/lanes.h"

// Branches, calls (PTX ISA 9.7.12), which the scheduler runs, and barriers of a block (9.7.13.1).

namespace simgpu::SIMGPU_ISA {
namespace {

using Reduction = BarrierArrival::Reduction;

SIMGPU_INLINE u32 first_of(Warp& w, const Instruction& i, int operand) {
  return lanes<u32>(w, i, operand)[__builtin_ctz(w.active)];
}

/// The number of the barrier is at operand `at`, then the threads if `counted`, then a predicate.
template <bool aligned, bool counted, bool waits, Reduction reduction>
void arrive(Warp& w, const Instruction& i) {
  constexpr int at = reduction == Reduction::none ? 0 : 1;
  w.arrival.barrier = first_of(w, i, at);
  w.arrival.threads = counted ? first_of(w, i, at + 1) : 0;
  w.arrival.waits = waits;
  w.arrival.aligned = aligned;
  w.arrival.reduction = reduction;
  w.arrival.predicate =
      reduction == Reduction::none ? 0 : predicate(w, i, at + (counted ? 2 : 1)) & w.active;
}

template <bool aligned>
void add_barriers(OpcodeTable& table, const char* name, const char* suffix) {
  const auto add = [&]<bool counted, bool waits, Reduction reduction>(
                       const char* what, const char* type, Parts pattern) {
    table.add({name, what, suffix, type}, pattern, &arrive<aligned, counted, waits, reduction>,
              Control::barrier);
  };
  add.template operator()<true, false, Reduction::none>(".arrive", "", {"s4 s4"});
  each_flag([&]<bool counted>() {
    const char* threads = when(counted, " s4");
    add.template operator()<counted, true, Reduction::none>(".sync", "", {"s4", threads});
    add.template operator()<counted, true, Reduction::count>(".red.popc", ".u32",
                                                             {"d4 s4", threads, " sp"});
    add.template operator()<counted, true, Reduction::all>(".red.and", ".pred",
                                                           {"dp s4", threads, " sp"});
    add.template operator()<counted, true, Reduction::any>(".red.or", ".pred",
                                                           {"dp s4", threads, " sp"});
  });
}

}  // namespace

void control_opcodes(OpcodeTable& table) {
  for (const char* uniform : {"", ".uni"}) {
    table.add({"bra", uniform}, {"l"}, nullptr, Control::branch);
    table.add({"brx.idx", uniform}, {"s4 t"}, nullptr, Control::select);
    table.add({"call", uniform}, {"l"}, nullptr, Control::call);
    table.add({"ret", uniform}, {""}, nullptr, Control::ret);
  }
  table.add({"exit"}, {""}, nullptr, Control::exit);
  for (const char* name : {"bar", "bar.cta"}) add_barriers<true>(table, name, "");
  for (const char* name : {"barrier", "barrier.cta"}) {
    add_barriers<false>(table, name, "");
    add_barriers<true>(table, name, ".aligned");
  }
}

}  // namespace simgpu::SIMGPU_ISA
