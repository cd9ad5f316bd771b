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

constexpr const char* name_of(Bounds::Window window) {
  switch (window) {
    case Bounds::Window::global: return "global";
    case Bounds::Window::shared: return "shared";
    case Bounds::Window::local: return "local";
    case Bounds::Window::parameters: return "parameter";
    case Bounds::Window::host: return "registered";
  }
  return "";
}

[[noreturn]] void fail_at(FaultKind kind, const LaneAccess& access, const std::string& problem) {
  throw Fault(kind, access.lane, access.address, problem);
}

std::string text_of(const Allocation& allocation) {
  return fmt::format("allocation {} of {} bytes at {:#x}, made by {}", allocation.number,
                     allocation.bytes, allocation.address, allocation.maker);
}

}  // namespace

std::string verb_of(const LaneAccess& access) {
  const char* verb = "";
  switch (access.kind) {
    case Access::load: verb = "reads"; break;
    case Access::store: verb = "writes"; break;
    case Access::strong_load: verb = "reads (volatile or atomic)"; break;
    case Access::strong_store: verb = "writes (volatile or atomic)"; break;
    case Access::atomic: verb = "updates (atomic)"; break;
  }
  return fmt::format("{} {} byte{}", verb, access.bytes, access.bytes == 1 ? "" : "s");
}

void Bounds::begin(const Block& block) {
  block_ = &block;
  std::fill(shared_states_.begin(), shared_states_.end(), state_allocated);
  const std::uint64_t threads = (block.grid->block_size.count() + warp_size - 1) / warp_size;
  local_states_.assign(local_bytes() * threads * warp_size, state_allocated);
}

Bounds::Window Bounds::check(const LaneAccess& access) {
  if (access.address % static_cast<std::uint64_t>(access.bytes) != 0)
    fail_at(FaultKind::misaligned, access,
            fmt::format("{} at an address that is no multiple of that", verb_of(access)));
  const Window window = window_of(access);
  switch (window) {
    case Window::global:
      check_states(access, window, block_->grid->memory->shadow(access.address));
      break;
    case Window::shared:
      check_states(access, window,
                   shared_states_.data() +
                       (access.address - reinterpret_cast<std::uint64_t>(block_->shared)));
      break;
    case Window::local:
      check_states(access, window, local_states_.data() + local_offset(access.address));
      break;
    case Window::host: check_host(access); break;
    case Window::parameters: break;
  }
  return window;
}

/// Where all of its bytes are.
Bounds::Window Bounds::window_of(const LaneAccess& access) const {
  const std::uint64_t size = static_cast<std::uint64_t>(access.bytes);
  const auto lies_in = [&](const std::byte* start, std::uint64_t bytes) {
    return access.address - reinterpret_cast<std::uint64_t>(start) < bytes;
  };
  const auto fits = [&](const std::byte* start, std::uint64_t bytes) {
    return bytes - (access.address - reinterpret_cast<std::uint64_t>(start)) >= size;
  };
  const bool any = access.space == AddressSpace::generic;
  if (access.space == AddressSpace::shared || lies_in(block_->shared, block_->shared_bytes)) {
    if (!any && access.space != AddressSpace::shared) fail_space(access);
    if (!lies_in(block_->shared, block_->shared_bytes) ||
        !fits(block_->shared, block_->shared_bytes))
      fail_bounds(access, Window::shared, 0);
    return Window::shared;
  }
  const std::byte* own = block_->local + local_bytes() * access.warp->thread(access.lane);
  if (access.space == AddressSpace::local || lies_in(block_->local, local_states_.size())) {
    if (!any && access.space != AddressSpace::local) fail_space(access);
    if (!lies_in(own, local_bytes()) && lies_in(block_->local, local_states_.size()))
      fail_at(FaultKind::wrong_space, access,
              fmt::format("{} of the local memory of thread {}, which no other can see",
                          verb_of(access), local_offset(access.address) / local_bytes()));
    if (!lies_in(own, local_bytes()) || !fits(own, local_bytes()))
      fail_bounds(access, Window::local, 0);
    return Window::local;
  }
  const Grid& grid = *block_->grid;
  if (lies_in(grid.parameters, grid.kernel->parameter_bytes) &&
      fits(grid.parameters, grid.kernel->parameter_bytes) && !access.writes())
    return Window::parameters;
  return grid.memory->holds(access.address, size) ? Window::global : Window::host;
}

/// Of an address that is in no other memory. Nobody knows what the host has written there.
void Bounds::check_host(const LaneAccess& access) const {
  const auto window = block_->grid->memory->host().find(access.address);
  if (!window) fail_space(access);
  const std::string where = fmt::format("{} bytes of the host at {:#x}, registered by {}",
                                        window->bytes, window->address, window->maker);
  const std::uint64_t offset = access.address - window->address;
  if (offset >= window->bytes || window->bytes - offset < static_cast<std::uint64_t>(access.bytes))
    fail_at(FaultKind::out_of_bounds, access,
            fmt::format("{} at offset {} of {}", verb_of(access), offset, where));
  if (!window->closer.empty())
    fail_at(FaultKind::use_after_free, access,
            fmt::format("{} in {}, unregistered by {}", verb_of(access), where, window->closer));
  if (window->read_only && access.writes())
    fail_at(FaultKind::wrong_space, access,
            fmt::format("{} in {}, for reading only", verb_of(access), where));
}

void Bounds::check_states(const LaneAccess& access, Window window, std::uint8_t* states) const {
  for (int n = 0; n < access.bytes; ++n) {
    if (states[n] == state_pending)
      fail_at(FaultKind::missing_wait, access,
              fmt::format("{} of shared memory that a cp.async of this block writes, which its "
                          "thread has not waited for",
                          verb_of(access)));
    if ((states[n] & state_allocated) == 0) fail_bounds(access, window, n);
    if (access.reads() && (states[n] & state_initialised) == 0) {
      const std::uint64_t address = access.address + static_cast<std::uint64_t>(n);
      std::string where = fmt::format("{} memory", name_of(window));
      if (window == Window::global)
        if (const auto allocation = block_->grid->memory->find(address))
          where = fmt::format("byte {} of {}", address - allocation->address, text_of(*allocation));
      fail_at(
          FaultKind::uninitialised, access,
          fmt::format("{}, of which nobody has written byte {}: {}", verb_of(access), n, where));
    }
  }
  if (access.writes()) std::fill_n(states, access.bytes, state_allocated | state_initialised);
}

void Bounds::fail_bounds(const LaneAccess& access, Window window, int byte) const {
  if (window == Window::global)
    fail_global(access, access.address + static_cast<std::uint64_t>(byte));
  if (window == Window::local)
    fail_at(FaultKind::out_of_bounds, access,
            fmt::format("{}, not all in the {} bytes of local memory of its thread",
                        verb_of(access), local_bytes()));
  const auto offset =
      static_cast<std::int64_t>(access.address - reinterpret_cast<std::uint64_t>(block_->shared));
  const Grid& grid = *block_->grid;
  fail_at(
      FaultKind::out_of_bounds, access,
      fmt::format("{} at offset {} of shared memory; its block has {} bytes of it ({} declared, "
                  "{} given by the launch)",
                  verb_of(access), offset, block_->shared_bytes, grid.kernel->static_shared_bytes,
                  grid.dynamic_shared_bytes));
}

void Bounds::fail_global(const LaneAccess& access, std::uint64_t address) const {
  const DeviceMemory& memory = *block_->grid->memory;
  const auto last = memory.find(address);
  if (last && last->freed)
    fail_at(FaultKind::use_after_free, access,
            fmt::format("{} in {}, freed by {}", verb_of(access), text_of(*last), last->freer));
  const auto near = memory.nearest(address);
  if (!near)
    fail_at(FaultKind::out_of_bounds, access,
            fmt::format("{}, but no memory is allocated", verb_of(access)));
  const std::uint64_t end = near->address + near->bytes;
  const std::string distance = address >= end
                                   ? fmt::format("{} bytes behind the end of", address - end)
                                   : fmt::format("{} bytes before", near->address - address);
  fail_at(
      FaultKind::out_of_bounds, access,
      fmt::format("{} at {:#x}, {} {}", verb_of(access), access.address, distance, text_of(*near)));
}

/// An address that is of no space which the opcode may access.
void Bounds::fail_space(const LaneAccess& access) const {
  if (access.address < null_bytes)
    fail_at(FaultKind::out_of_bounds, access,
            fmt::format("{} at {:#x}: a null pointer", verb_of(access), access.address));
  const Grid& grid = *block_->grid;
  const auto lies_in = [&](const std::byte* start, std::uint64_t bytes) {
    return access.address - reinterpret_cast<std::uint64_t>(start) < bytes;
  };
  const char* what = "of no memory that the GPU has: a pointer of the host, or none";
  if (lies_in(block_->shared, block_->shared_bytes)) what = "in shared memory";
  else if (lies_in(block_->local, local_states_.size())) what = "in local memory";
  else if (lies_in(grid.parameters, grid.kernel->parameter_bytes)) what = "in the parameters";
  fail_at(
      FaultKind::wrong_space, access,
      fmt::format("{} by a {} address, which is {}", verb_of(access), name_of(access.space), what));
}

}  // namespace simgpu
