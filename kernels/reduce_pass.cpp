#include "kernels/reduce_pass.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "kernels/tile_access.h"
#include "runtime/cpu/pool.h"

namespace sinter::kernels {
namespace {

constexpr std::int64_t elements_per_task = 32768;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Room for one block in the compute type.
struct alignas(64) Scratch {
  std::array<std::byte, 8 * row_block> bytes;
  bool holds_uniform = false;
};

/// The elements of a pass's input, as contiguous runs in the compute type.
class Source {
 public:
  explicit Source(const PassInput& input)
      : reader_(input.view, input.compute, tiles()), prepare_(input.prepare) {}

  bool uniform() const { return reader_.uniform(); }

  /// The address of an element from which all others are reached without a copy, or null.
  const void* in_place(std::int64_t first) const {
    return prepare_ == nullptr ? reader_.in_place(first) : nullptr;
  }

  /// At most row_block elements from `first`.
  const void* load(std::int64_t first, std::int64_t count, Scratch& scratch) const {
    if (const void* at = in_place(first)) return at;
    if (reader_.uniform()) {
      if (!scratch.holds_uniform) load_into(first, row_block, scratch.bytes.data());
      scratch.holds_uniform = true;
    } else {
      load_into(first, count, scratch.bytes.data());
    }
    return scratch.bytes.data();
  }

  void load_into(std::int64_t first, std::int64_t count, void* to) const {
    if (prepare_ == nullptr) return reader_.load_into(first, count, to);
    const auto [data, step] = reader_.load(first, count, to);
    alignas(64) static constexpr std::array<std::byte, 8 * tile_vector> zeros{};
    prepare_({{data, zeros.data(), nullptr}, {step, 0, 0}, to, count});
  }

 private:
  TileReader reader_;
  TileFunction prepare_;
};

/// Calls body(first, last) over ranges of `units` units of `elements` elements each.
template <typename Body>
void in_tasks(std::int64_t units, std::int64_t elements, Body body) {
  const std::int64_t each = std::max<std::int64_t>(1, elements_per_task / elements);
  cpu::parallel_for(ceil_div(units, each), [&](std::int64_t task) {
    body(task * each, std::min(units, (task + 1) * each));
  });
}

/// Blocks of rows: [outer, extent] becomes [outer, blocks].
class RowPass {
 public:
  RowPass(Combine combine, const Source& source, DType compute, std::int64_t outer,
          std::int64_t extent, std::byte* out)
      : source_(source),
        rows_(reduce_tiles().rows[compute_index(compute)][static_cast<std::size_t>(combine)]),
        item_(static_cast<std::int64_t>(item_size(compute))),
        outer_(outer),
        extent_(extent),
        out_(out) {}

  void run() const { extent_ <= row_block ? run_short_rows() : run_blocks(); }

 private:
  /// As many rows at a time as a block holds.
  void run_short_rows() const {
    const std::int64_t several = row_block / extent_;
    in_tasks(ceil_div(outer_, several), several * extent_,
             [&](std::int64_t unit, std::int64_t last) {
               Scratch scratch;
               for (; unit < last; ++unit) {
                 const std::int64_t first = unit * several;
                 const std::int64_t count = std::min(several, outer_ - first);
                 const void* from = source_.load(first * extent_, count * extent_, scratch);
                 rows_(from, count, extent_, out_ + first * item_);
               }
             });
  }

  void run_blocks() const {
    const std::int64_t blocks = ceil_div(extent_, row_block);
    in_tasks(outer_ * blocks, row_block, [&](std::int64_t first, std::int64_t last) {
      Scratch scratch;
      for (std::int64_t unit = first; unit < last; ++unit) {
        const std::int64_t row = unit / blocks, begin = unit % blocks * row_block;
        const std::int64_t count = std::min(row_block, extent_ - begin);
        if (source_.uniform() && unit > first && begin > 0 && count == row_block) {
          std::memcpy(out_ + unit * item_, out_ + (unit - 1) * item_,
                      static_cast<std::size_t>(item_));
          continue;  // as the block before
        }
        const void* from = source_.load(row * extent_ + begin, count, scratch);
        rows_(from, 1, count, out_ + unit * item_);
      }
    });
  }

  const Source& source_;
  RowsFunction rows_;
  std::int64_t item_, outer_, extent_;
  std::byte* out_;
};

/// Blocks of columns: [outer, extent, inner] becomes [outer, blocks, inner].
class ColumnPass {
 public:
  ColumnPass(Combine combine, const Source& source, DType compute, std::int64_t outer,
             std::int64_t extent, std::int64_t inner, std::byte* out)
      : source_(source),
        columns_(reduce_tiles().columns[compute_index(compute)][static_cast<std::size_t>(combine)]),
        item_(static_cast<std::int64_t>(item_size(compute))),
        outer_(outer),
        extent_(extent),
        inner_(inner),
        blocks_(ceil_div(extent, column_block)),
        strip_(std::min(inner, source.in_place(0) != nullptr ? row_block : row_block / 8)),
        out_(out) {}

  /// A unit is a strip of a block: some of the columns.
  void run() const {
    const std::int64_t strips = ceil_div(inner_, strip_);
    in_tasks(outer_ * blocks_ * strips, strip_ * std::min(extent_, column_block),
             [&](std::int64_t unit, std::int64_t last) {
               Scratch scratch;
               for (; unit < last; ++unit) run_strip(unit / strips, unit % strips, scratch);
             });
  }

 private:
  void run_strip(std::int64_t block, std::int64_t strip, Scratch& scratch) const {
    const std::int64_t row = block / blocks_ * extent_ + block % blocks_ * column_block;
    const std::int64_t rows = std::min(column_block, extent_ - block % blocks_ * column_block);
    const std::int64_t column = strip * strip_, width = std::min(strip_, inner_ - column);
    std::byte* const out = out_ + (block * inner_ + column) * item_;
    const std::int64_t first = row * inner_ + column;
    if (const void* from = source_.in_place(first))
      return columns_(from, inner_, rows, width, out, true);
    const std::int64_t several = row_block / width;
    for (std::int64_t r = 0; r < rows; r += several) {
      const std::int64_t count = std::min(several, rows - r);
      load_rows(first + r * inner_, count, width, scratch);
      columns_(scratch.bytes.data(), width, count, width, out, r == 0);
    }
  }

  void load_rows(std::int64_t first, std::int64_t count, std::int64_t width,
                 Scratch& scratch) const {
    if (width == inner_) return source_.load_into(first, count * width, scratch.bytes.data());
    for (std::int64_t r = 0; r < count; ++r)
      source_.load_into(first + r * inner_, width, scratch.bytes.data() + r * width * item_);
  }

  const Source& source_;
  ColumnsFunction columns_;
  std::int64_t item_, outer_, extent_, inner_, blocks_, strip_;
  std::byte* out_;
};

/// An extent of 1: only the conversion and the preparation.
void convert(const Source& source, std::int64_t count, std::int64_t item, std::byte* out) {
  for (std::int64_t first = 0; first < count; first += row_block)
    source.load_into(first, std::min(row_block, count - first), out + first * item);
}

}  // namespace

void reduce_pass(Combine combine, const PassInput& input, std::int64_t outer, std::int64_t extent,
                 std::int64_t inner, void* out) {
  const auto item = static_cast<std::int64_t>(item_size(input.compute));
  auto* const result = static_cast<std::byte*>(out);
  PassInput from = input;
  std::unique_ptr<std::byte[]> held;
  while (true) {
    const Source source(from);
    if (extent == 1) return convert(source, outer * inner, item, result);
    const std::int64_t blocks = ceil_div(extent, inner == 1 ? row_block : column_block);
    const std::int64_t count = outer * blocks * inner;
    const bool last = blocks == 1;
    std::unique_ptr<std::byte[]> partial;
    if (!last)
      partial = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(count * item));
    std::byte* const to = last ? result : partial.get();
    if (inner == 1) RowPass(combine, source, input.compute, outer, extent, to).run();
    else ColumnPass(combine, source, input.compute, outer, extent, inner, to).run();
    if (last) return;
    held = std::move(partial);
    from = {{held.get(), input.compute, {count}, {1}}, input.compute};
    extent = blocks;
  }
}

}  // namespace sinter::kernels
