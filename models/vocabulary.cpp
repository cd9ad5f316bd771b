#include "models/vocabulary.h"

#include <fmt/format.h>

#include <utility>

namespace sinter::models {

Vocabulary::Vocabulary(std::vector<std::string> words, Where where) : words_(std::move(words)) {
  for (const std::string& word : words_) {
    if (word.empty() || word.find(' ') != word.npos)
      usage_error("Vocabulary", fmt::format("\"{}\" is not one word", word), where);
    const auto token = first_word + std::ssize(tokens_);
    if (!tokens_.emplace(word, token).second)
      usage_error("Vocabulary", fmt::format("the word {} is listed twice", word), where);
  }
}

std::vector<std::int64_t> Vocabulary::tokens(std::string_view text, Where where) const {
  std::vector<std::int64_t> result;
  for (std::size_t begin = 0; (begin = text.find_first_not_of(' ', begin)) != text.npos;) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    const auto found = tokens_.find(word);
    if (found == tokens_.end())
      usage_error("Vocabulary::tokens", fmt::format("the word {} is not known", word), where);
    result.push_back(found->second);
    begin = end;
  }
  return result;
}

std::string Vocabulary::text(std::span<const std::int64_t> tokens) const {
  std::string result;
  for (const std::int64_t token : tokens) {
    if (token == end_token) break;
    if (token == pad_token || token == start_token) continue;
    if (!result.empty()) result += ' ';
    const bool known = token >= first_word && token < size();
    result += known ? words_[static_cast<std::size_t>(token - first_word)] : "?";
  }
  return result;
}

}  // namespace sinter::models
