#include "tools/simgpu/machine/bounds.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/simgpu/machine/fault.h"
#include "tools/simgpu/machine/memory.h"

namespace simgpu {
namespace {

/// Addresses that a null pointer and an index make.
constexpr std::uint64_t null_bytes = 1u << 16;

constexpr const char* name_of(AddressSpace space) {
  switch (space) {
    case AddressSpace::generic: return "generic";
    case AddressSpace::global: return "global";
    case AddressSpace::shared: return "shared";
    case AddressSpace::local: return "local";
  }
  return "";
}

/// `reads 4 bytes`, and how that goes on.
template <class... Arguments>
[[noreturn]] void fail(FaultKind kind, const LaneAccess& access,
                       fmt::format_string<Arguments...> rest, Arguments&&... arguments) {
  throw Fault(kind, access.lane, access.address,
              verb_of(access) + fmt::format(rest, std::forward<Arguments>(arguments)...));
}

std::string text_of(const Allocation& allocation) {
  return fmt::format("allocation {} of {} bytes at {:#x}, made by {}", allocation.number,
                     allocation.bytes, allocation.address, allocation.maker);
}

constexpr const char* verb_of(Access kind) {
  switch (kind) {
    case Access::load: return "reads";
    case Access::store: return "writes";
    case Access::strong_load: return "reads (volatile or atomic)";
    case Access::strong_store: return "writes (volatile or atomic)";
    case Access::atomic: return "updates (atomic)";
  }
  return "";
}

}  // namespace

std::string verb_of(const LaneAccess& access) {
  return fmt::format("{} {} byte{}", verb_of(access.kind), access.bytes,
                     access.bytes == 1 ? "" : "s");
}

void Bounds::begin(const Block& block) {
  block_ = &block;
  const Grid& grid = *block.grid;
  const std::uint64_t warps = grid.block_size.warps();
  std::fill(shared_states_.begin(), shared_states_.end(), state_allocated);
  std::fill_n(shared_states_.data() + grid.kernel->reserved_shared_offset,
              grid.kernel->reserved_shared_bytes, state_allocated | state_initialised);
  local_states_.assign(grid.kernel->local_bytes * warps * warp_size, state_allocated);
  shared_ = {reinterpret_cast<std::uint64_t>(block.shared), block.shared_bytes};
  local_ = {reinterpret_cast<std::uint64_t>(block.local), local_states_.size()};
  parameters_ = {reinterpret_cast<std::uint64_t>(grid.parameters), grid.kernel->parameter_bytes};
}

Bounds::Window Bounds::check(const LaneAccess& access) {
  if (access.address % static_cast<std::uint64_t>(access.bytes) != 0)
    fail(FaultKind::misaligned, access, " at an address that is no multiple of that");
  const DeviceMemory& memory = *block_->grid->memory;
  if (access.space == AddressSpace::shared || shared_.has(access.address)) {
    check_shared(access);
    return Window::shared;
  }
  if (access.space == AddressSpace::local || local_.has(access.address)) {
    check_local(access);
    return Window::local;
  }
  if (parameters_.holds(access) && !access.writes()) return Window::parameters;
  if (memory.holds(access.address, static_cast<std::uint64_t>(access.bytes))) {
    check_states(access, AddressSpace::global, memory.shadow(access.address));
    return Window::global;
  }
  check_host(access);
  return Window::host;
}

void Bounds::check_shared(const LaneAccess& access) {
  if (access.space != AddressSpace::generic && access.space != AddressSpace::shared)
    fail_space(access);
  const Grid& grid = *block_->grid;
  if (!shared_.holds(access))
    fail(FaultKind::out_of_bounds, access,
         " at offset {} of shared memory; its block has {} bytes of it ({} declared, {} given by "
         "the launch)",
         static_cast<std::int64_t>(access.address - shared_.start), shared_.bytes,
         grid.kernel->static_shared_bytes, grid.dynamic_shared_bytes);
  check_states(access, AddressSpace::shared,
               shared_states_.data() + (access.address - shared_.start));
}

void Bounds::check_local(const LaneAccess& access) {
  if (access.space != AddressSpace::generic && access.space != AddressSpace::local)
    fail_space(access);
  const std::uint64_t bytes = block_->grid->kernel->local_bytes;
  const std::uint64_t offset = access.address - local_.start;
  const Piece own = {local_.start + bytes * access.warp->thread(access.lane), bytes};
  if (!own.has(access.address) && local_.has(access.address))
    fail(FaultKind::wrong_space, access,
         " at offset {} of the {} bytes of local memory of its thread, in that of thread {}, which "
         "no other can see",
         static_cast<std::int64_t>(access.address - own.start), bytes, offset / bytes);
  if (!own.holds(access))
    fail(FaultKind::out_of_bounds, access,
         ", not all in the {} bytes of local memory of its thread", bytes);
  check_states(access, AddressSpace::local, local_states_.data() + offset);
}

/// Of an address that is in no other memory. Nobody knows what the host has written there.
void Bounds::check_host(const LaneAccess& access) const {
  const auto window = block_->grid->memory->host().find(access.address);
  if (!window) fail_space(access);
  const std::string where = fmt::format("{} bytes of the host at {:#x}, registered by {}",
                                        window->bytes, window->address, window->maker);
  if (!Piece{window->address, window->bytes}.holds(access))
    fail(FaultKind::out_of_bounds, access, " at offset {} of {}", access.address - window->address,
         where);
  if (!window->closer.empty())
    fail(FaultKind::use_after_free, access, " in {}, unregistered by {}", where, window->closer);
  if (window->read_only && access.writes())
    fail(FaultKind::wrong_space, access, " in {}, for reading only", where);
}

void Bounds::check_states(const LaneAccess& access, AddressSpace space,
                          std::uint8_t* states) const {
  const DeviceMemory& memory = *block_->grid->memory;
  for (int n = 0; n < access.bytes; ++n) {
    const std::uint64_t address = access.address + static_cast<std::uint64_t>(n);
    if (states[n] == state_pending)
      fail(FaultKind::missing_wait, access,
           " of shared memory that a cp.async of this block writes, which its thread has not "
           "waited for");
    if ((states[n] & state_allocated) == 0) fail_global(access, address);
    if (access.reads() && (states[n] & state_initialised) == 0) {
      std::string where = fmt::format("{} memory", name_of(space));
      if (const auto allocation = memory.find(address))
        where = fmt::format("byte {} of {}", address - allocation->address, text_of(*allocation));
      fail(FaultKind::uninitialised, access, ", of which nobody has written byte {}: {}", n, where);
    }
  }
  if (access.writes()) std::fill_n(states, access.bytes, state_allocated | state_initialised);
}

/// Of an access that touches an address in no allocation.
void Bounds::fail_global(const LaneAccess& access, std::uint64_t address) const {
  const DeviceMemory& memory = *block_->grid->memory;
  const auto last = memory.find(address);
  if (last && last->freed)
    fail(FaultKind::use_after_free, access, " in {}, freed by {}", text_of(*last), last->freer);
  const auto near = memory.nearest(address);
  if (!near) fail(FaultKind::out_of_bounds, access, ", but no memory is allocated");
  const std::uint64_t end = near->address + near->bytes;
  const std::string distance = address >= end
                                   ? fmt::format("{} bytes behind the end of", address - end)
                                   : fmt::format("{} bytes before", near->address - address);
  fail(FaultKind::out_of_bounds, access, " at {:#x}, {} {}", access.address, distance,
       text_of(*near));
}

/// An address that is of no space which the opcode may access.
void Bounds::fail_space(const LaneAccess& access) const {
  if (access.address < null_bytes)
    fail(FaultKind::out_of_bounds, access, " at {:#x}: a null pointer", access.address);
  const char* what = "of no memory that the GPU has: a pointer of the host, or none";
  if (shared_.has(access.address)) what = "in shared memory";
  else if (local_.has(access.address)) what = "in local memory";
  else if (parameters_.has(access.address)) what = "in the parameters";
  fail(FaultKind::wrong_space, access, " by a {} address, which is {}", name_of(access.space),
       what);
}

}  // namespace simgpu
