#include <string>
#include <utility>

#include "tools/simgpu/ptx/parser.h"

namespace simgpu::ptx {
namespace {

Operand at(OperandKind kind, Position position) {
  Operand made;
  made.kind = kind;
  made.position = position;
  return made;
}

bool begins_number(const Token& token) {
  return token.kind == TokenKind::integer || token.is_real() || token.is('-') || token.is('+') ||
         token.is('~');
}

Operand parse_number(Words& words) {
  Operand made = at(OperandKind::integer, words.position());
  const bool negative = words.accept('-');
  if (words.next().is_real()) {
    const bool single = words.next().kind == TokenKind::single;
    made.kind = single ? OperandKind::single : OperandKind::real;
    const std::uint64_t sign_bit = std::uint64_t{1} << (single ? 31 : 63);
    made.bits = words.take().bits ^ (negative ? sign_bit : 0);
    return made;
  }
  made.bits = words.expect_signed("a number");
  if (negative) made.bits = 0 - made.bits;
  return made;
}

/// `name`, `!name`, `_`, `name + 4`.
Operand parse_name(Words& words) {
  Operand made = at(OperandKind::name, words.position());
  made.negated = words.accept('!');
  made.name = std::string(words.expect(TokenKind::name, "an operand").text);
  if (made.name == "_") {
    if (made.negated) throw Error(made.position, "!_");
    made.kind = OperandKind::sink;
    made.name.clear();
    return made;
  }
  if (words.next().is('+') || words.next().is('-'))
    made.bits = words.expect_signed("what is added to the name");
  return made;
}

Operand parse_simple(Words& words) {
  return begins_number(words.next()) ? parse_number(words) : parse_name(words);
}

/// A list or vector, with what opens and closes it.
Operand parse_group(Words& words, OperandKind kind, char close) {
  // An instruction has no longer one: wgmma takes 128 registers, a call its parameters.
  constexpr std::size_t most = 1024;
  Operand made = at(kind, words.take().position);
  if (words.accept(close)) return made;
  do {
    if (made.parts.size() == most) throw Error(words.position(), "too many operands");
    made.parts.push_back(parse_simple(words));
  } while (words.accept(','));
  words.expect(close);
  return made;
}

Operand parse_address(Words& words) {
  Operand made = at(OperandKind::address, words.take().position);
  Operand base = parse_simple(words);
  if (base.kind == OperandKind::name && !base.negated) made.bits = std::exchange(base.bits, 0);
  else if (base.kind != OperandKind::integer) throw Error(base.position, "not an address");
  made.parts.push_back(std::move(base));
  if (words.accept(',')) {
    if (!words.next().is('{')) words.refuse("'{'");
    made.parts.push_back(parse_group(words, OperandKind::vector, '}'));
  }
  words.expect(']');
  return made;
}

}  // namespace

Operand parse_operand(Words& words) {
  const Token& next = words.next();
  if (next.is('[')) return parse_address(words);
  if (next.is('{')) return parse_group(words, OperandKind::vector, '}');
  if (next.is('(')) return parse_group(words, OperandKind::list, ')');
  Operand first = parse_simple(words);
  if (!words.next().is('|')) return first;
  Operand pair = at(OperandKind::pair, first.position);
  words.take();
  pair.parts.push_back(std::move(first));
  pair.parts.push_back(parse_simple(words));
  for (const Operand& part : pair.parts)
    if ((part.kind != OperandKind::name && part.kind != OperandKind::sink) || part.negated)
      throw Error(part.position, "not a register");
  return pair;
}

}  // namespace simgpu::ptx
