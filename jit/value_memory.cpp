#include "jit/value_memory.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "jit/alias.h"
#include "kernels/elementwise.h"

namespace sinter::jit {

Value packed(const kernels::ConstView& view) {
  Value copy = allocate({view.dtype, view.shape});
  kernels::copy(view, {address(copy, view.dtype), view.dtype, view.shape, copy.strides});
  return copy;
}

Value seen(const Node& node, const kernels::ConstView& input, const Value& value) {
  std::optional<Value> result = alias(node, input.shape, value);
  if (!result) result = alias(node, input.shape, packed(input));
  return *std::move(result);
}

std::vector<bool> read_at_several_positions(std::span<const Source> sources, std::size_t lists,
                                            std::size_t length) {
  std::vector<std::pair<std::uint32_t, std::size_t>> reads;  // operands by what they read
  for (std::size_t s = 0; s < sources.size(); ++s)
    reads.push_back({sources[s].index << 1 | sources[s].leaf, s});
  std::sort(reads.begin(), reads.end());
  const auto position = [&](std::size_t s) { return s < lists * length ? s % length : length; };
  std::vector<bool> result(sources.size(), false);
  for (std::size_t begin = 0, end = 0; begin < reads.size(); begin = end) {
    bool several = false;
    for (; end < reads.size() && reads[end].first == reads[begin].first; ++end)
      several = several || position(reads[end].second) != position(reads[begin].second);
    for (std::size_t j = begin; several && j < end; ++j) result[reads[j].second] = true;
  }
  return result;
}

}  // namespace sinter::jit
