#include "tools/simgpu/code/words.h"

#include <charconv>
#include <stdexcept>
#include <string>

namespace simgpu {
namespace {

using Kind = PatternWord::Kind;

[[noreturn]] void refuse(std::string_view word) {
  throw std::logic_error("no word of a pattern: '" + std::string(word) + "'");
}

/// A number at the start of the text, which it takes away; 0 where there is none.
int take_number(std::string_view& text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc()) text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return number;
}

PatternWord parse_register(std::string_view word) {
  PatternWord made;
  made.kind = word[0] == 'd' ? Kind::written : Kind::read;
  std::string_view rest = word.substr(1);
  const bool predicate = rest.starts_with('p');
  if (predicate) rest.remove_prefix(1);
  else made.bytes = take_number(rest);
  if (rest.starts_with('v')) {
    rest.remove_prefix(1);
    made.vector = take_number(rest);
    if (made.vector < 1) refuse(word);
  }
  made.pair = rest == "q" && made.kind == Kind::written && made.vector == 0;
  const bool is_size = made.bytes > 0 && made.bytes <= 16 && (made.bytes & (made.bytes - 1)) == 0;
  if ((!made.pair && !rest.empty()) || (!predicate && !is_size)) refuse(word);
  return made;
}

PatternWord parse_word(std::string_view word) {
  if (word[0] == 'd' || word[0] == 's') return parse_register(word);
  if (word == "m") return {Kind::address, 8};
  if (word == "m4") return {Kind::address, 4};
  if (word == "i") return {Kind::number};
  if (word == "l") return {Kind::label};
  if (word == "t") return {Kind::targets};
  if (word == "e") return {Kind::entry_parameter};
  if (word == "f") return {Kind::slot};
  refuse(word);
}

/// Instruction::immediate has one owner.
void check_immediate(const std::vector<PatternWord>& words, std::string_view pattern) {
  int numbers = 0, others = 0;
  for (const PatternWord& word : words) {
    numbers += word.kind == Kind::number || word.kind == Kind::entry_parameter;
    others += word.kind == Kind::address || word.kind == Kind::slot;
  }
  if (numbers > 1 || (numbers > 0 && others > 0)) refuse(pattern);
}

}  // namespace

std::vector<PatternWord> parse_pattern(std::string_view pattern) {
  const std::string_view whole = pattern;
  std::vector<PatternWord> words;
  for (bool more = !pattern.empty(); more;) {
    const std::size_t space = pattern.find(' ');
    const std::string_view word = pattern.substr(0, space);
    if (word.empty()) refuse(whole);
    words.push_back(parse_word(word));
    more = space != std::string_view::npos;
    if (more) pattern.remove_prefix(space + 1);
  }
  check_immediate(words, whole);
  return words;
}

}  // namespace simgpu
