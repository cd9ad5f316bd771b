// Asynchronous copies to shared memory. PTX ISA 9.7.9.25.3 (non-bulk copies): cp.async, and the
// groups by which a thread waits for them.
#include "tools/simgpu/lanes/access.h"
#include "tools/simgpu/machine/pending_copies.h"

namespace simgpu::SIMGPU_ISA {
namespace {

/// What follows the size: how many bytes are read (the rest is zero), or whether none are.
enum class Tail : std::uint8_t { none, size, ignore };

template <int size>
void check_source(Warp& w, std::uint32_t whole, const std::uint64_t* from,
                  const std::uint32_t* read) {
  check<Access::load, size>(w, whole, from, AddressSpace::global,
                            whole == 0xffff'ffffu ? layout<size>(w, from) : Layout::scattered);
  if (w.block->checks == nullptr) return;
  each_active(w, [&](int lane) {
    if (read[lane] == size) return;
    if (read[lane] != 0 && from[lane] % size != 0)
      fail(FaultKind::misaligned, lane, from[lane],
           "the source of cp.async is no multiple of the size of the copy");
    alignas(64) std::uint64_t at[warp_size] = {};
    for (std::uint32_t n = 0; n < read[lane]; ++n) {
      at[lane] = from[lane] + n;
      w.block->checks->access(w, 1u << lane, at, 1, Access::load, AddressSpace::global);
    }
  });
}

template <int size>
void copy(Warp& w, const std::uint64_t* to, const std::uint64_t* from, const std::uint32_t* read) {
  std::uint32_t whole = 0;
  each_active(w, [&](int lane) { whole |= std::uint32_t{read[lane] == size} << lane; });
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
template <bool is_cg, bool is_wide, Tail tail>
void begin_copy(Warp& w, const Instruction& i) {
  alignas(64) std::uint64_t to[warp_size];
  if constexpr (is_wide) locate<AddressSpace::shared, std::uint64_t>(w, i, 0, to);
  else locate<AddressSpace::shared, std::uint32_t>(w, i, 0, to);
  // Only the first address has a number in the instruction.
  const auto* from = lanes<std::uint64_t>(w, i, 1);
  const std::uint32_t size = lanes<std::uint32_t>(w, i, 2)[__builtin_ctz(w.active)];
  std::uint32_t ignored = 0;
  if constexpr (tail == Tail::ignore) ignored = predicate(w, i, 3);
  alignas(64) std::uint32_t read[warp_size] = {};
  each_active(w, [&](int lane) {
    read[lane] = (ignored >> lane & 1u) != 0 ? 0 : size;
    if constexpr (tail == Tail::size) read[lane] = lanes<std::uint32_t>(w, i, 3)[lane];
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
  w.copies->wait(w, w.active, static_cast<std::uint64_t>(i.immediate));
}
void wait_all(Warp& w, const Instruction&) { w.copies->wait_all(w, w.active); }

#define COPY(name, pattern, ...) \
  { name, pattern, SIMGPU_EITHER((begin_copy<__VA_ARGS__>)) }
#define COPIES(name, m, is_cg, is_wide)                        \
  COPY(name, m " m s4", is_cg, is_wide, Tail::none),           \
      COPY(name, m " m s4 s8", is_cg, is_wide, Tail::none),    \
      COPY(name, m " m s4 s4", is_cg, is_wide, Tail::size),    \
      COPY(name, m " m s4 s4 s8", is_cg, is_wide, Tail::size), \
      COPY(name, m " m s4 sp", is_cg, is_wide, Tail::ignore),  \
      COPY(name, m " m s4 sp s8", is_cg, is_wide, Tail::ignore)

constexpr Opcode table[] = {
    COPIES("cp.async", "m4", false, false),
    COPIES("cp.async", "m", false, true),
    COPIES("cp.async cg", "m4", true, false),
    COPIES("cp.async cg", "m", true, true),
    {"cp.async.commit_group", "", SIMGPU_EITHER(commit)},
    {"cp.async.wait_group", "i", SIMGPU_EITHER(wait_group)},
    {"cp.async.wait_all", "", SIMGPU_EITHER(wait_all)},
};

}  // namespace

OpcodeList copy_opcodes() { return {table, sizeof table / sizeof *table, "copy"}; }

}  // namespace simgpu::SIMGPU_ISA
