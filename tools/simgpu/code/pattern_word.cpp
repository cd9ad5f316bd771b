#include "tools/simgpu/code/pattern_word.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <stdexcept>
#include <string>

namespace simgpu {
namespace {

using Kind = PatternWord::Kind;

/// Takes a letter away from the front where it stands there.
bool accept(std::string_view& text, char letter) {
  const bool found = text.starts_with(letter);
  if (found) text.remove_prefix(1);
  return found;
}

/// The same of a number; 0 where there is none.
int take_number(std::string_view& text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc()) text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return number;
}

bool is_size(int bytes) { return bytes > 0 && bytes <= 16 && (bytes & (bytes - 1)) == 0; }

/// Takes one away; nothing where it is none.
std::optional<PatternWord> take_word(std::string_view& text) {
  if (accept(text, 'm')) return PatternWord{Kind::address, accept(text, '4') ? 4 : 8};
  if (accept(text, 'i')) return PatternWord{Kind::number};
  if (accept(text, 'l') || accept(text, 't')) return PatternWord{Kind::label};
  if (accept(text, 'e')) return PatternWord{Kind::entry_parameter};
  if (accept(text, 'f')) return PatternWord{Kind::slot};
  PatternWord made{accept(text, 'd') ? Kind::written : Kind::read};
  if (made.kind == Kind::read && !accept(text, 's')) return std::nullopt;
  if (!accept(text, 'p')) {
    made.bytes = take_number(text);
    if (!is_size(made.bytes)) return std::nullopt;
  }
  if (accept(text, 'v')) {
    made.vector = take_number(text);
    if (made.vector < 1) return std::nullopt;
  }
  made.pair = made.kind == Kind::written && made.vector == 0 && accept(text, 'q');
  return made;
}

/// Instruction::immediate has one owner.
bool share_immediate(const std::vector<PatternWord>& words) {
  int numbers = 0, others = 0;
  for (const PatternWord& word : words) {
    numbers += word.kind == Kind::number || word.kind == Kind::entry_parameter;
    others += word.kind == Kind::address || word.kind == Kind::slot;
  }
  return numbers > 1 || (numbers > 0 && others > 0);
}

std::string describe(const PatternWord& word) {
  switch (word.kind) {
    case Kind::written:
    case Kind::read: break;
    case Kind::address: return word.bytes == 4 ? "an address in shared memory" : "an address";
    case Kind::number: return "a number";
    case Kind::label: return "a label";
    case Kind::entry_parameter:
    case Kind::slot: return "a parameter";
  }
  std::string one = "predicate";
  if (word.bytes != 0)
    one = fmt::format("{}-byte {}", word.bytes, word.kind == Kind::written ? "register" : "value");
  if (word.vector != 0) return fmt::format("a vector of {} {}s", word.vector, one);
  return fmt::format("{} {}{}", word.bytes == 8 ? "an" : "a", one, word.pair ? "|predicate" : "");
}

}  // namespace

std::vector<PatternWord> parse_pattern(std::string_view pattern) {
  std::vector<PatternWord> words;
  std::string_view rest = pattern;
  bool is_pattern = true, more = !pattern.empty();
  while (more && is_pattern) {
    const std::optional<PatternWord> word = take_word(rest);
    words.push_back(word.value_or(PatternWord()));
    more = accept(rest, ' ');
    is_pattern = word.has_value() && (more || rest.empty());
  }
  if (!is_pattern || share_immediate(words))
    throw std::logic_error("no pattern: '" + std::string(pattern) + "'");
  return words;
}

std::string describe_pattern(std::string_view pattern) {
  std::vector<std::string> words;
  for (const PatternWord& word : parse_pattern(pattern)) words.push_back(describe(word));
  return words.empty() ? "nothing" : fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace simgpu
