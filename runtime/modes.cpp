#include "runtime/modes.h"

#include <exception>
#include <string>

#include "runtime/evaluate.h"
#include "runtime/log.h"
#include "runtime/variable.h"

namespace sinter {
namespace {

struct Modes {
  bool grad = true;
  RegionTag region;
};

thread_local Modes modes;

std::atomic<std::uint32_t> regions{0}, region_calls{0};

/// A pending graph larger than this at the end of a region is evaluated, so that a loop which never
/// reads cannot grow without end.
constexpr PendingSize most_pending{.nodes = 50'000, .pinned_bytes = std::int64_t{4} << 30};

bool must_submit() {
  if (WrittenVariables::any()) return true;
  const PendingSize pending = pending_size();
  if (pending.nodes <= most_pending.nodes && pending.pinned_bytes <= most_pending.pinned_bytes)
    return false;
  if (log_enabled(LogChannel::perf_hints))
    write_log({LogChannel::perf_hints,
               "",
               "the pending graph was evaluated because it had grown too large: read results, or "
               "let go of tensors that are not needed",
               {{"nodes", std::to_string(pending.nodes)},
                {"pinned_bytes", std::to_string(pending.pinned_bytes)}}});
  return true;
}

}  // namespace

bool grad_enabled() { return modes.grad; }

NoGrad::NoGrad() : previous_(modes.grad) { modes.grad = false; }
NoGrad::~NoGrad() { modes.grad = previous_; }

EnableGrad::EnableGrad() : previous_(modes.grad) { modes.grad = true; }
EnableGrad::~EnableGrad() { modes.grad = previous_; }

RegionTag current_region() { return modes.region; }

std::uint32_t new_region() { return regions.fetch_add(1, std::memory_order_relaxed) + 1; }

Region::Region(std::uint32_t region)
    : previous_(modes.region), exceptions_(std::uncaught_exceptions()) {
  modes.region = {region, region_calls.fetch_add(1, std::memory_order_relaxed) + 1, false};
}

Region::~Region() noexcept(false) {
  modes.region = previous_;
  const bool outermost = previous_.region == 0;
  const bool leaving_by_exception = std::uncaught_exceptions() > exceptions_;
  if (outermost && !leaving_by_exception && must_submit()) evaluate({});
}

BackwardRegion::BackwardRegion(RegionTag tag) : previous_(modes.region) {
  modes.region = {tag.region, tag.call, true};
}
BackwardRegion::~BackwardRegion() { modes.region = previous_; }

}  // namespace sinter
