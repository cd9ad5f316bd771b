#include "runtime/memory.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>

#include "runtime/error.h"

// Free blocks are poisoned under the address sanitizer, whose header not every compiler brings.
#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace sinter {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
/// From here on a block may serve a request of up to two sizes less.
constexpr std::size_t large_block = std::size_t{64} << 10;
constexpr std::size_t largest_block = std::size_t{1} << 47;  // all that can be addressed

/// One of the sizes that blocks have.
struct BlockSize {
  std::size_t bytes;
  std::size_t index;  ///< into the lists of free blocks
};

constexpr BlockSize block_size(std::size_t bytes) {
  const std::size_t wanted = std::max<std::size_t>(bytes, 1);
  const auto magnitude = static_cast<std::size_t>(std::bit_width(wanted) - 1);
  const std::size_t shift = std::max<std::size_t>(magnitude, 9) - 3;  // steps of 64 bytes at least
  const std::size_t steps = (wanted + (std::size_t{1} << shift) - 1) >> shift;
  return {steps << shift, (shift - 6) * 8 + steps};
}

constexpr std::size_t block_sizes = block_size(largest_block).index + 1;
static_assert(block_size(1024).bytes == 1024 && block_size(1025).bytes == 1152);
static_assert(block_size(1025).index == block_size(1024).index + 1);
static_assert(block_size(1000).index == block_size(1024).index);

std::byte* system_allocate(std::size_t bytes) {
  const std::size_t alignment = bytes >= 2 * huge_page ? huge_page : buffer_alignment;
  void* data = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  // Fewer, larger pages make the first use of fresh memory several times faster; only advice.
  if (data != nullptr && alignment == huge_page) madvise(data, bytes, MADV_HUGEPAGE);
  return static_cast<std::byte*>(data);
}

std::int64_t half_of_memory() {
  return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE) / 2;
}

}  // namespace

/// The free blocks and the counts, under one lock. Never destroyed: static objects may hold
/// buffers.
class MemoryCache {
 public:
  Buffer* take(std::size_t bytes) {
    const BlockSize size = block_size(bytes);
    const std::lock_guard lock(mutex_);
    const std::size_t last = size.bytes < large_block ? size.index : size.index + 2;
    for (std::size_t i = size.index; i <= std::min(last, block_sizes - 1); ++i) {
      if (free_[i] == nullptr) continue;
      Buffer* buffer = std::exchange(free_[i], free_[i]->next_);
      const auto capacity = static_cast<std::int64_t>(buffer->capacity_);
      statistics_.cached_bytes -= capacity;
      count(capacity);
      return buffer;
    }
    return nullptr;
  }

  Buffer* make(std::size_t bytes) {
    const std::size_t capacity = block_size(bytes).bytes;
    auto* buffer = new Buffer;  // first, as it can throw
    buffer->data_ = system_allocate(capacity);
    if (buffer->data_ == nullptr) {
      release();
      buffer->data_ = system_allocate(capacity);
    }
    if (buffer->data_ == nullptr) {
      delete buffer;
      refuse(bytes);
    }
    buffer->capacity_ = capacity;
    const std::lock_guard lock(mutex_);
    count(static_cast<std::int64_t>(capacity));
    return buffer;
  }

  [[noreturn]] void refuse(std::size_t bytes) {
    const MemoryStatistics now = statistics();
    throw Error(fmt::format("memory: {} bytes could not be allocated ({} in use)", bytes,
                            now.bytes_in_use));
  }

  void give_back(Buffer* buffer) {
    const auto capacity = static_cast<std::int64_t>(buffer->capacity_);
    const std::lock_guard lock(mutex_);
    count(-capacity);
    if (statistics_.cached_bytes + capacity > limit_) empty();
    if (capacity > limit_) return destroy(buffer);
    ASAN_POISON_MEMORY_REGION(buffer->data_, buffer->capacity_);
    Buffer*& first = free_[block_size(buffer->capacity_).index];
    buffer->next_ = std::exchange(first, buffer);
    statistics_.cached_bytes += capacity;
  }

  void release() {
    const std::lock_guard lock(mutex_);
    empty();
  }

  void set_limit(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    limit_ = static_cast<std::int64_t>(std::min(bytes, largest_block));
    if (statistics_.cached_bytes > limit_) empty();
  }

  std::size_t limit() {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(limit_);
  }

  MemoryStatistics statistics() {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

  void reset_peak() {
    const std::lock_guard lock(mutex_);
    statistics_.peak_bytes = statistics_.bytes_in_use;
  }

  std::mutex& mutex() { return mutex_; }

 private:
  void count(std::int64_t bytes) {
    statistics_.bytes_in_use += bytes;
    statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.bytes_in_use);
  }

  void empty() {
    for (Buffer*& first : free_)
      while (first != nullptr) destroy(std::exchange(first, first->next_));
    statistics_.cached_bytes = 0;
  }

  static void destroy(Buffer* buffer) {
    ASAN_UNPOISON_MEMORY_REGION(buffer->data_, buffer->capacity_);
    std::free(buffer->data_);
    delete buffer;
  }

  std::mutex mutex_;
  std::array<Buffer*, block_sizes> free_{};
  MemoryStatistics statistics_;
  std::int64_t limit_ = half_of_memory();
};

namespace {

MemoryCache& cache() {
  static MemoryCache* const forever = [] {
    auto* made = new MemoryCache;
    // A child forked while another thread holds the lock could never take it.
    pthread_atfork([] { cache().mutex().lock(); }, [] { cache().mutex().unlock(); },
                   [] { cache().mutex().unlock(); });
    return made;
  }();
  return *forever;
}

}  // namespace

Ref<Buffer> Buffer::allocate(std::size_t bytes) {
  if (bytes > largest_block) cache().refuse(bytes);
  Buffer* buffer = cache().take(bytes);
  if (buffer == nullptr) buffer = cache().make(bytes);
  ASAN_POISON_MEMORY_REGION(buffer->data_, buffer->capacity_);
  ASAN_UNPOISON_MEMORY_REGION(buffer->data_, bytes);
  buffer->bytes_ = bytes;
  return Ref<Buffer>(buffer);
}

Ref<Buffer> Buffer::borrow(void* data, std::size_t bytes, std::function<void()> deleter,
                           Where where) {
  if (data == nullptr && bytes > 0)
    usage_error("Buffer", fmt::format("null in place of {} bytes", bytes), where);
  auto* buffer = new Buffer;
  buffer->data_ = static_cast<std::byte*>(data);
  buffer->bytes_ = bytes;
  buffer->external_ = true;
  buffer->deleter_ = std::move(deleter);
  return Ref<Buffer>(buffer);
}

void Buffer::give_back() {
  if (!external_) return cache().give_back(this);
  if (deleter_) deleter_();
  delete this;
}

MemoryStatistics memory_statistics() { return cache().statistics(); }

void reset_peak_memory() { cache().reset_peak(); }

void release_cached_memory() { cache().release(); }

void set_memory_cache_limit(std::size_t bytes) { cache().set_limit(bytes); }

std::size_t memory_cache_limit() { return cache().limit(); }

}  // namespace sinter
