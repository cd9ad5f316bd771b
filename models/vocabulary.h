/// \file
/// Words and their token numbers.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/sinter.h>

namespace sinter::models {

inline constexpr std::int64_t pad_token = 0, start_token = 1, end_token = 2, first_word = 3;

/// A closed list of words; word i has the token `first_word + i`.
class Vocabulary {
 public:
  /// \throws UsageError for a word that is empty, has a space in it or is listed twice.
  explicit Vocabulary(std::vector<std::string> words, Where where = Where::current());

  /// Tokens in use, those of PAD, START and END included.
  std::int64_t size() const { return first_word + std::ssize(words_); }

  /// The words of a text that are set apart by single or several spaces; no START, no END.
  /// \throws UsageError naming a word that is not in the list.
  std::vector<std::int64_t> tokens(std::string_view text, Where where = Where::current()) const;

  /// The words up to the first END, with single spaces; PAD and START are left out, and a token
  /// without a word shows as `?`: a model may predict any.
  std::string text(std::span<const std::int64_t> tokens) const;

 private:
  std::vector<std::string> words_;
  std::map<std::string, std::int64_t, std::less<>> tokens_;
};

}  // namespace sinter::models
