/// \file
/// The median, as every bench prints it.
#pragma once

#include <algorithm>
#include <vector>

namespace sinter {

/// The middle value, or the mean of the two in the middle; there is at least one.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace sinter
