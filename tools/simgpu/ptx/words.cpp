#include "tools/simgpu/ptx/words.h"

#include <utility>

namespace simgpu::ptx {

Words::Words(std::string_view text) : cursor_{text} {
  // What is made of a text takes up to fifty times its room.
  if (text.size() > (std::size_t{1} << 26)) throw Error({1, 1}, "the text is longer than 64 MiB");
  next_ = next_token(cursor_);
}

Token Words::take() { return std::exchange(next_, next_token(cursor_)); }

bool Words::accept(char mark) {
  if (!next_.is(mark)) return false;
  take();
  return true;
}

bool Words::accept(std::string_view directive) {
  if (!next_.is(directive)) return false;
  take();
  return true;
}

void Words::expect(char mark) {
  if (!accept(mark)) refuse(std::string("'") + mark + "'");
}

Token Words::expect(TokenKind kind, const char* what) {
  if (next_.kind != kind) refuse(what);
  return take();
}

std::string Words::expect_name(const char* what) {
  if (next_.kind != TokenKind::name) refuse(std::string("the name of ") + what);
  if (next_.text.find_first_of(".:") != std::string_view::npos)
    refuse(std::string("the name of ") + what + " without dots");
  return std::string(take().text);
}

std::uint64_t Words::expect_integer(const char* what, std::uint64_t most) {
  if (next_.kind != TokenKind::integer) refuse(what);
  if (next_.bits > most)
    throw Error(next_.position, std::string(what) + " of " + std::string(next_.text) +
                                    ", which is more than " + std::to_string(most));
  return take().bits;
}

std::uint64_t Words::expect_signed(const char* what) {
  bool negative = false, inverted = false;
  while (next_.is('-') || next_.is('+') || next_.is('~')) {
    const char sign = take().text[0];
    // ~-x is x - 1, and -~x is x + 1: nobody writes them.
    if (sign == '~' ? negative || inverted : inverted) refuse("a number with one sign");
    if (sign == '-') negative = !negative;
    if (sign == '~') inverted = true;
  }
  const std::uint64_t bits = expect(TokenKind::integer, what).bits;
  return inverted ? ~bits : negative ? 0 - bits : bits;
}

void Words::refuse(const std::string& wanted) const {
  if (next_.kind == TokenKind::end) throw Error(next_.position, wanted + ", not the end");
  constexpr std::size_t longest = 60;
  std::string found(next_.text.substr(0, longest));
  if (next_.text.size() > longest) found += "...";
  throw Error(next_.position, wanted + " is missing before '" + found + "'");
}

}  // namespace simgpu::ptx
