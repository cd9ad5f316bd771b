/// \file
/// Texts that are nearly PTX: what somebody might break in one, drawn at random.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace simgpu {

class Mutator {
 public:
  Mutator(std::vector<std::string> texts, std::uint64_t seed)
      : texts_(std::move(texts)), random_(seed) {}

  /// One of the texts, with other words of it in the place of one or several: many are PTX still.
  std::string next_of_words() {
    std::string text = texts_[below(texts_.size())];
    for (std::size_t changes = 1 + below(3); changes > 0;) {
      const std::size_t place = below(text.size());
      const std::string word(word_at(text, below(text.size())));
      if (text[place] == ' ' || text[place] == '\n' ||
          kind_of(word) != kind_of(word_at(text, place)))
        continue;
      replace_word(text, place, word);
      --changes;
    }
    return text;
  }

  /// One of the texts, changed in one place or several.
  std::string next() {
    std::string text = texts_[below(texts_.size())];
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t bound) {
    return bound == 0 ? 0 : static_cast<std::size_t>(random_() % bound);
  }

  /// The word or single character around a place.
  static std::string_view word_at(std::string_view text, std::size_t place) {
    const auto is_word = [&](std::size_t k) {
      const char c = text[k];
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             c == '%' || c == '_' || c == '.' || c == '$';
    };
    if (!is_word(place)) return text.substr(place, 1);
    std::size_t first = place, last = place;
    while (first > 0 && is_word(first - 1)) --first;
    while (last < text.size() && is_word(last)) ++last;
    return text.substr(first, last - first);
  }

  /// What stands before the number of a register, or of an opcode its last type; else a character.
  static std::string_view kind_of(std::string_view word) {
    if (word[0] == '%') return word.substr(0, word.find_last_not_of("0123456789") + 1);
    const std::size_t dot = word.rfind('.');
    return dot == std::string_view::npos || dot == 0 ? word.substr(0, 1) : word.substr(dot);
  }

  void change(std::string& text) {
    if (text.empty()) text = " ";
    const std::size_t place = below(text.size());
    const std::string& other = texts_[below(texts_.size())];
    const std::size_t from = below(other.size());
    switch (below(11)) {
      case 0: text[place] = static_cast<char>(random_() & 0xff); break;
      case 1: text[place] = static_cast<char>(text[place] ^ (1 << below(8))); break;
      case 2: text.resize(place); break;
      case 3: text.erase(place, below(200)); break;
      case 4: text.insert(place, other, from, below(400)); break;
      case 5: text = text.substr(0, place) + other.substr(from); break;
      case 6: replace_word(text, place, pieces[below(std::size(pieces))]); break;
      case 7:
      case 8:
      case 9: replace_word(text, place, word_at(other, from)); break;
      default: repeat_word(text, place); break;
    }
  }

  static void replace_word(std::string& text, std::size_t place, std::string_view by) {
    const std::string_view word = word_at(text, place);
    text.replace(static_cast<std::size_t>(word.data() - text.data()), word.size(), by);
  }

  void repeat_word(std::string& text, std::size_t place) {
    const std::string_view word = word_at(text, place);
    const auto begin = static_cast<std::size_t>(word.data() - text.data());
    const std::string kept(word);
    std::string many;
    for (std::size_t k = below(3) == 0 ? below(3000) : 1 + below(4); k > 0; --k) many += kept + ' ';
    text.insert(begin, many);
  }

  // clang-format off
  static constexpr std::string_view pieces[] = {
      "{", "}", "[", "]", "(", ")", ";", ",", ":", "@", "!", "|", "-", "_", "::", "\"", "/*", "//",
      ".reg", ".b32", ".pred", "<5>", ".v4", ".func", ".loc", ".file", ".param", "%tid.x",
      "ret", "call", "bra", "0f", "0x", "0", "1", "-1", "65535", "4294967295",
      "18446744073709551615", "9223372036854775808"};
  // clang-format on

  std::vector<std::string> texts_;
  std::mt19937_64 random_;
};

}  // namespace simgpu
