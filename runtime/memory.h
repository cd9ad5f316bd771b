/// \file
/// Blocks of memory for elements: aligned, counted references, statistics.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "ref.h"

namespace sinter {

/// Bytes to which every block sinter allocates is aligned: one cache line, one 512-bit vector.
inline constexpr std::size_t buffer_alignment = 64;

class Buffer {
 public:
  /// A block of at least `bytes` bytes, not initialised. \throws Error naming the bytes when the
  /// memory is not to be had.
  static Ref<Buffer> allocate(std::size_t bytes);
  /// The user's own memory; `deleter` runs when the last reference is gone.
  static Ref<Buffer> borrow(void* data, std::size_t bytes, std::function<void()> deleter);

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Whether this is the user's own memory, which sinter never writes.
  bool external() const { return external_; }

  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

 private:
  Buffer() = default;
  ~Buffer() = default;

  std::atomic<std::int64_t> references_{0};
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool external_ = false;
  std::function<void()> deleter_;
};

using BufferRef = Ref<Buffer>;

struct MemoryStatistics {
  std::int64_t bytes_in_use = 0;
  std::int64_t peak_bytes = 0;
};

MemoryStatistics memory_statistics();

}  // namespace sinter
