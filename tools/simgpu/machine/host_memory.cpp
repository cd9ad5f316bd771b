#include "tools/simgpu/machine/host_memory.h"

#include <iterator>

namespace simgpu {

void HostMemory::open(const HostWindow& window) {
  const std::lock_guard lock(mutex_);
  // Those that were closed there are forgotten.
  auto first = windows_.lower_bound(window.address);
  if (first != windows_.begin()) {
    const HostWindow& before = std::prev(first)->second;
    if (before.address + before.bytes > window.address) --first;
  }
  windows_.erase(first, windows_.lower_bound(window.address + window.bytes));
  windows_[window.address] = window;
}

void HostMemory::close(std::uint64_t address, const std::string& closer) {
  const std::lock_guard lock(mutex_);
  if (const auto found = windows_.find(address); found != windows_.end())
    found->second.closer = closer;
}

std::optional<HostWindow> HostMemory::find(std::uint64_t address) const {
  constexpr std::size_t page = 4096;
  const std::lock_guard lock(mutex_);
  const auto after = windows_.upper_bound(address);
  if (after == windows_.begin()) return std::nullopt;
  const HostWindow& window = std::prev(after)->second;
  if (address - window.address >= window.bytes + page) return std::nullopt;
  return window;
}

bool HostMemory::is_open(std::uint64_t address, std::size_t bytes) const {
  const auto window = find(address);
  if (!window || !window->closer.empty()) return false;
  const std::uint64_t offset = address - window->address;
  return offset <= window->bytes && bytes <= window->bytes - offset;
}

}  // namespace simgpu
