/// \file
/// A hash of words, for tables that compare in full what they find by it.
#pragma once

#include <cstdint>

namespace sinter {

class WordHash {
 public:
  /// An integer or an enumerator.
  template <typename Word>
  void add(Word word) {
    value_ = (value_ ^ static_cast<std::uint64_t>(word)) * 0xff51afd7ed558ccdu;
    value_ ^= value_ >> 32;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0x9e3779b97f4a7c15u;
};

}  // namespace sinter
