/// \file
/// Memory of the host that kernels may reach, at the addresses that the host has for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace simgpu {

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

}  // namespace simgpu
