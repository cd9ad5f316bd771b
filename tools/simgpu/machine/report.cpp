#include "tools/simgpu/machine/report.h"

#include <fmt/format.h>

#include <cstdio>
#include <mutex>

#include "tools/simgpu/machine/settings.h"

namespace simgpu {
namespace {

constexpr const char* title_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds: return "access out of bounds";
    case FaultKind::use_after_free: return "use of freed memory";
    case FaultKind::misaligned: return "misaligned access";
    case FaultKind::wrong_space: return "address of another space";
    case FaultKind::uninitialised: return "read of uninitialised memory";
    case FaultKind::shared_race: return "race in shared memory";
    case FaultKind::global_race: return "race in global memory";
    case FaultKind::divergent_barrier: return "divergent barrier";
    case FaultKind::absent_lane: return "absent lane";
    case FaultKind::missing_wait: return "missing wait for an asynchronous copy";
    case FaultKind::illegal_instruction: return "illegal instruction";
    case FaultKind::trapped: return "trap";
    case FaultKind::asserted: return "failed assertion";
    case FaultKind::no_progress: return "no progress";
  }
  return "";
}

std::string text_of(const Size3& place) {
  return fmt::format("({}, {}, {})", place.x, place.y, place.z);
}

std::string line_of(const Kernel& kernel, const Origin& origin) {
  std::string text = fmt::format("line {} of the PTX", origin.line);
  const auto file = static_cast<std::size_t>(origin.source_file);
  if (origin.source_file > 0 && file < kernel.files.size())
    text += fmt::format(", {}:{}", kernel.files[file], origin.source_line);
  return text;
}

}  // namespace

FaultReport report_of(const Fault& fault, const Grid& grid, const FaultPlace& place) {
  const Kernel& kernel = *grid.kernel;
  FaultReport report;
  report.kind = fault.kind();
  report.text = fmt::format("simgpu (a simulation, no hardware): {}\n  {}\n  kernel {}",
                            title_of(fault.kind()), fault.what(), kernel.name);
  if (place.pc < kernel.origins.size()) {
    const Origin& origin = kernel.origins[place.pc];
    report.text += fmt::format(", {}, {}", origin.opcode, line_of(kernel, origin));
  }
  report.text += fmt::format("\n  launch {}, block {} of {}, ", grid.id, text_of(place.block),
                             text_of(grid.size));
  const std::uint64_t first = std::uint64_t{place.warp} * warp_size;
  const Size3& size = grid.block_size;
  if (fault.lane() == Fault::every_lane) {
    report.text += fmt::format("warp {} (threads from {})", place.warp, first);
  } else {
    const std::uint64_t thread = first + static_cast<std::uint64_t>(fault.lane());
    report.text += fmt::format("thread ({}, {}, {}) of {}", thread % size.x,
                               thread / size.x % size.y, thread / size.x / size.y, text_of(size));
  }
  if (fault.address() != 0) report.text += fmt::format(", address {:#x}", fault.address());
  report.text += '\n';
  return report;
}

void publish(const std::string& text) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::fputs(text.c_str(), stderr);
  const std::string& path = settings().report;
  if (path.empty()) return;
  std::FILE* file = std::fopen(path.c_str(), "a");
  if (file == nullptr) {
    std::fprintf(stderr, "simgpu: SIMGPU_REPORT=%s cannot be written\n", path.c_str());
    return;
  }
  std::fputs(text.c_str(), file);
  std::fclose(file);
}

}  // namespace simgpu
