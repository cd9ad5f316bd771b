// Barriers in shared memory: PTX ISA 9.7.13.15 (mbarrier), and the copies in bulk that complete on
// them: 9.7.9.25.4. An object is a word of 64 bits: whom its phase waits for, how many the next one
// will, bytes that are on their way, and the parity of the phase. Names of opcodes are those of
// code/plain_name.h. Clusters have one block.
#include "tools/simgpu/lanes/access.h"
#include "tools/simgpu/machine/pending_copies.h"

namespace simgpu::SIMGPU_ISA {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr U32 most_count = (1u << 20) - 1;

struct Phase {
  U32 pending = 0, expected = 0;  // of 20 bits each
  std::int32_t bytes = 0;         // of 21 bits
  bool odd = false;

  explicit Phase(U64 word)
      : pending(word & most_count),
        expected(word >> 20 & most_count),
        bytes(static_cast<std::int32_t>(static_cast<U32>(word >> 40) << 11) >> 11),
        odd((word >> 63) != 0) {}
  U64 word() const {
    return U64{pending} | U64{expected} << 20 |
           U64{static_cast<U32>(bytes) & ((1u << 21) - 1)} << 40 | U64{odd} << 63;
  }
  void complete() {
    if (pending != 0 || bytes != 0) return;
    pending = expected;
    odd = !odd;
  }
};

constexpr Where places[] = {
    {AddressSpace::generic, true, true, true},
    {AddressSpace::shared, false, true, true},
    {AddressSpace::shared, true, true, true},
};

void require_shared(const Warp& w, const U64* at) {
  const auto shared = reinterpret_cast<U64>(w.block->shared);
  each_active(w, [&](int lane) {
    if (at[lane] - shared >= w.block->shared_bytes)
      fail(FaultKind::wrong_space, lane, at[lane], "an mbarrier outside of shared memory");
  });
}

/// Changes the object of each lane by change(lane, phase, word before).
template <class Change>
SIMGPU_INLINE void update(Warp& w, const Instruction& i, int operand, const Where& where,
                          Change change) {
  alignas(64) U64 at[warp_size];
  prepare<Access::atomic, 8>(w, i, operand, where, at);
  require_shared(w, at);
  each_active(w, [&](int lane) {
    U64 word;
    std::memcpy(&word, bytes(at[lane]), sizeof word);
    Phase phase(word);
    if (phase.expected == 0)
      fail(FaultKind::illegal_instruction, lane, at[lane], "an mbarrier that is not initialised");
    change(lane, phase, word);
    if (phase.bytes > static_cast<std::int32_t>(most_count) ||
        phase.bytes < -static_cast<std::int32_t>(most_count))
      fail(FaultKind::illegal_instruction, lane, at[lane],
           "an mbarrier counts to 2^20 - 1 bytes on their way");
    word = phase.word();
    std::memcpy(bytes(at[lane]), &word, sizeof word);
  });
  learn(w, at);
}

void take_off(int lane, Phase& phase, U32 count) {
  if (count == 0 || count > phase.pending)
    fail(FaultKind::illegal_instruction, lane, 0,
         "more arrive at an mbarrier than its phase waits for");
  phase.pending -= count;
}

template <bool valid>
void set(Warp& w, const Instruction& i, const Where& where) {
  alignas(64) U64 at[warp_size];
  Where plain = where;
  plain.is_strong = plain.is_release = false;
  prepare<Access::store, 8>(w, i, 0, plain, at);
  require_shared(w, at);
  each_active(w, [&](int lane) {
    Phase phase(0);
    if constexpr (valid) {
      phase.pending = phase.expected = lanes<U32>(w, i, 1)[lane];
      if (phase.expected == 0 || phase.expected > most_count)
        fail(FaultKind::illegal_instruction, lane, at[lane],
             "an mbarrier of no or too many threads");
    }
    const U64 word = phase.word();
    std::memcpy(bytes(at[lane]), &word, sizeof word);
  });
}

/// state, [object]{, count}
template <bool counted, bool drops>
void arrive(Warp& w, const Instruction& i, const Where& where) {
  update(w, i, 1, where, [&](int lane, Phase& phase, U64 before) {
    const U32 count = counted ? lanes<U32>(w, i, 2)[lane] : 1;
    take_off(lane, phase, count);
    if constexpr (drops) phase.expected -= count;
    phase.complete();
    lanes<U64>(w, i, 0)[lane] = before;
  });
}
/// state, [object], bytes
template <bool drops>
void expect_and_arrive(Warp& w, const Instruction& i, const Where& where) {
  update(w, i, 1, where, [&](int lane, Phase& phase, U64 before) {
    phase.bytes += static_cast<std::int32_t>(lanes<U32>(w, i, 2)[lane]);
    take_off(lane, phase, 1);
    if constexpr (drops) --phase.expected;
    phase.complete();
    lanes<U64>(w, i, 0)[lane] = before;
  });
}
/// [object], bytes
template <bool completes>
void transfer(Warp& w, const Instruction& i, const Where& where) {
  update(w, i, 0, where, [&](int lane, Phase& phase, U64) {
    const auto count = static_cast<std::int32_t>(lanes<U32>(w, i, 1)[lane]);
    phase.bytes += completes ? -count : count;
    if constexpr (completes) phase.complete();
  });
}

/// done, [object], state or parity: whether that phase is over.
template <bool by_parity>
void wait(Warp& w, const Instruction& i, const Where& where) {
  alignas(64) U64 at[warp_size];
  Where acquire = where;
  acquire.is_release = false;
  prepare<Access::load, 8>(w, i, 1, acquire, at);
  require_shared(w, at);
  U32 over = 0;
  each_active(w, [&](int lane) {
    U64 word;
    std::memcpy(&word, bytes(at[lane]), sizeof word);
    bool odd = false;
    if constexpr (by_parity) odd = (lanes<U32>(w, i, 2)[lane] & 1) != 0;
    else odd = Phase(lanes<U64>(w, i, 2)[lane]).odd;
    over |= U32{Phase(word).odd != odd} << lane;
  });
  write_predicate<false>(w, i, 0, over);
  learn(w, at);
}

/// Arrives when what the thread copies is there: which is at once.
template <bool counts>
void arrive_with_copies(Warp& w, const Instruction& i, const Where& where) {
  w.copies->wait_all(w, w.active);
  update(w, i, 0, where, [&](int lane, Phase& phase, U64) {
    if constexpr (!counts) take_off(lane, phase, 1);  // else one more is waited for, and arrives
    phase.complete();
  });
}

void pending_count(Warp& w, const Instruction& i) {
  each_active(
      w, [&](int lane) { lanes<U32>(w, i, 0)[lane] = Phase(lanes<U64>(w, i, 1)[lane]).pending; });
}

/// `count` bytes of one lane, in the pieces of 16 that a copy in bulk has.
void copy_bulk(Warp& w, int lane, U64 to, U64 from, U32 count, AddressSpace to_space) {
  constexpr U32 piece = 16;
  if (to % piece != 0 || from % piece != 0 || count % piece != 0)
    fail(FaultKind::misaligned, lane, to % piece != 0 ? to : from,
         "a copy in bulk of what is no multiple of 16 bytes");
  const auto other = to_space == AddressSpace::shared ? AddressSpace::global : AddressSpace::shared;
  alignas(64) U64 at[warp_size] = {};
  for (U32 n = 0; n < count && w.block->checks != nullptr; n += piece) {
    at[lane] = from + n;
    w.block->checks->access(w, 1u << lane, at, piece, Access::load, other);
    at[lane] = to + n;
    w.block->checks->access(w, 1u << lane, at, piece, Access::store, to_space);
  }
  std::memcpy(bytes(to), bytes(from), count);
}

/// [to], [from], size, [object]: addresses of shared memory are of 4 bytes or 8.
template <class Address>
void load_bulk(Warp& w, const Instruction& i) {
  alignas(64) U64 to[warp_size], objects[warp_size];
  locate<AddressSpace::shared, Address>(w, i, 0, to);
  const U64 base = reinterpret_cast<U64>(w.block->shared);
  each_active(w, [&](int lane) {
    const U32 count = lanes<U32>(w, i, 2)[lane];
    copy_bulk(w, lane, to[lane], lanes<U64>(w, i, 1)[lane], count, AddressSpace::shared);
    objects[lane] = lanes<Address>(w, i, 3)[lane];
  });
  if (w.block->checks != nullptr) w.block->checks->fence(w, Scope::device);
  each_active(w, [&](int lane) {
    const U64 at = base + objects[lane];
    alignas(64) U64 one[warp_size] = {};
    one[lane] = at;
    if (w.block->checks != nullptr)
      w.block->checks->access(w, 1u << lane, one, 8, Access::atomic, AddressSpace::shared);
    U64 word;
    std::memcpy(&word, bytes(at), sizeof word);
    Phase phase(word);
    phase.bytes -= static_cast<std::int32_t>(lanes<U32>(w, i, 2)[lane]);
    phase.complete();
    word = phase.word();
    std::memcpy(bytes(at), &word, sizeof word);
  });
}

/// [to], [from], size
template <class Address>
void store_bulk(Warp& w, const Instruction& i) {
  alignas(64) U64 to[warp_size];
  locate<AddressSpace::global, U64>(w, i, 0, to);
  const U64 base = reinterpret_cast<U64>(w.block->shared);
  each_active(w, [&](int lane) {
    copy_bulk(w, lane, to[lane], base + lanes<Address>(w, i, 1)[lane], lanes<U32>(w, i, 2)[lane],
              AddressSpace::global);
  });
}

/// Copies in bulk are done at once.
void nothing(Warp&, const Instruction&) {}

#define ROW(name, pattern, place, ...) \
  { name, pattern, SIMGPU_EITHER((in<&__VA_ARGS__, places[place]>)) }
// `before` and `behind` are the operands around that of the object.
#define EVERYWHERE(name, before, behind, ...)                              \
  ROW("mbarrier " name, before "m" behind, 0, __VA_ARGS__),                \
      ROW("mbarrier " name " shared", before "m4" behind, 1, __VA_ARGS__), \
      ROW("mbarrier " name " shared", before "m" behind, 2, __VA_ARGS__)

constexpr Opcode table[] = {
    EVERYWHERE("init", "", " s4", set<true>),
    EVERYWHERE("inval", "", "", set<false>),
    EVERYWHERE("arrive", "d8 ", "", arrive<false, false>),
    EVERYWHERE("arrive", "d8 ", " s4", arrive<true, false>),
    EVERYWHERE("drop", "d8 ", "", arrive<false, true>),
    EVERYWHERE("drop", "d8 ", " s4", arrive<true, true>),
    EVERYWHERE("expect_arrive", "d8 ", " s4", expect_and_arrive<false>),
    EVERYWHERE("expect_drop", "d8 ", " s4", expect_and_arrive<true>),
    EVERYWHERE("expect", "", " s4", transfer<false>),
    EVERYWHERE("complete", "", " s4", transfer<true>),
    EVERYWHERE("wait", "dp ", " s8", wait<false>),
    EVERYWHERE("wait", "dp ", " s8 s4", wait<false>),
    EVERYWHERE("wait parity", "dp ", " s4", wait<true>),
    EVERYWHERE("wait parity", "dp ", " s4 s4", wait<true>),
    EVERYWHERE("copies", "", "", arrive_with_copies<true>),
    EVERYWHERE("copies noinc", "", "", arrive_with_copies<false>),
    {"mbarrier.pending_count.b64", "d4 s8", SIMGPU_EITHER(pending_count)},
    {"bulk copy load", "m4 m s4 m4", SIMGPU_EITHER(load_bulk<U32>)},
    {"bulk copy load", "m4 m s4 m4 s8", SIMGPU_EITHER(load_bulk<U32>)},
    {"bulk copy load", "m m s4 m", SIMGPU_EITHER(load_bulk<U64>)},
    {"bulk copy store", "m m4 s4", SIMGPU_EITHER(store_bulk<U32>)},
    {"bulk copy store", "m m s4", SIMGPU_EITHER(store_bulk<U64>)},
    {"cp.async.bulk.commit_group", "", SIMGPU_EITHER(nothing)},
    {"cp.async.bulk.wait_group", "i", SIMGPU_EITHER(nothing)},
    {"cp.async.bulk.wait_group.read", "i", SIMGPU_EITHER(nothing)},
};

}  // namespace

OpcodeList mbarrier_opcodes() { return {table, sizeof table / sizeof *table, "mbarrier"}; }

}  // namespace simgpu::SIMGPU_ISA
