/// \file
/// The words of a text one after the other, and what is thrown where another was needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/simgpu/ptx/lexer.h"

namespace simgpu::ptx {

class Words {
 public:
  explicit Words(std::string_view text) : lexer_(text), next_(lexer_.next()) {}

  const Token& next() const { return next_; }
  Token take();

  /// Takes it where it comes next.
  bool accept(char mark);
  bool accept(std::string_view directive);

  void expect(char mark);
  /// A name without dots; `what` says of what.
  std::string expect_name(const char* what);
  std::uint64_t expect_integer(const char* what, std::uint64_t most);
  /// With a sign, or `~`, in two's complement.
  std::uint64_t expect_signed(const char* what);

  /// \throws Error at the next word: `wanted, not ...`.
  [[noreturn]] void refuse(const std::string& wanted) const;

 private:
  Lexer lexer_;
  Token next_;
};

}  // namespace simgpu::ptx
