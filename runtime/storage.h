/// \file
/// Where a value's elements are. A Tensor's value refers to a Storage and a Storage to a Buffer:
/// one step of indirection, so that a buffer can be handed on (donation) without the holders of
/// the old value noticing.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "memory.h"
#include "ref.h"
#include "shape.h"

namespace sinter {

class Storage {
 public:
  explicit Storage(BufferRef buffer) : buffer_(std::move(buffer)) {}

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  std::byte* data() const { return buffer_->data(); }
  std::size_t bytes() const { return buffer_->bytes(); }
  /// Whether the one holder of a reference may overwrite the elements: nobody else sees them, and
  /// they are not the user's own memory.
  bool exclusive() const {
    return references_.load(std::memory_order_acquire) == 1 && !buffer_->external();
  }
  const BufferRef& buffer() const { return buffer_; }

 private:
  std::atomic<std::int64_t> references_{0};
  BufferRef buffer_;
};

using StorageRef = Ref<Storage>;

/// The elements of one tensor: element [i, j, ...] is at `offset + i*strides[0] + j*strides[1]...`,
/// counted in elements of the node's dtype.
struct Value {
  StorageRef storage;
  std::int64_t offset = 0;
  Strides strides;

  explicit operator bool() const { return static_cast<bool>(storage); }
};

}  // namespace sinter
