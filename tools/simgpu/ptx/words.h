/// \file
/// PTX as words, one after the other, and what is thrown where another was needed. Source: PTX ISA,
/// chapter 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
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
  bool is_real() const { return kind == TokenKind::single || kind == TokenKind::real; }
};

/// Where the text goes on.
struct Cursor {
  std::string_view text;  ///< all of it
  std::size_t place = 0;
  Position position{1, 1};
};
/// \throws Error for what is no word of PTX.
Token next_token(Cursor& cursor);

class Words {
 public:
  explicit Words(std::string_view text);

  const Token& next() const { return next_; }
  Position position() const { return next_.position; }
  Token take();

  /// Takes it where it comes next.
  bool accept(char mark);
  bool accept(std::string_view directive);

  void expect(char mark);
  /// Takes a word of this kind; `what` says what was needed.
  Token expect(TokenKind kind, const char* what);
  /// A name without dots; `what` says of what.
  std::string expect_name(const char* what);
  std::uint64_t expect_integer(const char* what, std::uint64_t most);
  /// With a sign, or `~`, in two's complement.
  std::uint64_t expect_signed(const char* what);

  /// \throws Error at the next word: `WANTED is missing before ...`.
  [[noreturn]] void refuse(const std::string& wanted) const;

 private:
  Cursor cursor_;
  Token next_;
};

}  // namespace simgpu::ptx
