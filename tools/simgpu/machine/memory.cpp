#include "tools/simgpu/machine/memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "tools/simgpu/code/round_up.h"

namespace simgpu {
namespace {

/// Between allocations, so that what runs over the end of one is not in the next.
constexpr std::size_t gap = 4096;
/// Addresses beside those for twice the bytes that there are.
constexpr std::size_t most_gaps = std::size_t{1} << 30;

/// Pieces of memory that lie apart, by address.
template <class Piece>
using Pieces = std::map<std::uint64_t, Piece>;

template <class Piece>
std::uint64_t end_of(const Piece& piece) {
  return piece.address + piece.bytes;
}

/// The last that begins there or before.
template <class Piece>
const Piece* last_from(const Pieces<Piece>& pieces, std::uint64_t address) {
  const auto after = pieces.upper_bound(address);
  return after == pieces.begin() ? nullptr : &std::prev(after)->second;
}

const Allocation* holder(const Pieces<Allocation>& allocations, std::uint64_t address) {
  const Allocation* before = last_from(allocations, address);
  return before != nullptr && address < end_of(*before) ? before : nullptr;
}

/// Removes those that some of the range is in.
template <class Piece>
void forget(Pieces<Piece>& pieces, std::uint64_t address, std::size_t bytes) {
  auto first = pieces.lower_bound(address);
  if (first != pieces.begin() && end_of(std::prev(first)->second) > address) --first;
  pieces.erase(first, pieces.lower_bound(address + bytes));
}

std::uint64_t rounded_up(std::uint64_t value) { return round_up(value, DeviceMemory::alignment); }

}  // namespace

struct DeviceMemory::Book {
  mutable std::mutex mutex;
  Pieces<Allocation> live, freed;
  std::uint64_t next = 0;  // where the search for room begins: it goes round
  std::uint64_t count = 0;
  std::size_t in_use = 0;

  /// The first address in [from, end) with room for `bytes`, and a gap before it and behind.
  std::optional<std::uint64_t> room(std::uint64_t from, std::uint64_t end,
                                    std::size_t bytes) const {
    auto after = live.lower_bound(from);
    if (after != live.begin())
      from = std::max(from, rounded_up(end_of(std::prev(after)->second) + gap));
    for (; from < end && bytes <= end - from; ++after) {
      if (after == live.end()) return from;
      if (from + bytes + gap <= after->first) return from;
      from = rounded_up(end_of(after->second) + gap);
    }
    return std::nullopt;
  }
};

DeviceMemory::DeviceMemory(std::size_t bytes)
    : capacity_(bytes),
      range_(2 * bytes + most_gaps),
      pages_(range_ + alignment),
      states_(range_),
      whole_pages_((range_ >> page_shift) + 1),
      race_shadow_(range_),
      book_(std::make_unique<Book>()) {
  base_ = rounded_up(reinterpret_cast<std::uint64_t>(pages_.data()));
  book_->next = first_address();
}

DeviceMemory::~DeviceMemory() = default;

std::uint64_t DeviceMemory::first_address() const { return rounded_up(base_ + gap); }

std::optional<std::uint64_t> DeviceMemory::allocate(std::size_t bytes, const std::string& maker) {
  const std::lock_guard lock(book_->mutex);
  const std::uint64_t end = base_ + range_;
  if (bytes == 0 || bytes > capacity_ - book_->in_use) return std::nullopt;
  std::optional<std::uint64_t> address = book_->room(book_->next, end, bytes);
  if (!address) address = book_->room(first_address(), end, bytes);
  if (!address) return std::nullopt;
  forget(book_->freed, *address, bytes);
  Allocation& made = book_->live[*address];
  made.address = *address;
  made.bytes = bytes;
  made.maker = maker;
  made.number = ++book_->count;
  book_->next = rounded_up(*address + bytes + gap);
  book_->in_use += bytes;
  set_states(*address, bytes, state_allocated);
  return address;
}

bool DeviceMemory::free(std::uint64_t address, const std::string& freer) {
  const std::lock_guard lock(book_->mutex);
  const auto found = book_->live.find(address);
  if (found == book_->live.end()) return false;
  Allocation& gone = book_->freed[address];
  gone = std::move(found->second);
  gone.freed = true;
  gone.freer = freer;
  book_->live.erase(found);
  book_->in_use -= gone.bytes;
  set_states(address, gone.bytes, 0);
  const std::uint64_t page_start = reinterpret_cast<std::uint64_t>(pages_.data());
  pages_.release(address - page_start, gone.bytes);
  states_.release(address - base_, gone.bytes);
  return true;
}

std::optional<Allocation> DeviceMemory::find(std::uint64_t address) const {
  const std::lock_guard lock(book_->mutex);
  for (const Pieces<Allocation>* each : {&book_->live, &book_->freed})
    if (const Allocation* found = holder(*each, address)) return *found;
  return std::nullopt;
}

std::optional<Allocation> DeviceMemory::nearest(std::uint64_t address) const {
  const std::lock_guard lock(book_->mutex);
  const Allocation* before = last_from(book_->live, address);
  const auto after = book_->live.upper_bound(address);
  if (after == book_->live.end()) return before == nullptr ? std::nullopt : std::optional(*before);
  if (before != nullptr && address - end_of(*before) <= after->first - address) return *before;
  return after->second;
}

std::vector<Allocation> DeviceMemory::live() const {
  const std::lock_guard lock(book_->mutex);
  std::vector<Allocation> all;
  for (const auto& [address, allocation] : book_->live) all.push_back(allocation);
  std::sort(all.begin(), all.end(),
            [](const Allocation& a, const Allocation& b) { return a.number < b.number; });
  return all;
}

std::size_t DeviceMemory::bytes_in_use() const {
  const std::lock_guard lock(book_->mutex);
  return book_->in_use;
}

std::size_t DeviceMemory::capacity() const { return capacity_; }

ShadowRegion DeviceMemory::region() const {
  ShadowRegion region;
  region.base = base_;
  region.bytes = range_;
  region.states = shadow(base_);
  region.whole_pages = reinterpret_cast<std::uint8_t*>(whole_pages_.data());
  return region;
}

bool DeviceMemory::is_allocated(std::uint64_t address, std::size_t bytes) const {
  const std::lock_guard lock(book_->mutex);
  const Allocation* found = holder(book_->live, address);
  return found != nullptr && bytes <= end_of(*found) - address;
}

void DeviceMemory::set_states(std::uint64_t address, std::size_t bytes, std::uint8_t state) {
  std::memset(shadow(address), state, bytes);
  set_whole(address, bytes, (state & state_initialised) != 0);
}

/// Pages that the range is in with all their bytes become whole; those with any are no more.
void DeviceMemory::set_whole(std::uint64_t address, std::size_t bytes, bool is_whole) {
  constexpr std::uint64_t page = std::uint64_t{1} << page_shift;
  const std::uint64_t begin = address - base_, end = begin + bytes;
  const std::uint64_t first = is_whole ? units_of(begin, page) : begin / page;
  const std::uint64_t last = is_whole ? end / page : units_of(end, page);
  if (first < last) std::memset(whole_pages_.data() + first, is_whole ? 1 : 0, last - first);
}

void DeviceMemory::set_initialised(std::uint64_t address, std::size_t bytes) {
  set_states(address, bytes, state_allocated | state_initialised);
}

void DeviceMemory::copy_shadow(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  std::memmove(shadow(to), shadow(from), bytes);
  const std::uint8_t* states = shadow(to);
  set_whole(to, bytes, std::all_of(states, states + bytes, [](std::uint8_t state) {
              return state == (state_allocated | state_initialised);
            }));
}

void HostMemory::open(const HostWindow& window) {
  const std::lock_guard lock(mutex_);
  forget(windows_, window.address, window.bytes);  // which were closed
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
  const HostWindow* window = last_from(windows_, address);
  if (window == nullptr || address >= end_of(*window) + page) return std::nullopt;
  return *window;
}

bool HostMemory::is_open(std::uint64_t address, std::size_t bytes) const {
  const auto window = find(address);
  if (!window || !window->closer.empty()) return false;
  const std::uint64_t offset = address - window->address;
  return offset <= window->bytes && bytes <= window->bytes - offset;
}

}  // namespace simgpu
