#include "jit/launch_map.h"

#include <cstring>
#include <numeric>

#include "jit/alias.h"
#include "jit/group_launch.h"
#include "jit/launch.h"
#include "jit/reading.h"
#include "jit/value_memory.h"

namespace sinter::jit {
namespace {

using kernels::ConstView;
using kernels::View;

/// What the accesses of a map's loop address at one position: its lists, what is shared, its
/// results.
class MapLaunch {
 public:
  MapLaunch(const PlannedMap& map, std::span<const ConstView> inputs, std::span<const View> outputs,
            const std::vector<kernels::LoopNumber>& numbers, Observers observers)
      : map_(map),
        inputs_(inputs),
        outputs_(outputs),
        numbers_(numbers),
        observers_(observers),
        lists_(map.map.lists()),
        shared_(map.map.body->shared_dtypes.size()),
        results_(outputs.size() / length()) {}

  void run() {
    if (map_.single && length() > 1) return run_as_row();
    for (std::size_t p = 0; p < length(); ++p)
      if (element_count(shape(p)) != 0) add(p, is_row(p) ? row(p) : rows(p));
    launch_parts();
  }

 private:
  /// No part takes an index that could be refused.
  void launch_parts() {
    observed_launch(observers_, parts_, [&] { return launch_together(parts_); });
  }

  std::size_t length() const { return map_.map.length; }
  std::size_t access_count() const { return lists_ + shared_ + results_; }
  const ConstView& list(std::size_t l, std::size_t p) const { return inputs_[l * length() + p]; }
  const ConstView& shared(std::size_t s) const { return inputs_[lists_ * length() + s]; }
  const View& result(std::size_t r, std::size_t p) const { return outputs_[r * length() + p]; }
  const Shape& shape(std::size_t p) const { return outputs_[p].shape; }
  const Loop& loop(std::size_t p) const { return map_.loops[map_.loop_of[p]]; }

  /// Whether the operand has an element for each of the position.
  bool is_whole(std::size_t l, std::size_t p) const {
    return list(l, p).shape.rank() == shape(p).rank();
  }

  void add(std::size_t p, Launch launch) {
    launch.numbers = numbers_;
    parts_.push_back({&loop(p), map_.functions[map_.loop_of[p]], std::move(launch)});
  }

  bool is_row(std::size_t p) const {
    for (std::size_t l = 0; l < lists_; ++l)
      if (is_whole(l, p) && !is_contiguous(list(l, p).shape, list(l, p).strides)) return false;
    return true;
  }

  /// All elements of a position as one row.
  Launch row(std::size_t p) const {
    Launch launch;
    launch.columns = element_count(shape(p));
    launch.accesses.reserve(access_count());
    for (std::size_t l = 0; l < lists_; ++l)
      launch.accesses.push_back(access_to(list(l, p).data, is_whole(l, p) ? 1 : 0));
    for (std::size_t s = 0; s < shared_; ++s)
      launch.accesses.push_back(access_to(shared(s).data, 0));
    for (std::size_t r = 0; r < results_; ++r)
      launch.accesses.push_back(access_to(result(r, p).data, 1));
    return launch;
  }

  /// The last axis of a position as columns, and others too where elements lie so.
  Launch rows(std::size_t p) {
    Dims sizes = wide_sizes(shape(p));
    std::vector<int> axes(static_cast<std::size_t>(sizes.rank()));
    std::iota(axes.begin(), axes.end(), 0);
    std::vector<LaidOperand> laid;
    const auto lay = [&](const void* data, const Shape& own, const Strides& strides) {
      laid.push_back({const_cast<void*>(data), strides_in_space(own, strides, axes, sizes.rank())});
    };
    for (std::size_t l = 0; l < lists_; ++l) {
      const ConstView view = as_expected(l, p);
      lay(view.data, view.shape, view.strides);
    }
    for (std::size_t s = 0; s < shared_; ++s) lay(shared(s).data, {}, {});
    for (std::size_t r = 0; r < results_; ++r)
      lay(result(r, p).data, result(r, p).shape, result(r, p).strides);
    int rows = std::max(sizes.rank() - 1, 0);
    join_axes(laid, sizes, rows, true);
    Launch launch;
    for (int axis = 0; axis < rows; ++axis) launch.rows.push_back(sizes[axis]);
    launch.columns = rows < sizes.rank() ? sizes[rows] : 1;
    for (const LaidOperand& operand : laid) {
      launch.accesses.push_back(
          access_to(operand.base, rows < sizes.rank() ? operand.strides[rows] : 0));
      for (int axis = 0; axis < rows; ++axis)
        launch.accesses.back().row_strides[axis] = operand.strides[axis];
    }
    return launch;
  }

  /// The operand, or a copy where elements along the last axis are no neighbours: a transposed one
  /// is copied much faster than it is read with a stride.
  ConstView as_expected(std::size_t l, std::size_t p) {
    const ConstView& view = list(l, p);
    if (has_contiguous_rows(view.shape, view.strides)) return view;
    copies_.push_back(packed(view));
    return view_of(copies_.back(), Result{view.dtype, view.shape});
  }

  /// Positions of one element each, as the counts of an optimizer's steps are, become one row.
  void run_as_row() {
    Launch launch;
    launch.columns = static_cast<std::int64_t>(length());
    const Shape all{launch.columns};
    const auto room = [&](DType dtype) {
      copies_.push_back(allocate({dtype, all}));
      launch.accesses.push_back(access_to(address(copies_.back(), dtype), 1));
      return static_cast<std::byte*>(launch.accesses.back().base);
    };
    for (std::size_t l = 0; l < lists_; ++l) {
      const std::size_t item = item_size(list(l, 0).dtype);
      std::byte* to = room(list(l, 0).dtype);
      for (std::size_t p = 0; p < length(); ++p, to += item) std::memcpy(to, list(l, p).data, item);
    }
    for (std::size_t s = 0; s < shared_; ++s)
      launch.accesses.push_back(access_to(shared(s).data, 0));
    std::vector<const std::byte*> made;
    for (std::size_t r = 0; r < results_; ++r) made.push_back(room(result(r, 0).dtype));
    add(0, std::move(launch));
    launch_parts();
    for (std::size_t r = 0; r < results_; ++r) {
      const std::size_t item = item_size(result(r, 0).dtype);
      const std::byte* from = made[r];
      for (std::size_t p = 0; p < length(); ++p, from += item)
        std::memcpy(result(r, p).data, from, item);
    }
  }

  const PlannedMap& map_;
  const std::span<const ConstView> inputs_;
  const std::span<const View> outputs_;
  const std::vector<kernels::LoopNumber>& numbers_;
  const Observers observers_;
  const std::size_t lists_, shared_, results_;
  std::vector<LaunchPart> parts_;
  std::vector<Value> copies_;
};

}  // namespace

void launch_map(const PlannedMap& map, std::span<const ConstView> inputs,
                std::span<const View> outputs, const std::vector<kernels::LoopNumber>& numbers,
                Observers observers) {
  MapLaunch(map, inputs, outputs, numbers, observers).run();
}

}  // namespace sinter::jit
