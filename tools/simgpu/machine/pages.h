/// \file
/// Addresses reserved from the host: a page is taken when it is first touched, and reads as zero.
#pragma once

#include <cstddef>

namespace simgpu {

class Pages {
 public:
  /// \throws std::bad_alloc where the host has no such range.
  explicit Pages(std::size_t bytes);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  /// Gives the whole pages inside of the range back to the host: they read as zero.
  void release(std::size_t offset, std::size_t bytes);
  void release_all();

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace simgpu
