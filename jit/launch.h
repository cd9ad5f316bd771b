/// \file
/// Launch: a generated kernel over its rows, on the pool.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/loop.h"
#include "kernels/loop_arguments.h"
#include "runtime/shape.h"

namespace sinter::jit {

/// One launch of a loop: the sizes it walks and where its accesses lie.
struct Launch {
  Shape rows;  ///< the sizes of the rows' axes; none for one row
  std::int64_t columns = 0;
  std::vector<kernels::LoopAccess> accesses;  ///< one for each of the loop's
  std::vector<kernels::LoopNumber> numbers;   ///< one for each of the loop's
};

/// An access to elements of one row, or of rows that lie `row_stride` apart.
kernels::LoopAccess access_to(const void* base, std::int64_t column_stride,
                              std::int64_t row_stride = 0);

/// Blocks of rows that add_rows leaves a sum of each.
std::int64_t row_block_count(const Shape& rows);

/// The arguments of a launch, but for the host's functions. Work is cut by the sizes alone.
kernels::LoopArguments arguments_of(const Loop& loop, const Launch& launch);

/// Runs `function`, compiled from `loop`.
/// \return false where an index was out of its extent; 0 has been taken in its place.
bool launch(const Loop& loop, kernels::LoopFunction function, const Launch& launch);

/// One of several launches that run together.
struct LaunchPart {
  const Loop* loop;
  kernels::LoopFunction function;
  Launch launch;
};

/// Runs all parts at once: no part may read or write what another one writes. \return as above.
bool launch_together(const std::vector<LaunchPart>& parts);

}  // namespace sinter::jit
