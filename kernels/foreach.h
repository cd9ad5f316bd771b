/// \file
/// A straight line of elementwise steps over lists of tensors: the horizontal kernel that
/// optimizers run in. Each tensor is walked once, tile by tile, all steps on a tile while it is in
/// the cache.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/fault.h"
#include "kernels/view.h"
#include "runtime/op.h"

namespace sinter::kernels {

/// An elementwise op, or a cast, on values by number.
struct ForeachOp {
  Op op;
  DType dtype;                  ///< of the result, to which it is rounded
  std::array<int, 3> operands;  ///< -1 where the op has fewer
  DType compute;                ///< the type the arithmetic is done in
};

/// A host number: `real` where the dtype is floating, else `integer`; rounded to the dtype.
struct ForeachNumber {
  DType dtype;
  double real;
  std::int64_t integer;
};

/// Values are numbered: first one for each list, then the shared tensors of shape [], then the
/// numbers, then the result of each step.
struct ForeachBody {
  std::span<const DType> list_dtypes;
  std::span<const DType> shared_dtypes;
  std::span<const ForeachNumber> numbers;
  std::span<const ForeachOp> steps;
  std::span<const int> results;
};

/// `inputs`: list l at position p is inputs[l * length + p], then the shared tensors. `outputs`:
/// result r at position p is outputs[r * length + p], row-major without gaps; all results at a
/// position have one shape, which its inputs have too, or []. An output may be the memory of an
/// input at its position with the same dtype and shape. Faults as of elementwise(), their position
/// counted within the tensor.
void foreach_map(const ForeachBody& body, std::int64_t length, std::span<const ConstView> inputs,
                 std::span<const View> outputs, Fault& fault);

}  // namespace sinter::kernels
