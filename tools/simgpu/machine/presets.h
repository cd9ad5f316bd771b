/// \file
/// What is in a warp's registers before its first instruction: constants and special registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/simgpu/machine/profile.h"
#include "tools/simgpu/machine/warp.h"

namespace simgpu {

/// The registers of every warp of a launch, but for what differs from warp to warp. Registers that
/// nobody has written hold a pattern that no program expects.
class WarpImage {
 public:
  WarpImage(const Grid& grid, const Profile& profile);

  std::size_t bytes() const { return bytes_.size(); }
  /// Fills in the registers of the warp, which has a block and an index.
  void fill(Warp& warp) const;

 private:
  std::uint64_t value(const Preset& preset, const Warp& warp, int lane) const;

  const Grid& grid_;
  const Profile& profile_;
  std::vector<std::byte> bytes_;
  std::vector<Preset> of_warp_;
};

}  // namespace simgpu
