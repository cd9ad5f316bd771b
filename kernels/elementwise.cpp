#include "kernels/elementwise.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "kernels/checked_tile.h"
#include "kernels/tile_access.h"
#include "runtime/cpu/pool.h"
#include "runtime/error.h"

namespace sinter::kernels {
namespace {

/// Rows shorter than this are gathered several to a tile.
constexpr std::int64_t shortest_row = 256;

/// Elements a task has at least: what takes some microseconds, more than handing it to a thread.
std::int64_t elements_per_task(Op op) {
  const OpInfo& about = info(op);
  const bool heavy = (about.rule == Rule::floating && about.arity == 1) || op == Op::pow ||
                     op == Op::atan2 || op == Op::fmod || op == Op::remainder;
  return heavy ? 8192 : 32768;
}

using Buffer = std::array<std::byte, 8 * tile_size>;
struct alignas(64) Buffers {
  std::array<Buffer, 3> in;
  Buffer out;
};

class Elementwise {
 public:
  Elementwise(Op op, DType compute, std::span<const ConstView> inputs, const View& out,
              Fault& fault)
      : op_(op),
        count_(element_count(out.shape)),
        arity_(inputs.size()),
        function_(tile_function(tiles(), op, compute)),
        writer_(out, compute, tiles()),
        fault_(fault),
        checked_(is_checked(op, compute)) {
    if (function_ == nullptr)
      throw InternalError(std::string(to_string(op)) + ": no kernel in " +
                          std::string(to_string(compute)));
    bool direct = writer_.direct();
    row_ = writer_.run();
    for (std::size_t i = 0; i < arity_; ++i) {
      const TileReader& reader = readers_[i].emplace(inputs[i], compute, tiles());
      direct = direct && reader.direct();
      row_ = std::min(row_, reader.run());
    }
    if (row_ < shortest_row) {
      row_ = INT64_MAX;
      direct = false;
    }
    limit_ = direct && !checked_ ? INT64_MAX : tile_size;
  }

  void run() const {
    const std::int64_t tasks = std::max<std::int64_t>(1, count_ / elements_per_task(op_));
    const std::int64_t each = ((count_ + tasks - 1) / tasks + 63) / 64 * 64;
    cpu::parallel_for((count_ + each - 1) / each, [&](std::int64_t task) {
      run_range(task * each, std::min(count_, (task + 1) * each));
    });
  }

 private:
  void run_range(std::int64_t begin, std::int64_t end) const {
    Buffers buffers;
    while (begin < end) {
      std::int64_t count = std::min(limit_, end - begin);
      if (row_ != INT64_MAX) count = std::min(count, row_ - begin % row_);
      run_tile(begin, count, buffers);
      begin += count;
    }
  }

  void run_tile(std::int64_t first, std::int64_t count, Buffers& buffers) const {
    TileArguments tile;
    tile.count = count;
    for (std::size_t i = 0; i < arity_; ++i) {
      const auto [data, step] = readers_[i]->load(first, count, buffers.in[i].data());
      tile.in[i] = data;
      tile.step[i] = step;
    }
    void* const in_place = writer_.direct(first);
    tile.out = in_place != nullptr ? in_place : buffers.out.data();
    if (checked_) run_checked_tile(op_, function_, tile, first, fault_);
    else function_(tile);
    if (in_place == nullptr) writer_.store(tile.out, first, count);
  }

  Op op_;
  std::int64_t count_;
  std::size_t arity_;
  TileFunction function_;
  std::array<std::optional<TileReader>, 3> readers_;
  TileWriter writer_;
  Fault& fault_;
  bool checked_;        // the data can make the op fail
  std::int64_t row_;    // tiles end where rows of this length end; INT64_MAX: anywhere
  std::int64_t limit_;  // most elements of a tile
};

}  // namespace

void elementwise(Op op, DType compute, std::span<const ConstView> inputs, const View& out,
                 Fault& fault) {
  if (element_count(out.shape) == 0) return;
  Elementwise(op, compute, inputs, out, fault).run();
}

}  // namespace sinter::kernels
