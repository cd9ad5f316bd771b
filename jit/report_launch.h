/// \file
/// Report: the first run of a program, with the memory of its generated kernels.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jit/launch.h"
#include "jit/lower.h"
#include "jit/observer.h"
#include "jit/report_file.h"

namespace sinter::jit {

/// Writes launch.jsonl and launch.bin into the folder of a program when it ends, however the run
/// did. Each kernel's first launch is kept, where it touches at most 64 MiB: from that and its
/// source it can be run alone (tools/inspect).
class LaunchReport final : public Observer {
 public:
  LaunchReport(const std::string& folder, const LoweringRecord& record);
  ~LaunchReport() override;

  std::exception_ptr after_step(std::size_t step,
                                std::span<const kernels::ConstView> results) override;
  bool after_operation(const LiveValues& values, const Operation& operation) override;
  void before_launch(std::span<const LaunchPart> parts) override;
  void after_launch(std::span<const LaunchPart> parts) override;
  bool may_refuse() const override { return false; }

  /// What the last kernels gave should have been `meant`, both without gaps: that is what is
  /// expected when they are run again.
  void expect(const kernels::ConstView& given, const kernels::ConstView& meant);

 private:
  /// Memory that a kernel touches, in one piece.
  struct Piece {
    const std::byte* begin;
    const std::byte* end;
    bool written;
    std::uint64_t before = 0, after = 0;  ///< where it lies in launch.bin
  };

  /// A launch whose memory is kept.
  struct Kept {
    std::size_t part;
    std::size_t kernel;
    std::vector<Piece> pieces;
  };
  using Clock = std::chrono::steady_clock;

  void lap(const char* kind, std::size_t number);
  std::optional<std::size_t> new_kernel(kernels::LoopFunction function);
  static std::vector<Piece> pieces_of(const LaunchPart& part);
  std::uint64_t keep(const Piece& piece);
  void append_launch(const LaunchPart& part, const Kept& kept, std::chrono::nanoseconds took);
  void give_up(const std::exception& problem);

  const LoweringRecord& record_;
  std::string folder_;                  // empty once something could not be written
  std::unique_ptr<ReportFile> memory_;  // launch.bin
  std::uint64_t memory_bytes_ = 0;
  std::string lines_;
  std::chrono::nanoseconds ran_{};         // all operations so far
  Clock::time_point last_ = Clock::now();  // when the last operation ended
  Clock::duration keeping_{};              // time since then that no operation took
  std::size_t operations_ = 0;
  std::set<std::size_t> launched_;  // the kernels that have been
  Clock::time_point begin_;         // of the launch
  std::vector<Kept> kept_;          // of the last one
};

}  // namespace sinter::jit
