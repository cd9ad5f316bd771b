#include "tools/simgpu/ptx/lexer.h"

#include <bit>
#include <charconv>
#include <string>

namespace simgpu::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hexadecimal(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool begins_name(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }
bool goes_on(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

std::string shown(char c) {
  if (c > ' ' && c <= '~') return std::string("'") + c + "'";
  constexpr const char* digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return std::string("byte 0x") + digits[byte >> 4] + digits[byte & 15];
}

}  // namespace

Lexer::Lexer(std::string_view text) : text_(text) {
  // What is made of a text takes up to fifty times its room.
  if (text.size() > (std::size_t{1} << 26)) throw Error({1, 1}, "the text is longer than 64 MiB");
}

void Lexer::advance(std::size_t characters) {
  for (const char c : text_.substr(place_, characters)) {
    if (c == '\n') position_ = {position_.line + 1, 0};
    ++position_.column;
  }
  place_ += characters;
}

void Lexer::skip_comment() {
  const bool block = at(1) == '*';
  const std::size_t end = text_.find(block ? "*/" : "\n", place_ + 2);
  if (end == std::string_view::npos && block) throw Error(position_, "the comment does not end");
  advance(end == std::string_view::npos ? text_.size() - place_ : end + (block ? 2 : 0) - place_);
}

void Lexer::skip_blank() {
  while (place_ < text_.size()) {
    if (is_blank(at(0))) advance(1);
    else if (at(0) == '/' && (at(1) == '/' || at(1) == '*')) skip_comment();
    else return;
  }
}

/// Of an identifier that begins `first` characters ahead, with the parts that a dot or `::` joins.
std::size_t Lexer::length_of_name(std::size_t first) const {
  std::size_t length = first + 1;
  while (true) {
    if (goes_on(at(length))) ++length;
    else if (at(length) == '.' && goes_on(at(length + 1))) length += 2;
    else if (at(length) == ':' && at(length + 1) == ':' && goes_on(at(length + 2))) length += 3;
    else return length - first;
  }
}

std::size_t Lexer::length_of_hexadecimal(std::size_t first) const {
  std::size_t length = first;
  while (is_hexadecimal(at(length))) ++length;
  return length - first;
}

Token Lexer::take(TokenKind kind, std::size_t length) {
  const Token token{kind, position_, text_.substr(place_, length), 0};
  advance(length);
  return token;
}

Token Lexer::float_bits(TokenKind kind, std::size_t digits) {
  const std::size_t found = length_of_hexadecimal(2);
  if (found != digits || goes_on(at(2 + digits)))
    throw Error(position_, "the number needs " + std::to_string(digits) + " hexadecimal digits");
  Token token = take(kind, 2 + digits);
  std::from_chars(token.text.data() + 2, token.text.data() + token.text.size(), token.bits, 16);
  return token;
}

Token Lexer::decimal_float(std::size_t digits) {
  std::size_t length = digits;
  if (at(length) == '.') ++length;
  while (is_digit(at(length))) ++length;
  if (at(length) == 'e' || at(length) == 'E') {
    ++length;
    if (at(length) == '+' || at(length) == '-') ++length;
    while (is_digit(at(length))) ++length;
  }
  Token token = take(TokenKind::real, length);
  double value = 0;
  const char* end = token.text.data() + length;
  const auto [stop, error] = std::from_chars(token.text.data(), end, value);
  if (error != std::errc() || stop != end)
    throw Error(token.position, "not a number: " + std::string(token.text));
  token.bits = std::bit_cast<std::uint64_t>(value);
  return token;
}

Token Lexer::integer(std::size_t prefix, std::size_t digits, int base) {
  std::size_t length = prefix + digits;
  if (at(length) == 'U') ++length;  // unsigned, which 64 bits of two's complement need not know
  if (goes_on(at(length)))
    throw Error(position_, "a number with " + shown(at(length)) + " behind it");
  Token token = take(TokenKind::integer, length);
  const char* first = token.text.data() + prefix;
  const auto [stop, error] = std::from_chars(first, first + digits, token.bits, base);
  if (error == std::errc::result_out_of_range)
    throw Error(token.position, "the number does not fit 64 bits");
  if (error != std::errc() || stop != first + digits)
    throw Error(token.position, "not a number: " + std::string(token.text));
  return token;
}

/// PTX ISA 4.5.1 and 4.5.2.
Token Lexer::number() {
  const char second = at(1);
  if (at(0) == '0') {
    if (second == 'f' || second == 'F') return float_bits(TokenKind::single, 8);
    if (second == 'd' || second == 'D') return float_bits(TokenKind::real, 16);
    if (second == 'x' || second == 'X') return integer(2, length_of_hexadecimal(2), 16);
  }
  std::size_t digits = 0;
  const bool binary = at(0) == '0' && (second == 'b' || second == 'B');
  while (is_digit(at((binary ? 2 : 0) + digits))) ++digits;
  if (binary) return integer(2, digits, 2);
  const char next = at(digits);
  if (next == '.' || next == 'e' || next == 'E') return decimal_float(digits);
  if (at(0) == '0' && digits > 1) return integer(1, digits - 1, 8);
  return integer(0, digits, 10);
}

Token Lexer::string() {
  const std::size_t end = text_.find_first_of("\"\n", place_ + 1);
  if (end == std::string_view::npos || text_[end] != '"')
    throw Error(position_, "the string does not end");
  Token token = take(TokenKind::string, end + 1 - place_);
  token.text = token.text.substr(1, token.text.size() - 2);
  return token;
}

Token Lexer::next() {
  skip_blank();
  if (place_ == text_.size()) return take(TokenKind::end, 0);
  const char c = at(0);
  if (begins_name(c)) return take(TokenKind::name, length_of_name(0));
  if (is_digit(c)) return number();
  if (c == '"') return string();
  if (c == '.' && (is_letter(at(1)) || at(1) == '_')) {
    std::size_t length = 2;
    while (goes_on(at(length)) || (at(length) == ':' && at(length + 1) == ':'))
      length += at(length) == ':' ? 2 : 1;
    return take(TokenKind::directive, length);
  }
  if (std::string_view(",;:()[]{}<>@!|+-~=").find(c) != std::string_view::npos)
    return take(TokenKind::mark, 1);
  throw Error(position_, "unexpected " + shown(c));
}

}  // namespace simgpu::ptx
