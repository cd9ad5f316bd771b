// Asynchronous copies to shared memory. PTX ISA 9.7.9.25.3 (non-bulk copies): cp.async, and the
// groups by which a thread waits for them.
#include "tools/simgpu/lanes/access.h"
#include "tools/simgpu/machine/pending_copies.h"

namespace simgpu::SIMGPU_ISA {
namespace {

/// What follows the size: how many bytes are read (the rest is zero), or whether none are.
enum class Tail : u8 { none, size, ignore };

template <int size>
void check_source(Warp& w, u32 whole, const u64* from, const u32* read) {
  check<Access::load, size>(w, whole, from, AddressSpace::global,
                            whole == every_lane ? layout<size>(w, from) : Layout::scattered);
  if (w.block->checks == nullptr) return;
  each_active(w, [&](int lane) {
    if (read[lane] == size) return;
    if (read[lane] != 0 && from[lane] % size != 0)
      fail(FaultKind::misaligned, lane, from[lane],
           "the source of cp.async is no multiple of the size of the copy");
    for (u32 n = 0; n < read[lane]; ++n)
      check_lane(w, lane, from[lane] + n, 1, Access::load, AddressSpace::global);
  });
}

template <int size>
void copy(Warp& w, const u64* to, const u64* from, const u32* read) {
  u32 whole = 0;
  each_active(w, [&](int lane) { whole |= u32{read[lane] == size} << lane; });
  check_source<size>(w, whole, from, read);
  check<Access::store, size>(w, w.active, to, AddressSpace::shared, layout<size>(w, to));
  each_active(w, [&](int lane) {
    alignas(16) std::byte data[PendingCopies::most_bytes] = {};
    if (read[lane] == size) std::memcpy(data, bytes(from[lane]), size);
    else if (read[lane] != 0) std::memcpy(data, bytes(from[lane]), read[lane]);
    w.copies->add(w, lane, to[lane], data, size);
  });
}

/// cp.async [to], [from], size{, size read | ignored}{, policy}
template <bool is_cg, Where to_where, Tail tail>
void begin_copy(Warp& w, const Instruction& i) {
  alignas(64) u64 to[warp_size];
  locate(w, i, 0, to_where, to);
  // Only the first address has a number in the instruction.
  const auto* from = lanes<u64>(w, i, 1);
  const u32 size = lanes<u32>(w, i, 2)[__builtin_ctz(w.active)];
  u32 ignored = 0;
  if constexpr (tail == Tail::ignore) ignored = predicate(w, i, 3);
  alignas(64) u32 read[warp_size] = {};
  each_active(w, [&](int lane) {
    read[lane] = (ignored >> lane & 1u) != 0 ? 0 : size;
    if constexpr (tail == Tail::size) read[lane] = lanes<u32>(w, i, 3)[lane];
    if (read[lane] > size)
      fail(FaultKind::illegal_instruction, lane, 0, "cp.async reads more bytes than it writes");
  });
  if (size == 16) copy<16>(w, to, from, read);
  else if (size == 8 && !is_cg) copy<8>(w, to, from, read);
  else if (size == 4 && !is_cg) copy<4>(w, to, from, read);
  else
    fail(FaultKind::illegal_instruction, Fault::every_lane, 0,
         "cp.async copies 4, 8 or 16 bytes, and with .cg 16");
}

void commit(Warp& w, const Instruction&) { w.copies->commit(w.active); }
void wait_group(Warp& w, const Instruction& i) {
  w.copies->wait(w, w.active, static_cast<u64>(i.immediate));
}
void wait_all(Warp& w, const Instruction&) { w.copies->wait_all(w, w.active); }

/// Each with a cache policy behind it and without.
template <bool is_cg, Where to>
void add_copies(OpcodeTable& table) {
  const auto add = [&]<Tail tail>(const char* behind) {
    for (const char* policy : {"", " s8"})
      table.add({"cp.async", when(is_cg, " cg")}, {to.pattern(), " m s4", behind, policy},
                &begin_copy<is_cg, to, tail>);
  };
  add.template operator()<Tail::none>("");
  add.template operator()<Tail::size>(" s4");
  add.template operator()<Tail::ignore>(" sp");
}

}  // namespace

void copy_opcodes(OpcodeTable& table) {
  each_flag([&]<bool is_cg>() {
    add_copies<is_cg, in_shared>(table);
    add_copies<is_cg, in_shared_wide>(table);
  });
  table.add({"cp.async.commit_group"}, {""}, &commit);
  table.add({"cp.async.wait_group"}, {"i"}, &wait_group);
  table.add({"cp.async.wait_all"}, {""}, &wait_all);
}

}  // namespace simgpu::SIMGPU_ISA
