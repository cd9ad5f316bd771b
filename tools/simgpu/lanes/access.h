/// \file
/// Addresses of an instruction's lanes, checked. Most accesses are of 32 lanes one behind the
/// other, or all at the same address, and nothing is wrong with them: a few vector instructions
/// tell. All others AccessChecks::access looks at, lane by lane, and throws Fault.
///
///     alignas(64) u64 at[warp_size];
///     locate(w, i, 1, in_shared, at);                                  // operand 1, a pattern m4
///     check<Access::load, 16>(w, w.active, at, AddressSpace::shared);  // 16 bytes of each lane
///     ... bytes(at[lane]) ...
#pragma once

#include "tools/simgpu/lanes/cells.h"
#include "tools/simgpu/lanes/lanes.h"
#include "tools/simgpu/machine/checks.h"

namespace simgpu::SIMGPU_ISA {

/// How the accesses of a warp lie.
enum class Layout : u8 {
  scattered,
  contiguous,  ///< each lane is active, and behind the one before
  uniform,     ///< each lane is active, all at the same address
};

SIMGPU_INLINE std::byte* bytes(u64 address) {
  return reinterpret_cast<std::byte*>(address);  // device addresses are the host's
}

/// What an opcode of memory says beside what it moves.
struct Where {
  AddressSpace space{};
  bool is_wide = true;      ///< the address is in a register of 8 bytes
  bool is_strong = false;   ///< volatile, relaxed, acquire ...
  bool is_release = false;  ///< a fence is before it

  constexpr Where plain() const { return {space, is_wide, false, false}; }
  constexpr Where strong() const { return {space, is_wide, true, false}; }
  constexpr Where release() const { return {space, is_wide, true, true}; }
  /// The space in a name of code/opcode_name.h.
  SIMGPU_INLINE constexpr const char* name() const {
    constexpr const char* names[] = {"", " global", " shared", " local"};
    return names[static_cast<int>(space)];
  }
  SIMGPU_INLINE constexpr const char* pattern() const { return is_wide ? "m" : "m4"; }
};
inline constexpr Where in_generic{AddressSpace::generic}, in_global{AddressSpace::global},
    in_local{AddressSpace::local}, in_shared{AddressSpace::shared, false},
    in_shared_wide{AddressSpace::shared};

/// An instruction's function, for one of several places where what it works on may be.
using WherePart = void (*)(Warp& w, const Instruction& i, const Where& where);
template <WherePart part, Where where>
void in(Warp& w, const Instruction& i) {
  static constexpr Where place = where;
  part(w, i, place);
}

/// The host's address of each lane of a memory operand, active or not.
template <class Register>
SIMGPU_INLINE void locate_by(Warp& w, const Instruction& i, int operand, u64 base, u64* to) {
  const Register* from = lanes<Register>(w, i, operand);
  const Register added = static_cast<Register>(i.immediate);
  SIMGPU_VECTORS
  for (int lane = 0; lane < warp_size; ++lane)
    to[lane] = base + static_cast<Register>(from[lane] + added);
}
SIMGPU_INLINE void locate(Warp& w, const Instruction& i, int operand, const Where& where, u64* to) {
  const u64 base = where.space == AddressSpace::shared ? reinterpret_cast<u64>(w.block->shared) : 0;
  if (where.is_wide) locate_by<u64>(w, i, operand, base, to);
  else locate_by<u32>(w, i, operand, base, to);
}

template <int size>
SIMGPU_INLINE Layout layout(const Warp& w, const u64* at) {
  if (w.active != every_lane) return Layout::scattered;
  u64 apart = 0, different = 0;
  for (int lane = 0; lane < warp_size; ++lane)
    apart |= at[lane] ^ (at[0] + static_cast<u64>(lane) * size);
  if (apart == 0) return Layout::contiguous;
  for (int lane = 0; lane < warp_size; ++lane) different |= at[lane] ^ at[0];
  return different == 0 ? Layout::uniform : Layout::scattered;
}

/// Whether all is well with `extent` bytes at an address that plain accesses read or write at once;
/// then it is remembered. False where it takes a closer look. `who` is for TouchedCells.
template <Access kind, int size, int extent>
[[gnu::noinline]] bool is_clean(const ShadowRegion& region, const WarpClock* clock, u64 address,
                                u32 who) {
  static_assert(kind == Access::load || kind == Access::store);
  const u64 offset = address - region.base;
  if (offset >= region.bytes || region.bytes - offset < extent || address % size != 0) return false;
  u8* states = region.states + offset;
  u8 every = state_allocated | state_initialised;
  const u8* whole = region.whole_pages;
  if (whole == nullptr ||
      (whole[offset >> page_shift] & whole[(offset + extent - 1) >> page_shift]) == 0)
    for (int n = 0; n < extent; ++n) every &= states[n];
  constexpr u8 needed =
      kind == Access::load ? state_allocated | state_initialised : state_allocated;
  if ((every & needed) != needed) return false;
  if (clock != nullptr && !is_ordered<kind, size, extent>(region, *clock, offset, who))
    return false;
  if (kind == Access::store && (every & state_initialised) == 0)
    std::memset(states, state_allocated | state_initialised, extent);
  return true;
}

/// Which of the lanes that lie anyhow take a closer look.
template <Access kind, int size, bool of_warp>
[[gnu::noinline]] u32 unclean_lanes(const Warp& w, u32 accessing, const u64* at, AddressSpace space,
                                    const WarpClock* clock) {
  const ShortWay& short_way = w.block->checks->short_way;
  const ShadowRegion& shared = short_way.shared;
  u32 unclean = 0;
  while (accessing != 0) {
    const int lane = __builtin_ctz(accessing);
    if (space == AddressSpace::local) {
      ShadowRegion own = short_way.local;
      const u64 start = own.bytes * (w.index * warp_size + static_cast<u32>(lane));
      own.base += start;
      own.states += start;
      if (!is_clean<kind, size, size>(own, nullptr, at[lane], 0)) unclean |= 1u << lane;
      accessing &= accessing - 1;
      continue;
    }
    // The next lanes often want the same.
    u32 same = 0;
    do {
      same |= accessing & (~accessing + 1);
      accessing &= accessing - 1;
    } while (accessing != 0 && at[__builtin_ctz(accessing)] == at[lane]);
    const bool are_several = (same & (same - 1)) != 0;
    const u32 who = of_warp ? all_of_warp : are_several ? several_lanes : static_cast<u32>(lane);
    const bool of_block = space == AddressSpace::shared ||
                          (space == AddressSpace::generic && at[lane] - shared.base < shared.bytes);
    const bool clean =
        (kind == Access::load || !are_several) &&
        is_clean<kind, size, size>(of_block ? shared : short_way.global, clock, at[lane], who);
    if (!clean) unclean |= same;
  }
  return unclean;
}

/// Checks an access of `size` bytes by each of `accessing`, at host addresses; `of_warp` where the
/// addresses are those of the warp as a whole. Gives the lanes that write where others have:
/// AccessChecks::settle says whether they may. \throws Fault
template <Access kind, int size, bool of_warp = false>
SIMGPU_INLINE u32 check(Warp& w, u32 accessing, const u64* at, AddressSpace space,
                        Layout layout = Layout::scattered) {
  AccessChecks* checks = w.block->checks;
  if (checks == nullptr) return 0;
  if constexpr (kind == Access::load || kind == Access::store) {
    const ShortWay& short_way = checks->short_way;
    const WarpClock* clock = short_way.races ? short_way.clocks + w.index : nullptr;
    const bool is_short = !of_warp && (layout == Layout::contiguous ||
                                       (layout == Layout::uniform && kind == Access::load));
    if (is_short && space != AddressSpace::local) {
      const bool of_block =
          space == AddressSpace::shared || (space == AddressSpace::generic &&
                                            at[0] - short_way.shared.base < short_way.shared.bytes);
      const ShadowRegion& region = of_block ? short_way.shared : short_way.global;
      if (layout == Layout::contiguous
              ? is_clean<kind, size, size * warp_size>(region, clock, at[0], 0)
              : is_clean<kind, size, size>(region, clock, at[0], several_lanes))
        return 0;
    }
    accessing = unclean_lanes<kind, size, of_warp>(w, accessing, at, space, clock);
  }
  if (accessing == 0) return 0;
  return checks->access(w, accessing, at, size, kind, space, of_warp);
}
/// Whether an address is in the shared memory of the block.
SIMGPU_INLINE bool is_shared(const Warp& w, u64 address) {
  return address - reinterpret_cast<u64>(w.block->shared) < w.block->shared_bytes;
}
/// Ends the launch where one of the lanes has an address elsewhere. \throws Fault
SIMGPU_INLINE void need_shared(const Warp& w, u32 mask, const u64* at, const char* problem) {
  each_lane_of(mask, [&](int lane) {
    if (!is_shared(w, at[lane])) fail(FaultKind::wrong_space, lane, at[lane], problem);
  });
}

/// Checks an access by one lane, of any size. \throws Fault
SIMGPU_INLINE void check_lane(Warp& w, int lane, u64 address, int size, Access kind,
                              AddressSpace space) {
  if (w.block->checks == nullptr) return;
  alignas(64) u64 at[warp_size] = {};
  at[lane] = address;
  w.block->checks->access(w, 1u << lane, at, size, kind, space);
}

/// While strong accesses are checked and made: to memory that other blocks see they are one step,
/// so that the cells say in which order those of blocks on other threads happen.
class StrongTurn {
 public:
  SIMGPU_INLINE StrongTurn(const Warp& w, const Where& where)
      : checks_(where.is_strong && where.space != AddressSpace::shared &&
                        where.space != AddressSpace::local
                    ? w.block->checks
                    : nullptr) {
    if (checks_ != nullptr) checks_->begin_strong();
  }
  SIMGPU_INLINE ~StrongTurn() {
    if (checks_ != nullptr) checks_->end_strong();
  }
  StrongTurn(const StrongTurn&) = delete;
  StrongTurn& operator=(const StrongTurn&) = delete;

 private:
  AccessChecks* checks_;
};

struct Prepared {
  Layout layout{};
  u32 contested = 0;  ///< lanes: see check()
};

/// Addresses of the memory operand, for the active lanes; checked. \throws Fault
template <Access kind, int size>
[[gnu::noinline]] Prepared prepare(Warp& w, const Instruction& i, int operand, const Where& where,
                                   u64* at) {
  locate(w, i, operand, where, at);
  const Layout lie = layout<size>(w, at);
  if (where.is_release && w.block->checks != nullptr) w.block->checks->fence(w, Scope::device);
  if (!where.is_strong) {
    const u32 contested = check<kind, size>(w, w.active, at, where.space, lie);
    return {contested == 0 ? lie : Layout::scattered, contested};
  }
  constexpr Access strong = kind == Access::load    ? Access::strong_load
                            : kind == Access::store ? Access::strong_store
                                                    : kind;
  check<strong, size>(w, w.active, at, where.space, lie);
  if (kind != Access::load) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return {lie};
}
/// After a strong access that has read.
SIMGPU_INLINE void learn(Warp& w, const u64* at) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (w.block->checks != nullptr) w.block->checks->learn(w, w.active, at);
}

}  // namespace simgpu::SIMGPU_ISA
