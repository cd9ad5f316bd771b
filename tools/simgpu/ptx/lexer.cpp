#include <bit>
#include <charconv>
#include <string>

#include "tools/simgpu/ptx/words.h"

namespace simgpu::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hexadecimal(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool begins_name(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }
bool goes_on(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string shown(char c) {
  if (c > ' ' && c <= '~') return std::string("'") + c + "'";
  constexpr const char* digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return std::string("byte 0x") + digits[byte >> 4] + digits[byte & 15];
}

class Lexer {
 public:
  explicit Lexer(Cursor& cursor) : cursor_(cursor) {}

  Token next() {
    skip_blank();
    if (cursor_.place == cursor_.text.size()) return take(TokenKind::end, 0);
    const char c = at(0);
    if (begins_name(c)) return take(TokenKind::name, end_of_name(1, true));
    if (is_digit(c)) return number();
    if (c == '"') return string();
    if (c == '.' && (is_letter(at(1)) || at(1) == '_'))
      return take(TokenKind::directive, end_of_name(2, false));
    if (std::string_view(",;:()[]{}<>@!|+-~=").find(c) != std::string_view::npos)
      return take(TokenKind::mark, 1);
    fail("unexpected " + shown(c));
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(cursor_.position, problem);
  }

  // Places are counted in characters from the cursor.
  char at(std::size_t ahead) const {
    const std::size_t place = cursor_.place + ahead;
    return place < cursor_.text.size() ? cursor_.text[place] : '\0';
  }
  std::size_t end_of(bool (*is_part)(char), std::size_t from) const {
    while (is_part(at(from))) ++from;
    return from;
  }
  /// Of an identifier, with the parts that `::` joins, or a dot.
  std::size_t end_of_name(std::size_t from, bool dots) const {
    while (true) {
      from = end_of(goes_on, from);
      if (dots && at(from) == '.' && goes_on(at(from + 1))) from += 1;
      else if (at(from) == ':' && at(from + 1) == ':' && goes_on(at(from + 2))) from += 2;
      else return from;
    }
  }

  void advance(std::size_t characters) {
    for (const char c : cursor_.text.substr(cursor_.place, characters)) {
      if (c == '\n') cursor_.position = {cursor_.position.line + 1, 0};
      ++cursor_.position.column;
    }
    cursor_.place += characters;
  }
  Token take(TokenKind kind, std::size_t length) {
    const Token token{kind, cursor_.position, cursor_.text.substr(cursor_.place, length), 0};
    advance(length);
    return token;
  }

  void skip_blank() {
    while (true) {
      advance(end_of(is_blank, 0));
      if (at(0) != '/' || (at(1) != '/' && at(1) != '*')) return;
      const bool block = at(1) == '*';
      std::size_t end = cursor_.text.find(block ? "*/" : "\n", cursor_.place + 2);
      if (end == std::string_view::npos && block) fail("the comment does not end");
      end = end == std::string_view::npos ? cursor_.text.size() : end + (block ? 2 : 0);
      advance(end - cursor_.place);
    }
  }

  /// PTX ISA 4.5.1 and 4.5.2.
  Token number() {
    const char second = at(1);
    if (at(0) == '0') {
      if (second == 'f' || second == 'F') return float_bits(TokenKind::single, 8);
      if (second == 'd' || second == 'D') return float_bits(TokenKind::real, 16);
      if (second == 'x' || second == 'X') return integer(2, end_of(is_hexadecimal, 2), 16);
      if (second == 'b' || second == 'B') return integer(2, end_of(is_digit, 2), 2);
    }
    const std::size_t end = end_of(is_digit, 0);
    if (at(end) == '.' || at(end) == 'e' || at(end) == 'E') return decimal_float(end);
    if (at(0) == '0' && end > 1) return integer(1, end, 8);
    return integer(0, end, 10);
  }

  Token float_bits(TokenKind kind, std::size_t digits) {
    if (end_of(is_hexadecimal, 2) != 2 + digits || goes_on(at(2 + digits)))
      fail("the number needs " + std::to_string(digits) + " hexadecimal digits");
    Token token = take(kind, 2 + digits);
    std::from_chars(token.text.data() + 2, token.text.data() + token.text.size(), token.bits, 16);
    return token;
  }

  Token decimal_float(std::size_t end) {
    if (at(end) == '.') end = end_of(is_digit, end + 1);
    if (at(end) == 'e' || at(end) == 'E') {
      ++end;
      if (at(end) == '+' || at(end) == '-') ++end;
      end = end_of(is_digit, end);
    }
    double value = 0;
    const char* text = cursor_.text.data() + cursor_.place;
    const auto [stop, error] = std::from_chars(text, text + end, value);
    if (error != std::errc() || stop != text + end) fail("not a number: " + std::string(text, end));
    Token token = take(TokenKind::real, end);
    token.bits = std::bit_cast<std::uint64_t>(value);
    return token;
  }

  Token integer(std::size_t first, std::size_t end, int base) {
    // `U` says unsigned, which 64 bits of two's complement need not know.
    const std::size_t length = at(end) == 'U' ? end + 1 : end;
    if (goes_on(at(length))) fail("a number with " + shown(at(length)) + " behind it");
    std::uint64_t bits = 0;
    const char* text = cursor_.text.data() + cursor_.place;
    const auto [stop, error] = std::from_chars(text + first, text + end, bits, base);
    if (error == std::errc::result_out_of_range) fail("the number does not fit 64 bits");
    if (error != std::errc() || stop != text + end)
      fail("not a number: " + std::string(text, length));
    Token token = take(TokenKind::integer, length);
    token.bits = bits;
    return token;
  }

  Token string() {
    const std::size_t end = cursor_.text.find_first_of("\"\n", cursor_.place + 1);
    if (end == std::string_view::npos || cursor_.text[end] != '"') fail("the string does not end");
    Token token = take(TokenKind::string, end + 1 - cursor_.place);
    token.text = token.text.substr(1, token.text.size() - 2);
    return token;
  }

  Cursor& cursor_;
};

}  // namespace

Token next_token(Cursor& cursor) { return Lexer(cursor).next(); }

}  // namespace simgpu::ptx
