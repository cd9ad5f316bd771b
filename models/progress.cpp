#include "models/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sinter::models {
namespace {

constexpr std::chrono::milliseconds bar_interval{200};
constexpr std::chrono::seconds line_interval{10};

std::string duration(double seconds) {
  const auto whole = std::int64_t{std::lround(seconds)};
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string title, std::int64_t total, std::int64_t done)
    : title_(std::move(title)),
      total_(total),
      first_(done),
      terminal_(::isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (line_open_) std::fputc('\n', stderr);
}

bool Progress::due(std::int64_t done) const {
  if (done == total_ || done == first_ + 1) return true;
  return Clock::now() - last_ >=
         (terminal_ ? Clock::duration(bar_interval) : Clock::duration(line_interval));
}

void Progress::show(std::int64_t done, double loss) {
  last_ = Clock::now();
  const double seconds = std::chrono::duration<double>(last_ - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done - first_) / seconds : 0;
  const double left = rate > 0 ? static_cast<double>(total_ - done) / rate : 0;
  const std::string numbers = fmt::format("{}/{}  loss {:.4f}  {:.1f} steps/s  {} left", done,
                                          total_, loss, rate, duration(left));
  if (!terminal_) {
    fmt::print(stderr, "{} {}\n", title_, numbers);
    return;
  }
  constexpr std::int64_t width = 30;
  const std::int64_t filled =
      total_ > 0 ? std::clamp<std::int64_t>(done * width / total_, 0, width) : width;
  std::string bar;
  for (std::int64_t i = 0; i < width; ++i) bar += i < filled ? "█" : "░";
  // The rest of an earlier, longer line is erased.
  fmt::print(stderr, "\r{} {} {}\x1b[K", title_, bar, numbers);
  std::fflush(stderr);
  line_open_ = true;
}

}  // namespace sinter::models
