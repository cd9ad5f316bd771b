/// \file
/// What is in a warp's registers before its first instruction: constants and special registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/simgpu/machine/profile.h"
#include "tools/simgpu/machine/warp.h"

namespace simgpu {

/// Registers that nobody has written hold a pattern that no program expects.
class WarpImage {
 public:
  WarpImage(const Grid& grid, const Profile& profile);

  /// What the warp's registers begin with in whatever block it is the one of that index.
  std::vector<std::byte> of_warp(const Warp& warp) const;
  /// Puts that into its registers, and what its block says.
  void fill(Warp& warp, const std::vector<std::byte>& of_warp) const;

 private:
  std::uint64_t value(const Preset& preset, const Warp& warp, int lane) const;

  const Grid& grid_;
  const Profile& profile_;
  std::vector<std::byte> bytes_;  // of all warps alike
  std::vector<Preset> by_warp_, by_block_;
};

}  // namespace simgpu
