#include "runtime/memory.h"

#include <fmt/format.h>

#include <cstdlib>

#include "runtime/error.h"

namespace sinter {
namespace {

std::atomic<std::int64_t> bytes_in_use{0}, peak_bytes{0};

void count(std::int64_t bytes) {
  const std::int64_t now = bytes_in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
}

}  // namespace

Ref<Buffer> Buffer::allocate(std::size_t bytes) {
  const std::size_t rounded =
      (bytes + buffer_alignment - 1) / buffer_alignment * buffer_alignment + buffer_alignment;
  void* data = std::aligned_alloc(buffer_alignment, rounded);
  if (!data) throw Error(fmt::format("memory: {} bytes could not be allocated", bytes));
  auto* buffer = new Buffer;
  buffer->data_ = static_cast<std::byte*>(data);
  buffer->bytes_ = bytes;
  count(static_cast<std::int64_t>(bytes));
  return Ref<Buffer>(buffer);
}

Ref<Buffer> Buffer::borrow(void* data, std::size_t bytes, std::function<void()> deleter) {
  auto* buffer = new Buffer;
  buffer->data_ = static_cast<std::byte*>(data);
  buffer->bytes_ = bytes;
  buffer->external_ = true;
  buffer->deleter_ = std::move(deleter);
  return Ref<Buffer>(buffer);
}

void Buffer::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (external_) {
    if (deleter_) deleter_();
  } else {
    std::free(data_);
    count(-static_cast<std::int64_t>(bytes_));
  }
  delete this;
}

MemoryStatistics memory_statistics() {
  return {bytes_in_use.load(std::memory_order_relaxed), peak_bytes.load(std::memory_order_relaxed)};
}

}  // namespace sinter
