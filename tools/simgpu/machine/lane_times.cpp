#include "tools/simgpu/machine/lane_times.h"

#include <algorithm>

namespace simgpu {

void LaneTimes::restart() {
  now_ = floor_ = 1;
  parted_ = false;
}

bool LaneTimes::meet(std::uint32_t lanes, std::uint32_t existing) {
  if (now_ + 1 == lane_time_limit) return false;
  if ((existing & ~lanes) == 0) {
    floor_ = ++now_;
    parted_ = false;
    return true;
  }
  if (!parted_) {
    for (Known& known : known_) known.fill(static_cast<std::uint16_t>(floor_ - 1));
    parted_ = true;
  }
  Known joined{};
  for (std::size_t lane = 0; lane < known_.size(); ++lane) {
    if ((lanes >> lane & 1u) == 0) continue;
    for (std::size_t n = 0; n < joined.size(); ++n)
      joined[n] = std::max(joined[n], known_[lane][n]);
  }
  for (std::size_t lane = 0; lane < known_.size(); ++lane)
    if ((lanes >> lane & 1u) != 0) joined[lane] = static_cast<std::uint16_t>(now_);
  for (std::size_t lane = 0; lane < known_.size(); ++lane)
    if ((lanes >> lane & 1u) != 0) known_[lane] = joined;
  ++now_;
  return true;
}

bool LaneTimes::is_before(std::uint32_t mark, std::uint32_t who) const {
  const std::uint32_t by = mark & lane_code_mask, time = mark >> lane_code_bits;
  if (time < floor_ || by == who) return true;
  if (!parted_ || who >= warp_size) return false;
  const Known& known = known_[who];
  if (by < warp_size) return known[by] >= time;
  for (std::size_t lane = 0; lane < known.size(); ++lane)
    if (lane != who && known[lane] >= time) return true;
  return false;
}

}  // namespace simgpu
