/// \file
/// PTX as words. Source: PTX ISA, chapter 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/simgpu/ptx/syntax.h"

namespace simgpu::ptx {

enum class TokenKind : std::uint8_t {
  end,
  name,       ///< with its dots where they follow at once: `%r1`, `%tid.x`, `ld.global.f32`, `_`
  directive,  ///< `.reg`, `.f32`
  integer,
  single,  ///< 0f3F800000: the bits of a float
  real,    ///< 0d3FF0000000000000, and 1.0: the bits of a double
  string,  ///< the text between the quotes
  mark,    ///< one character
};

struct Token {
  TokenKind kind{};
  Position position;
  std::string_view text;
  std::uint64_t bits = 0;

  bool is(char mark) const { return kind == TokenKind::mark && text[0] == mark; }
  bool is(std::string_view directive) const {
    return kind == TokenKind::directive && text == directive;
  }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text);
  /// \throws Error for what is no word of PTX.
  Token next();

 private:
  char at(std::size_t ahead) const {
    return place_ + ahead < text_.size() ? text_[place_ + ahead] : '\0';
  }
  void advance(std::size_t characters);
  void skip_blank();
  void skip_comment();
  std::size_t length_of_name(std::size_t first) const;
  std::size_t length_of_hexadecimal(std::size_t first) const;
  Token take(TokenKind kind, std::size_t length);
  Token number();
  Token float_bits(TokenKind kind, std::size_t digits);
  Token decimal_float(std::size_t digits);
  Token integer(std::size_t prefix, std::size_t digits, int base);
  Token string();

  std::string_view text_;
  std::size_t place_ = 0;
  Position position_{1, 1};
};

}  // namespace simgpu::ptx
