/// \file
/// Cells for the memory of a device, and the numbers of intervals that they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "tools/simgpu/machine/pages.h"
#include "tools/simgpu/machine/shadow.h"

namespace simgpu {

/// The cells of a piece of memory.
class RaceCells {
 public:
  explicit RaceCells(std::size_t bytes);
  void put_into(ShadowRegion& region);
  /// All cells are zero: of an access before all others.
  void clear();

 private:
  std::size_t cells_, pages_;
  Pages store_;
};

class RaceShadow {
 public:
  explicit RaceShadow(std::size_t bytes) : cells_(bytes) {}

  /// A launch begins. Numbers start anew when few are left, which takes that no other launch runs.
  void enter(ShadowRegion& region);
  void leave();
  /// `count` numbers that nobody had: the first of them, or 0 where none are left.
  std::uint32_t take(std::uint32_t count);

 private:
  std::mutex mutex_;
  RaceCells cells_;
  std::uint32_t next_ = 1;
  int launches_ = 0;
};

}  // namespace simgpu
