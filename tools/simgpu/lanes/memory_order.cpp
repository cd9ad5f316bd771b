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

/// What the memory holds is lost: who reads it now reads what nobody has written.
void discard(Warp& w, const Instruction& i) {
  constexpr int size = 128;
  alignas(64) u64 at[warp_size];
  locate(w, i, 0, in_generic, at);
  check<Access::store, size>(w, w.active, at, AddressSpace::generic);
  if (w.block->checks == nullptr) return;
  const ShadowRegion& region = w.block->checks->short_way.global;
  each_active(w, [&](int lane) {
    const std::uint64_t offset = at[lane] - region.base;
    if (offset >= region.bytes) return;
    std::memset(region.states + offset, state_allocated, size);
    region.whole_pages[offset >> page_shift] = 0;  // which it lies in, as a multiple of its size
  });
}

void no_policy(Warp& w, const Instruction& i) {
  write<false>(w, lanes<u64>(w, i, 0), [](int) { return 0; });
}

}  // namespace

void memory_order_opcodes(OpcodeTable& table) {
  table.add({"fence cta"}, {""}, &fence<Scope::block>);
  table.add({"fence gpu"}, {""}, &fence<Scope::device>);
  // The order of accesses by other ways than loads and stores, and caches: there are none here.
  table.add({"fence none"}, {""}, &nothing);
  table.add({"prefetch"}, {"m"}, &nothing);
  table.add({"applypriority"}, {"m s4"}, &nothing);
  // A launch begins when those before it are done: there is nothing to wait for.
  table.add({"griddepcontrol.wait"}, {""}, &nothing);
  table.add({"griddepcontrol.launch_dependents"}, {""}, &nothing);
  table.add({"discard"}, {"m s4"}, &discard);
  table.add({"createpolicy.fractional"}, {"d8"}, &no_policy);
  table.add({"createpolicy.fractional"}, {"d8 s4"}, &no_policy);
  table.add({"createpolicy.range"}, {"d8 m s4 s4"}, &no_policy);
  table.add({"createpolicy.cvt.L2.b64"}, {"d8 s8"}, &no_policy);
}

}  // namespace simgpu::SIMGPU_ISA
