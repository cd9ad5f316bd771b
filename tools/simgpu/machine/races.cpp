#include "tools/simgpu/machine/races.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/simgpu/machine/fault.h"

namespace simgpu {
namespace {

bool is_strong(Access kind) { return kind != Access::load && kind != Access::store; }

std::uint32_t interval_of(Cell cell) {
  return static_cast<std::uint32_t>(cell >> cell_interval_shift);
}
std::uint32_t mark_of(Cell cell, int half) {
  return static_cast<std::uint32_t>(cell >> half * mark_bits) & mark_mask;
}

std::uint32_t code_of(const LaneAccess& access) {
  return access.of_warp ? all_of_warp : static_cast<std::uint32_t>(access.lane);
}

}  // namespace

std::uint32_t Races::check(const LaneAccess& access) {
  const std::uint64_t offset = access.address - region_.base;
  const auto size = static_cast<std::uint64_t>(access.bytes);
  const std::uint64_t first = offset / cell_bytes, last = (offset + size - 1) / cell_bytes;
  std::uint32_t contested = 0;
  for (std::uint64_t cell = first; cell <= last; ++cell) {
    std::uint32_t bytes = whole_cell;
    if (size < cell_bytes) bytes = ((1u << size) - 1) << offset % cell_bytes;
    const std::uint32_t twice = check_cell(access, cell, bytes);
    if (twice != 0) contested |= twice >> offset % cell_bytes << (cell - first) * cell_bytes;
    remember(access, cell, bytes);
  }
  return contested;
}

std::uint32_t Races::look(const LaneAccess& access, Cell other, std::uint32_t bytes,
                          const char* done) {
  bytes &= static_cast<std::uint32_t>(other >> cell_bytes_shift);
  if (bytes == 0 || other < region_.before) return 0;
  if (!view(access).is_mine(other)) {
    if (!time_.is_over(access.warp->index, interval_of(other))) fail(access, other, done);
    return 0;
  }
  std::uint32_t open = 0;
  for (int half = 0; half < 2; ++half)
    if (!time_.lanes(access.warp->index).is_before(mark_of(other, half), code_of(access)))
      open |= bytes & 3u << 2 * half;
  return open;
}

std::uint32_t Races::check_cell(const LaneAccess& access, std::uint64_t cell, std::uint32_t bytes) {
  const auto need_over = [&](Cell other, const char* done) {
    const std::uint32_t open = look(access, other, bytes, done);
    if (open != 0) fail_lanes(access, mark_of(other, (open & 3u) != 0 ? 0 : 1), done);
  };
  std::uint32_t contested = 0;
  if (access.kind == Access::store && !access.of_warp)
    contested = look(access, region_.writes[cell], bytes, "written");
  else need_over(region_.writes[cell], "written");
  if (access.writes())
    for (const Cell* reads : {region_.reads, region_.more_reads}) need_over(reads[cell], "read");
  if (is_strong(access.kind) || page_of(cell).strong < region_.before) return contested;
  const StrongCells& strong = region_.strong[cell];
  for (const Cell& other : strong.last) need_over(other, "written by an atomic or volatile access");
  if (access.writes())
    for (const Cell& other : strong.readers)
      need_over(other, "read by an atomic or volatile access");
  return contested;
}

/// Whether nobody has to know of it who knows of the warp's present access.
bool Races::is_needless(const LaneAccess& access, Cell cell) const {
  const CellView seen = view(access);
  return seen.is_over(cell) || seen.is_mine(cell) ||
         time_.is_over(access.warp->index, interval_of(cell));
}

void Races::put(const LaneAccess& access, Cell& cell, std::uint32_t bytes) const {
  const CellView seen = view(access);
  const LaneTimes& lanes = time_.lanes(access.warp->index);
  cell = seen.joined(cell, bytes, seen.clock.lane_time | code_of(access),
                     [&](std::uint32_t mark) { return lanes.is_before(mark, code_of(access)); });
}

void Races::remember(const LaneAccess& access, std::uint64_t cell, std::uint32_t bytes) {
  const Cell now = view(access).clock.mine;
  PageCells& page = page_of(cell);
  const auto put_in_one = [&](Cell& first, Cell& second) {
    if (is_needless(access, first)) put(access, first, bytes);
    else if (is_needless(access, second)) put(access, second, bytes);
  };
  if (is_strong(access.kind)) {
    page.strong = now;
    StrongCells& strong = region_.strong[cell];
    // Who comes behind an atomic comes behind those whose values it has read: PTX ISA 8.9.5.
    if (access.kind == Access::atomic)
      for (Cell& other : strong.last) {
        other &= ~(Cell{bytes} << cell_bytes_shift);
        if ((other >> cell_bytes_shift & whole_cell) == 0) other = 0;
      }
    if (access.writes()) put_in_one(strong.last[0], strong.last[1]);
    else put_in_one(strong.readers[0], strong.readers[1]);
  } else if (access.writes()) {
    page.writes = now;
    put(access, region_.writes[cell], bytes);
    // All reads are over for who knows of this write.
    if (bytes == whole_cell) region_.reads[cell] = region_.more_reads[cell] = 0;
  } else {
    page.reads = page.more_reads = now;
    put_in_one(region_.reads[cell], region_.more_reads[cell]);
  }
}

void Races::fail_lanes(const LaneAccess& access, std::uint32_t mark, const char* done) const {
  const std::uint32_t by = mark & lane_code_mask;
  const std::string who = by < warp_size        ? fmt::format("lane {} of the same warp has", by)
                          : by == several_lanes ? "several lanes of the same warp have"
                                                : "the same warp as a whole has";
  throw Fault(
      in_shared_ ? FaultKind::shared_race : FaultKind::global_race, access.lane, access.address,
      fmt::format("{} that {} {}, with no __syncwarp or barrier between that orders the two",
                  verb_of(access), who, done));
}

void Races::fail(const LaneAccess& access, Cell other, const char* done) const {
  const auto owner = time_.owner(interval_of(other));
  const std::uint64_t number = owner ? owner->block : block_.number;
  const std::uint32_t warp = owner ? owner->warp : 0;
  const Size3& size = block_.grid->size;
  const std::string who = number == block_.number
                              ? std::string("the same block")
                              : fmt::format("block ({}, {}, {})", number % size.x,
                                            number / size.x % size.y, number / size.x / size.y);
  const std::uint64_t threads = block_.grid->block_size.count();
  throw Fault(in_shared_ ? FaultKind::shared_race : FaultKind::global_race, access.lane,
              access.address,
              fmt::format("{} that a thread from {} to {} of {} has {}, with no barrier or fence "
                          "and atomic between that orders the two",
                          verb_of(access), warp * warp_size,
                          std::min<std::uint64_t>(threads, (warp + 1) * warp_size) - 1, who, done));
}

}  // namespace simgpu
