// What orders accesses, and what only speaks to caches. PTX ISA 9.7.13.4 (membar, fence), 9.7.9.15
// (prefetch), 9.7.9.16 (applypriority), 9.7.9.17 (discard), 9.7.9.18 (createpolicy), 9.7.13.13
// (griddepcontrol).
#include "tools/simgpu/lanes/access.h"

namespace simgpu::SIMGPU_ISA {
namespace {

template <Scope scope>
void fence(Warp& w, const Instruction&) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (w.block->checks != nullptr) w.block->checks->fence(w, scope);
}

/// Caches and the order of accesses by other ways than loads and stores: there are none here.
void nothing(Warp&, const Instruction&) {}

/// What the memory holds is lost: who reads it now reads what nobody has written.
void discard(Warp& w, const Instruction& i) {
  constexpr int size = 128;
  alignas(64) std::uint64_t at[warp_size];
  locate<AddressSpace::generic, std::uint64_t>(w, i, 0, at);
  check<AddressSpace::generic, Access::store, size>(w, w.active, at);
  if (w.block->checks == nullptr) return;
  const ShadowRegion& region = w.block->checks->short_way.global;
  each_active(w, [&](int lane) {
    if (at[lane] - region.base < region.bytes)
      std::memset(region.states + (at[lane] - region.base), state_allocated, size);
  });
}

template <bool all>
void no_policy(Warp& w, const Instruction& i) {
  write<all>(w, lanes<std::uint64_t>(w, i, 0), [](int) { return 0; });
}

constexpr Opcode table[] = {
    {"fence cta", "", SIMGPU_EITHER(fence<Scope::block>)},
    {"fence gpu", "", SIMGPU_EITHER(fence<Scope::device>)},
    {"fence none", "", SIMGPU_EITHER(nothing)},
    // A launch begins when those before it are done: there is nothing to wait for.
    {"griddepcontrol.wait", "", SIMGPU_EITHER(nothing)},
    {"griddepcontrol.launch_dependents", "", SIMGPU_EITHER(nothing)},
    {"prefetch", "m", SIMGPU_EITHER(nothing)},
    {"applypriority", "m s4", SIMGPU_EITHER(nothing)},
    {"discard", "m s4", SIMGPU_EITHER(discard)},
    {"createpolicy.fractional", "d8", SIMGPU_BOTH(no_policy)},
    {"createpolicy.fractional", "d8 s4", SIMGPU_BOTH(no_policy)},
    {"createpolicy.range", "d8 m s4 s4", SIMGPU_BOTH(no_policy)},
    {"createpolicy.cvt.L2.b64", "d8 s8", SIMGPU_BOTH(no_policy)},
};

}  // namespace

OpcodeList memory_order_opcodes() { return {table, sizeof table / sizeof *table, "memory order"}; }

}  // namespace simgpu::SIMGPU_ISA
