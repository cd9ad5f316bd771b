// Barriers in shared memory: PTX ISA 9.7.13.15 (mbarrier), and the copies in bulk that complete on
// them: 9.7.9.25.4. An object is a word of 64 bits: whom its phase waits for, how many the next one
// will, bytes that are on their way, and the parity of the phase. Names of opcodes are those of
// code/opcode_name.h. Clusters have one block.
#include "tools/simgpu/lanes/access.h"
#include "tools/simgpu/machine/pending_copies.h"

namespace simgpu::SIMGPU_ISA {
namespace {

constexpr u32 most_count = (1u << 20) - 1;

struct Phase {
  u32 pending = 0, expected = 0;  // of 20 bits each
  s32 bytes = 0;                  // of 21 bits
  bool odd = false;

  explicit Phase(u64 word)
      : pending(word & most_count),
        expected(word >> 20 & most_count),
        bytes(static_cast<s32>(static_cast<u32>(word >> 40) << 11) >> 11),
        odd((word >> 63) != 0) {}
  u64 word() const {
    return u64{pending} | u64{expected} << 20 |
           u64{static_cast<u32>(bytes) & ((1u << 21) - 1)} << 40 | u64{odd} << 63;
  }
  void complete() {
    if (pending != 0 || bytes != 0) return;
    pending = expected;
    odd = !odd;
  }
};

void require_shared(const Warp& w, const u64* at) {
  need_shared(w, w.active, at, "an mbarrier outside of shared memory");
}

Phase read_phase(u64 at) {
  u64 word;
  std::memcpy(&word, bytes(at), sizeof word);
  return Phase(word);
}
void write_phase(u64 at, const Phase& phase) {
  const u64 word = phase.word();
  std::memcpy(bytes(at), &word, sizeof word);
}

/// Changes the object of each lane by change(lane, phase).
template <class Change>
SIMGPU_INLINE void update(Warp& w, const Instruction& i, int operand, const Where& where,
                          Change change) {
  alignas(64) u64 at[warp_size];
  prepare<Access::atomic, 8>(w, i, operand, where, at);
  require_shared(w, at);
  each_active(w, [&](int lane) {
    Phase phase = read_phase(at[lane]);
    if (phase.expected == 0)
      fail(FaultKind::illegal_instruction, lane, at[lane], "an mbarrier that is not initialised");
    change(lane, phase);
    if (phase.bytes > static_cast<s32>(most_count) || phase.bytes < -static_cast<s32>(most_count))
      fail(FaultKind::illegal_instruction, lane, at[lane],
           "an mbarrier counts to 2^20 - 1 bytes on their way");
    write_phase(at[lane], phase);
  });
  learn(w, at);
}

void take_off(int lane, Phase& phase, u32 count) {
  if (count == 0 || count > phase.pending)
    fail(FaultKind::illegal_instruction, lane, 0,
         "more arrive at an mbarrier than its phase waits for");
  phase.pending -= count;
}

template <bool valid>
void set(Warp& w, const Instruction& i, const Where& where) {
  alignas(64) u64 at[warp_size];
  prepare<Access::store, 8>(w, i, 0, where.plain(), at);
  require_shared(w, at);
  each_active(w, [&](int lane) {
    Phase phase(0);
    if constexpr (valid) {
      phase.pending = phase.expected = lanes<u32>(w, i, 1)[lane];
      if (phase.expected == 0 || phase.expected > most_count)
        fail(FaultKind::illegal_instruction, lane, at[lane],
             "an mbarrier of no or too many threads");
    }
    write_phase(at[lane], phase);
  });
}

/// What the third operand of an arrival says.
enum class Third : u8 { none, count, bytes };

/// state, [object]{, count or bytes}
template <Third third, bool drops>
void arrive(Warp& w, const Instruction& i, const Where& where) {
  update(w, i, 1, where, [&](int lane, Phase& phase) {
    const u64 before = phase.word();
    const u32 said = third == Third::none ? 1 : lanes<u32>(w, i, 2)[lane];
    const u32 count = third == Third::bytes ? 1 : said;
    if constexpr (third == Third::bytes) phase.bytes += static_cast<s32>(said);
    take_off(lane, phase, count);
    if constexpr (drops) phase.expected -= count;
    phase.complete();
    lanes<u64>(w, i, 0)[lane] = before;
  });
}
/// [object], bytes
template <bool completes>
void transfer(Warp& w, const Instruction& i, const Where& where) {
  update(w, i, 0, where, [&](int lane, Phase& phase) {
    const auto count = static_cast<s32>(lanes<u32>(w, i, 1)[lane]);
    phase.bytes += completes ? -count : count;
    if constexpr (completes) phase.complete();
  });
}

/// done, [object], state or parity: whether that phase is over.
template <bool by_parity>
void wait(Warp& w, const Instruction& i, const Where& where) {
  alignas(64) u64 at[warp_size];
  prepare<Access::load, 8>(w, i, 1, where.strong(), at);
  require_shared(w, at);
  u32 over = 0;
  each_active(w, [&](int lane) {
    bool odd = false;
    if constexpr (by_parity) odd = (lanes<u32>(w, i, 2)[lane] & 1) != 0;
    else odd = Phase(lanes<u64>(w, i, 2)[lane]).odd;
    over |= u32{read_phase(at[lane]).odd != odd} << lane;
  });
  write_predicate<false>(w, i, 0, over);
  learn(w, at);
}

/// Arrives when what the thread copies is there: which is at once.
template <bool counts>
void arrive_with_copies(Warp& w, const Instruction& i, const Where& where) {
  w.copies->wait_all(w, w.active);
  update(w, i, 0, where, [&](int lane, Phase& phase) {
    if constexpr (!counts) take_off(lane, phase, 1);  // else one more is waited for, and arrives
    phase.complete();
  });
}

void pending_count(Warp& w, const Instruction& i) {
  each_active(
      w, [&](int lane) { lanes<u32>(w, i, 0)[lane] = Phase(lanes<u64>(w, i, 1)[lane]).pending; });
}

/// `count` bytes of one lane, in the pieces of 16 that a copy in bulk has.
void copy_bulk(Warp& w, int lane, u64 to, u64 from, u32 count, AddressSpace to_space) {
  constexpr u32 piece = 16;
  if (to % piece != 0 || from % piece != 0 || count % piece != 0)
    fail(FaultKind::misaligned, lane, to % piece != 0 ? to : from,
         "a copy in bulk of what is no multiple of 16 bytes");
  const auto other = to_space == AddressSpace::shared ? AddressSpace::global : AddressSpace::shared;
  for (u32 n = 0; n < count; n += piece) {
    check_lane(w, lane, from + n, piece, Access::load, other);
    check_lane(w, lane, to + n, piece, Access::store, to_space);
  }
  std::memcpy(bytes(to), bytes(from), count);
}

/// [to], [from], size, [object]: addresses of shared memory are of 4 bytes or 8.
template <class Address>
void load_bulk(Warp& w, const Instruction& i) {
  alignas(64) u64 to[warp_size], objects[warp_size];
  locate(w, i, 0, {AddressSpace::shared, sizeof(Address) == 8}, to);
  const u64 base = reinterpret_cast<u64>(w.block->shared);
  each_active(w, [&](int lane) {
    const u32 count = lanes<u32>(w, i, 2)[lane];
    copy_bulk(w, lane, to[lane], lanes<u64>(w, i, 1)[lane], count, AddressSpace::shared);
    objects[lane] = lanes<Address>(w, i, 3)[lane];
  });
  if (w.block->checks != nullptr) w.block->checks->fence(w, Scope::device);
  each_active(w, [&](int lane) {
    const u64 at = base + objects[lane];
    check_lane(w, lane, at, 8, Access::atomic, AddressSpace::shared);
    Phase phase = read_phase(at);
    phase.bytes -= static_cast<s32>(lanes<u32>(w, i, 2)[lane]);
    phase.complete();
    write_phase(at, phase);
  });
}

/// [to], [from], size
template <class Address>
void store_bulk(Warp& w, const Instruction& i) {
  alignas(64) u64 to[warp_size];
  locate(w, i, 0, in_global, to);
  const u64 base = reinterpret_cast<u64>(w.block->shared);
  each_active(w, [&](int lane) {
    copy_bulk(w, lane, to[lane], base + lanes<Address>(w, i, 1)[lane], lanes<u32>(w, i, 2)[lane],
              AddressSpace::global);
  });
}

/// Adds an opcode on an object in each place that has one; `before` and `behind` are the operands
/// around that.
template <WherePart part>
void add(OpcodeTable& table, const char* name, const char* before, const char* behind) {
  each_value<in_generic, in_shared, in_shared_wide>([&]<Where where>() {
    table.add({"mbarrier ", name, where.name()}, {before, where.pattern(), behind},
              &in<part, where.release()>);
  });
}

template <bool drops>
void add_arrivals(OpcodeTable& table, const char* name, const char* name_with_bytes) {
  add<arrive<Third::none, drops>>(table, name, "d8 ", "");
  add<arrive<Third::count, drops>>(table, name, "d8 ", " s4");
  add<arrive<Third::bytes, drops>>(table, name_with_bytes, "d8 ", " s4");
}

}  // namespace

void mbarrier_opcodes(OpcodeTable& table) {
  add<set<true>>(table, "init", "", " s4");
  add<set<false>>(table, "inval", "", "");
  add_arrivals<false>(table, "arrive", "expect_arrive");
  add_arrivals<true>(table, "drop", "expect_drop");
  add<transfer<false>>(table, "expect", "", " s4");
  add<transfer<true>>(table, "complete", "", " s4");
  add<wait<false>>(table, "wait", "dp ", " s8");
  add<wait<false>>(table, "wait", "dp ", " s8 s4");
  add<wait<true>>(table, "wait parity", "dp ", " s4");
  add<wait<true>>(table, "wait parity", "dp ", " s4 s4");
  add<arrive_with_copies<true>>(table, "copies", "", "");
  add<arrive_with_copies<false>>(table, "copies noinc", "", "");
  table.add({"mbarrier.pending_count.b64"}, {"d4 s8"}, &pending_count);
  table.add({"bulk copy load"}, {"m4 m s4 m4"}, &load_bulk<u32>);
  table.add({"bulk copy load"}, {"m4 m s4 m4 s8"}, &load_bulk<u32>);
  table.add({"bulk copy load"}, {"m m s4 m"}, &load_bulk<u64>);
  table.add({"bulk copy store"}, {"m m4 s4"}, &store_bulk<u32>);
  table.add({"bulk copy store"}, {"m m s4"}, &store_bulk<u64>);
  // Copies in bulk are done at once.
  table.add({"cp.async.bulk.commit_group"}, {""}, &nothing);
  table.add({"cp.async.bulk.wait_group"}, {"i"}, &nothing);
  table.add({"cp.async.bulk.wait_group.read"}, {"i"}, &nothing);
}

}  // namespace simgpu::SIMGPU_ISA
