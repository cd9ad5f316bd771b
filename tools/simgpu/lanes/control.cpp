#include "tools/simgpu/lanes/lanes.h"

namespace simgpu::SIMGPU_ISA {
namespace {

using Reduction = BarrierArrival::Reduction;

SIMGPU_INLINE std::uint32_t first_of(Warp& w, const Instruction& i, int operand) {
  return lanes<std::uint32_t>(w, i, operand)[__builtin_ctz(w.active)];
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

#define BARRIER(name, pattern, ...) \
  { name, pattern, SIMGPU_EITHER((arrive<__VA_ARGS__>)), Control::barrier }
#define BARRIERS(prefix, suffix, aligned)                                                          \
  BARRIER(prefix ".sync" suffix, "s4", aligned, false, true, Reduction::none),                     \
      BARRIER(prefix ".sync" suffix, "s4 s4", aligned, true, true, Reduction::none),               \
      BARRIER(prefix ".arrive" suffix, "s4 s4", aligned, true, false, Reduction::none),            \
      BARRIER(prefix ".red.popc" suffix ".u32", "d4 s4 sp", aligned, false, true,                  \
              Reduction::count),                                                                   \
      BARRIER(prefix ".red.popc" suffix ".u32", "d4 s4 s4 sp", aligned, true, true,                \
              Reduction::count),                                                                   \
      BARRIER(prefix ".red.and" suffix ".pred", "dp s4 sp", aligned, false, true, Reduction::all), \
      BARRIER(prefix ".red.and" suffix ".pred", "dp s4 s4 sp", aligned, true, true,                \
              Reduction::all),                                                                     \
      BARRIER(prefix ".red.or" suffix ".pred", "dp s4 sp", aligned, false, true, Reduction::any),  \
      BARRIER(prefix ".red.or" suffix ".pred", "dp s4 s4 sp", aligned, true, true, Reduction::any)

constexpr Opcode table[] = {
    {"bra", "l", nullptr, nullptr, Control::branch},
    {"bra.uni", "l", nullptr, nullptr, Control::branch},
    {"brx.idx", "s4 t", nullptr, nullptr, Control::select},
    {"brx.idx.uni", "s4 t", nullptr, nullptr, Control::select},
    {"call", "l", nullptr, nullptr, Control::call},
    {"call.uni", "l", nullptr, nullptr, Control::call},
    {"ret", "", nullptr, nullptr, Control::give_back},
    {"ret.uni", "", nullptr, nullptr, Control::give_back},
    {"exit", "", nullptr, nullptr, Control::exit},
    BARRIERS("bar", "", true),
    BARRIERS("bar.cta", "", true),
    BARRIERS("barrier", "", false),
    BARRIERS("barrier.cta", "", false),
    BARRIERS("barrier", ".aligned", true),
    BARRIERS("barrier.cta", ".aligned", true),
};

}  // namespace

OpcodeList control_opcodes() { return {table, sizeof table / sizeof *table, "control"}; }

}  // namespace simgpu::SIMGPU_ISA
