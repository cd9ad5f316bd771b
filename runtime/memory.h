/// \file
/// Blocks of memory for elements: aligned, counted references, kept for reuse.
///
/// A block comes in one of eight sizes to each doubling, so at most an eighth of it is unused.
/// Blocks that nobody refers to any more are kept and handed out again, the large ones also for
/// somewhat smaller requests. All functions may be called from several threads at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "error.h"
#include "ref.h"

namespace sinter {

/// Bytes to which every block sinter allocates is aligned: one cache line, one 512-bit vector.
inline constexpr std::size_t buffer_alignment = 64;

class Buffer {
 public:
  /// A block of at least `bytes` bytes, not initialised. \throws Error naming the bytes when the
  /// memory is not to be had even after release_cached_memory().
  static Ref<Buffer> allocate(std::size_t bytes);
  /// The user's own memory; `deleter` runs when the last reference is gone. \throws UsageError for
  /// a null pointer to any bytes.
  static Ref<Buffer> borrow(void* data, std::size_t bytes, std::function<void()> deleter,
                            Where where = Where::current());

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) give_back();
  }

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Whether this is the user's own memory, which sinter never writes.
  bool external() const { return external_; }

  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

 private:
  friend class MemoryCache;
  Buffer() = default;
  ~Buffer() = default;
  void give_back();

  std::atomic<std::int64_t> references_{0};
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;     ///< as asked for
  std::size_t capacity_ = 0;  ///< of the block; 0 for external memory
  bool external_ = false;
  Buffer* next_ = nullptr;  ///< in the list of free blocks
  std::function<void()> deleter_;
};

using BufferRef = Ref<Buffer>;

/// Bytes of whole blocks; external memory is not counted.
struct MemoryStatistics {
  std::int64_t bytes_in_use = 0;
  std::int64_t peak_bytes = 0;  ///< The most that was in use since the start or the last reset.
  std::int64_t cached_bytes = 0;
};

MemoryStatistics memory_statistics();

/// Lets `peak_bytes` begin again from what is in use now.
void reset_peak_memory();

/// Gives all free blocks back to the system.
void release_cached_memory();

/// Bytes of free blocks to keep at most, half of the machine's memory unless set. A block that
/// would exceed them empties the cache first.
void set_memory_cache_limit(std::size_t bytes);
std::size_t memory_cache_limit();

}  // namespace sinter
