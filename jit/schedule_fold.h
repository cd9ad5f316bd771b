/// \file
/// Schedule: the sums of a list of tensors as loops.
#pragma once

#include "jit/list_fold.h"
#include "jit/loop.h"

namespace sinter::jit {

/// In the order of kernels/reduce.h. Accesses of `blocks`: the elements of a tensor in rows of a
/// block each, and the blocks' sums. Accesses of `finish`: the blocks' sums as one row, and the
/// result.
struct FoldLoops {
  Loop blocks, finish;
};

FoldLoops schedule_fold(const ListFold& fold);

}  // namespace sinter::jit
