#include "tools/simgpu/machine/races.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/simgpu/machine/fault.h"

namespace simgpu {
namespace {

bool is_strong(Access kind) { return kind != Access::load && kind != Access::store; }

std::uint32_t interval_of(std::uint32_t cell) { return cell >> cell_mask_bits; }

std::uint32_t code_of(const LaneAccess& access) {
  return access.of_warp ? all_of_warp : static_cast<std::uint32_t>(access.lane);
}

/// Calls body(shift of the mark, bytes of the half) for the halves of a cell that bytes lie in.
template <class Body>
void each_half(std::uint32_t bytes, Body body) {
  if ((bytes & 3u) != 0) body(0, 3u);
  if ((bytes & 12u) != 0) body(16, 12u);
}

std::uint32_t mark_at(std::uint32_t marks, int shift) { return marks >> shift & 0xffffu; }

}  // namespace

std::uint32_t Races::check(const LaneAccess& access) {
  const std::uint64_t offset = access.address - region_.base;
  const auto size = static_cast<std::uint64_t>(access.bytes);
  const std::uint64_t first = offset / cell_bytes, last = (offset + size - 1) / cell_bytes;
  std::uint32_t contested = 0;
  for (std::uint64_t cell = first; cell <= last; ++cell) {
    std::uint32_t bytes = cell_mask;
    if (size < cell_bytes) bytes = ((1u << size) - 1) << offset % cell_bytes;
    const std::uint32_t twice = check_cell(access, cell, bytes);
    if (twice != 0) contested |= twice >> offset % cell_bytes << (cell - first) * cell_bytes;
    remember(access, cell, bytes);
  }
  return contested;
}

bool Races::is_mine(const LaneAccess& access, std::uint32_t cell) const {
  return (cell | cell_mask) == time_.clocks()[access.warp->index].mine;
}

std::uint32_t Races::look(const LaneAccess& access, std::uint32_t other, const std::uint32_t* marks,
                          std::uint32_t bytes, const char* done) {
  bytes &= other;
  if (bytes == 0 || other < region_.before) return 0;
  if (!is_mine(access, other)) {
    if (!time_.is_over(access.warp->index, interval_of(other))) fail(access, other, done);
    return 0;
  }
  std::uint32_t open = 0;
  if (marks == nullptr) return 0;
  each_half(bytes, [&](int shift, std::uint32_t half) {
    if (!time_.lanes(access.warp->index).is_before(mark_at(*marks, shift), code_of(access)))
      open |= bytes & half;
  });
  return open;
}

std::uint32_t Races::check_cell(const LaneAccess& access, std::uint64_t cell, std::uint32_t bytes) {
  const auto need_over = [&](std::uint32_t other, const std::uint32_t& marks, const char* done) {
    const std::uint32_t open = look(access, other, &marks, bytes, done);
    if (open != 0) fail_lanes(access, mark_at(marks, (open & 3u) != 0 ? 0 : 16), done);
  };
  std::uint32_t contested = 0;
  if (access.kind == Access::store && !access.of_warp)
    contested = look(access, region_.writes[cell], &region_.writers[cell], bytes, "written");
  else need_over(region_.writes[cell], region_.writers[cell], "written");
  if (access.writes()) {
    need_over(region_.reads[cell], region_.readers[cell], "read");
    look(access, region_.more_reads[cell], nullptr, bytes, "read");
  }
  const std::uint64_t page = cell * cell_bytes >> strong_page_shift;
  if (is_strong(access.kind) || region_.strong_pages[page] < region_.before) return contested;
  const StrongCells& strong = region_.strong[cell];
  constexpr const char* written = "written by an atomic or volatile access";
  need_over(strong.last[0], strong.last_lanes, written);
  look(access, strong.last[1], nullptr, bytes, written);
  if (!access.writes()) return contested;
  constexpr const char* read = "read by an atomic or volatile access";
  need_over(strong.readers[0], strong.reader_lanes, read);
  look(access, strong.readers[1], nullptr, bytes, read);
  return contested;
}

/// Whether nobody has to know of it who knows of the warp's present access.
bool Races::is_needless(const LaneAccess& access, std::uint32_t cell) const {
  const WarpClock& clock = time_.clocks()[access.warp->index];
  return cell < region_.before || cell - clock.known_from < clock.known_cells ||
         is_mine(access, cell) || time_.is_over(access.warp->index, interval_of(cell));
}

/// What other lanes of the warp did and may still be doing, becomes what several have done since
/// the first of them.
void Races::put(const LaneAccess& access, std::uint32_t& cell, std::uint32_t* marks,
                std::uint32_t bytes) const {
  const WarpClock& clock = time_.clocks()[access.warp->index];
  const bool mine = is_mine(access, cell);
  if (marks != nullptr) {
    if (!mine) *marks = 0;
    each_half(bytes, [&](int shift, std::uint32_t half) {
      const std::uint32_t old = mark_at(*marks, shift);
      std::uint32_t mark = clock.lane_time | code_of(access);
      if ((cell & half) != 0 && !time_.lanes(access.warp->index).is_before(old, code_of(access)))
        mark = (old & ~lane_code_mask) | several_lanes;
      if (mine && (cell & half & ~bytes) != 0) mark = 0;
      *marks = (*marks & ~(0xffffu << shift)) | mark << shift;
    });
  }
  cell = mine ? cell | bytes : (clock.mine & ~cell_mask) | bytes;
}

void Races::remember(const LaneAccess& access, std::uint64_t cell, std::uint32_t bytes) {
  const auto put_first = [&](std::uint32_t& first, std::uint32_t& second, std::uint32_t& marks) {
    if (is_needless(access, first)) put(access, first, &marks, bytes);
    else if (is_needless(access, second)) put(access, second, nullptr, bytes);
  };
  if (is_strong(access.kind)) {
    std::uint32_t& page = region_.strong_pages[cell * cell_bytes >> strong_page_shift];
    page = std::max(page, time_.clocks()[access.warp->index].mine);
    StrongCells& strong = region_.strong[cell];
    // Who comes behind an atomic comes behind those whose values it has read: PTX ISA 8.9.5.
    if (access.kind == Access::atomic)
      for (std::uint32_t& other : strong.last)
        other = (other & cell_mask & ~bytes) == 0 ? 0 : other & ~bytes;
    if (access.writes()) put_first(strong.last[0], strong.last[1], strong.last_lanes);
    else put_first(strong.readers[0], strong.readers[1], strong.reader_lanes);
  } else if (access.writes()) {
    put(access, region_.writes[cell], &region_.writers[cell], bytes);
    // All reads are over for who knows of this write.
    if (bytes == cell_mask) region_.reads[cell] = region_.more_reads[cell] = 0;
  } else {
    put_first(region_.reads[cell], region_.more_reads[cell], region_.readers[cell]);
  }
}

void Races::fail_lanes(const LaneAccess& access, std::uint32_t mark, const char* done) const {
  const std::uint32_t by = mark & lane_code_mask;
  const std::string who = by < warp_size        ? fmt::format("lane {} of the same warp has", by)
                          : by == several_lanes ? "several lanes of the same warp have"
                                                : "the same warp as a whole has";
  throw Fault(
      in_shared_ ? FaultKind::shared_race : FaultKind::block_race, access.lane, access.address,
      fmt::format("{} that {} {}, with no __syncwarp or barrier between that orders the two",
                  verb_of(access), who, done));
}

void Races::fail(const LaneAccess& access, std::uint32_t other, const char* done) const {
  const auto owner = time_.owner(interval_of(other));
  const std::uint64_t number = owner ? owner->block : block_.number;
  const std::uint32_t warp = owner ? owner->warp : 0;
  const Size3& size = block_.grid->size;
  const std::string who = number == block_.number
                              ? std::string("the same block")
                              : fmt::format("block ({}, {}, {})", number % size.x,
                                            number / size.x % size.y, number / size.x / size.y);
  const std::uint64_t threads = block_.grid->block_size.count();
  throw Fault(in_shared_ ? FaultKind::shared_race : FaultKind::block_race, access.lane,
              access.address,
              fmt::format("{} that a thread from {} to {} of {} has {}, with no barrier or fence "
                          "and atomic between that orders the two",
                          verb_of(access), warp * warp_size,
                          std::min<std::uint64_t>(threads, (warp + 1) * warp_size) - 1, who, done));
}

}  // namespace simgpu
