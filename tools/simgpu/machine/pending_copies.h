/// \file
/// What cp.async is going to write to shared memory: it is written when its thread waits for it,
/// the latest time that a GPU might, so that who does not wait does not find it. PTX ISA 9.7.9.25.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/simgpu/machine/warp.h"

namespace simgpu {

/// Of one warp.
class PendingCopies {
 public:
  static constexpr int most_bytes = 16;

  void clear();
  /// `data` are the bytes to write: the source is read at once.
  void add(const Warp& warp, int lane, std::uint64_t to, const std::byte* data, int bytes);
  /// What the lanes have begun since their last group is a group.
  void commit(std::uint32_t lanes);
  /// Writes the groups of the lanes but for the last `groups`.
  void wait(const Warp& warp, std::uint32_t lanes, std::uint64_t groups);
  /// Writes all that the lanes have begun, in groups or not.
  void wait_all(const Warp& warp, std::uint32_t lanes);

 private:
  struct Copy {
    std::uint64_t to;
    std::uint64_t group;  // of its lane
    int lane, bytes;
    std::array<std::byte, most_bytes> data;
  };
  /// Writes those of the lanes whose group is below their end.
  template <class End>
  void write(const Warp& warp, std::uint32_t lanes, End end);

  std::vector<Copy> copies_;                       // in the order they began
  std::array<std::uint64_t, warp_size> groups_{};  // that each lane has made
  bool is_clear_ = true;
};

}  // namespace simgpu
