#include "jit/launch_fold.h"

#include <cstring>

#include "jit/launch.h"
#include "jit/value_memory.h"
#include "kernels/sum_blocks.h"

namespace sinter::jit {
namespace {

using kernels::ConstView;
using kernels::row_block;

/// A tensor of no elements has a block whose sum is 0.
std::int64_t block_count(const Shape& shape) {
  return std::max<std::int64_t>(1, (element_count(shape) + row_block - 1) / row_block);
}

class FoldLaunch {
 public:
  FoldLaunch(const PlannedFold& fold, std::span<const ConstView> tensors, Observers observers)
      : fold_(fold),
        tensors_(tensors),
        observers_(observers),
        compute_(fold.loops.blocks.accesses[1].dtype),
        item_(static_cast<std::int64_t>(item_size(compute_))) {}

  void run(const kernels::View& output) {
    std::int64_t blocks = 0;
    for (const ConstView& tensor : tensors_) blocks += block_count(tensor.shape);
    const Value all = allocate({compute_, {blocks}});
    std::byte* const sums = address(all, compute_);
    sum_blocks(sums);
    finish(sums, output);
  }

 private:
  void sum_blocks(std::byte* sums) {
    parts_.reserve(2 * tensors_.size());
    for (const ConstView& tensor : tensors_) {
      add_tensor(tensor, sums);
      sums += block_count(tensor.shape) * item_;
    }
    launch_parts();
  }

  void finish(const std::byte* sums, const kernels::View& output) {
    auto* result = static_cast<std::byte*>(output.data);
    for (const ConstView& tensor : tensors_) {
      const std::int64_t blocks = block_count(tensor.shape);
      add(fold_.loops.finish, fold_.finish, {}, blocks, {access_to(sums, 1), access_to(result, 0)});
      sums += blocks * item_;
      result += item_size(output.dtype);
    }
    launch_parts();
  }

  /// No part takes an index that could be refused.
  void launch_parts() {
    observed_launch(observers_, parts_, [&] { return launch_together(parts_); });
    parts_.clear();
  }

  /// The whole blocks are rows, and what is left is another.
  void add_tensor(const ConstView& tensor, std::byte* sums) {
    const std::int64_t count = element_count(tensor.shape), whole = count / row_block;
    if (count == 0) std::memset(sums, 0, static_cast<std::size_t>(item_));
    const void* elements = tensor.data;
    if (!is_contiguous(tensor.shape, tensor.strides)) {
      copies_.push_back(packed(tensor));
      elements = copies_.back().storage->data();
    }
    const auto* bytes = static_cast<const std::byte*>(elements);
    const auto add_rows = [&](std::int64_t first, std::int64_t rows, std::int64_t columns) {
      const std::int64_t skipped =
          first * row_block * static_cast<std::int64_t>(item_size(tensor.dtype));
      if (rows * columns > 0)
        add(fold_.loops.blocks, fold_.blocks, {rows}, columns,
            {access_to(bytes + skipped, 1, row_block), access_to(sums + first * item_, 0, 1)});
    };
    add_rows(0, whole, row_block);
    add_rows(whole, 1, count % row_block);
  }

  void add(const Loop& loop, kernels::LoopFunction function, const Shape& rows,
           std::int64_t columns, std::vector<kernels::LoopAccess> accesses) {
    parts_.push_back({&loop, function, {rows, columns, std::move(accesses), {}}});
  }

  const PlannedFold& fold_;
  const std::span<const ConstView> tensors_;
  const Observers observers_;
  const DType compute_;      // of a block's sum
  const std::int64_t item_;  // its bytes
  std::vector<Value> copies_;
  std::vector<LaunchPart> parts_;
};

}  // namespace

void launch_fold(const PlannedFold& fold, std::span<const ConstView> tensors,
                 const kernels::View& output, Observers observers) {
  FoldLaunch(fold, tensors, observers).run(output);
}

}  // namespace sinter::jit
