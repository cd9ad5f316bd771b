#include "jit/map_readers.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace sinter::jit {

std::vector<bool> read_by_others(std::span<const Source> operands, std::span<const Source> bases,
                                 std::size_t lists, std::size_t length) {
  std::vector<std::pair<std::uint32_t, std::size_t>> reads;  // operands by what they read
  for (std::size_t s = 0; s < bases.size(); ++s) reads.push_back({bases[s].key(), s});
  std::sort(reads.begin(), reads.end());
  const auto position = [&](std::size_t s) { return s < lists * length ? s % length : length; };
  const auto alike = [&](std::size_t a, std::size_t b) {
    return position(a) == position(b) && operands[a] == operands[b];
  };
  std::vector<bool> result(operands.size(), false);
  for (std::size_t begin = 0, end = 0; begin < reads.size(); begin = end) {
    bool several = false;
    for (; end < reads.size() && reads[end].first == reads[begin].first; ++end)
      several = several || !alike(reads[end].second, reads[begin].second);
    for (std::size_t j = begin; several && j < end; ++j) result[reads[j].second] = true;
  }
  return result;
}

}  // namespace sinter::jit
