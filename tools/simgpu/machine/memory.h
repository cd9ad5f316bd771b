/// \file
/// The memory of the device: one range of host addresses, reserved once, in which allocations lie
/// apart. A device pointer is a host address, so that generic addresses need no translation.
///
/// Beside it lies one byte of shadow for each byte: whether it is allocated, and whether anybody
/// has written it; and one for each page of which the host has written all. Freed memory is not
/// given out again before the range has gone round, so that the use of a freed pointer is found.
/// Memory of the host that kernels may reach has windows beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tools/simgpu/machine/pages.h"
#include "tools/simgpu/machine/race_shadow.h"
#include "tools/simgpu/machine/shadow.h"

namespace simgpu {

struct Allocation {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  std::string maker;         ///< the call and where it came from: `cuMemAlloc, called from ...`
  std::uint64_t number = 0;  ///< in the order of the process
  bool freed = false;
  std::string freer;  ///< likewise, of what freed it
};

/// Memory of the host that kernels may reach, at the addresses that the host has for it.
struct HostWindow {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  bool read_only = false;
  std::string maker;   ///< the call that opened it
  std::string closer;  ///< and closed it: empty while it is open
};

class HostMemory {
 public:
  /// Windows that are open lie apart.
  void open(const HostWindow& window);
  /// Of an address that a window begins at.
  void close(std::uint64_t address, const std::string& closer);
  /// The window that holds the address or held it last, or that ends within a page before.
  std::optional<HostWindow> find(std::uint64_t address) const;
  /// Whether all of the range is in one open window.
  bool is_open(std::uint64_t address, std::size_t bytes) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, HostWindow> windows_;
};

class DeviceMemory {
 public:
  static constexpr std::size_t alignment = 256;

  /// Reserves addresses for more than `bytes`, since allocations lie apart; what is used is taken
  /// from the host page by page.
  explicit DeviceMemory(std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// `bytes` > 0, uninitialised; nothing where there is no room for it.
  std::optional<std::uint64_t> allocate(std::size_t bytes, const std::string& maker);
  /// Of an address that allocate gave; false for any other, and one freed before.
  bool free(std::uint64_t address, const std::string& freer);

  /// The allocation that holds the address, or that held it last.
  std::optional<Allocation> find(std::uint64_t address) const;
  /// The live allocation that ends or begins nearest to an address that none holds.
  std::optional<Allocation> nearest(std::uint64_t address) const;
  std::vector<Allocation> live() const;
  std::size_t bytes_in_use() const;
  std::size_t capacity() const;

  bool holds(std::uint64_t address, std::size_t bytes) const {
    return address - base_ <= range_ && bytes <= range_ - (address - base_);
  }
  /// The states of bytes from an address on that it holds: see shadow.h.
  std::uint8_t* shadow(std::uint64_t address) const {
    return reinterpret_cast<std::uint8_t*>(states_.data()) + (address - base_);
  }
  /// All of it, for the checks of kernels; cells are race_shadow()'s.
  ShadowRegion region() const;
  RaceShadow& race_shadow() { return race_shadow_; }
  /// What kernels reach beside it.
  HostMemory& host() { return host_; }
  /// Whether all of the range is in one live allocation.
  bool is_allocated(std::uint64_t address, std::size_t bytes) const;
  /// Copies and sets of the host, and kernels' stores, say what they have written.
  void set_initialised(std::uint64_t address, std::size_t bytes);
  /// Carries the shadow along with a copy inside of the device.
  void copy_shadow(std::uint64_t to, std::uint64_t from, std::size_t bytes);

 private:
  void set_states(std::uint64_t address, std::size_t bytes, std::uint8_t state);
  void set_whole(std::uint64_t address, std::size_t bytes, bool is_whole);
  /// Behind a gap, as what runs over the start of an allocation is not outside of all memory.
  std::uint64_t first_address() const;

  struct Book;  // of allocations, under a lock
  std::uint64_t base_ = 0;
  std::size_t capacity_ = 0, range_ = 0;
  Pages pages_, states_, whole_pages_;
  RaceShadow race_shadow_;
  HostMemory host_;
  std::unique_ptr<Book> book_;
};

}  // namespace simgpu
