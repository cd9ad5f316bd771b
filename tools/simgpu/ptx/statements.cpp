#include <string>
#include <utility>

#include "tools/simgpu/ptx/parser.h"

namespace simgpu::ptx {
namespace {

constexpr std::size_t most_operands = 64;
constexpr int most_depth = 256;

Guard parse_guard(Words& words) {
  Guard guard;
  guard.negated = words.accept('!');
  guard.name = words.expect_name("a predicate");
  return guard;
}

/// `first` is the opcode's first word, `words` stands behind it.
Instruction parse_instruction(Words& words, const Token& first, std::optional<Guard> guard) {
  Instruction made{first.position, std::move(guard), std::string(first.text), {}};
  // Parts may stand apart: `mma.sync.aligned .row`.
  while (words.next().kind == TokenKind::directive) made.opcode += words.take().text;
  if (words.accept(';')) return made;
  do {
    if (made.operands.size() == most_operands) throw Error(words.position(), "too many operands");
    made.operands.push_back(parse_operand(words));
  } while (words.accept(','));
  words.expect(';');
  return made;
}

/// PTX ISA 11.3: a label, which a directive may follow that it names.
Label parse_label(Words& words, const Token& name) {
  if (name.text.find_first_of(".:") != std::string_view::npos)
    throw Error(name.position, "a label with dots");
  Label made{name.position, std::string(name.text), Label::Kind::code, {}};
  if (words.accept(".branchtargets")) {
    made.kind = Label::Kind::targets;
    do made.targets.push_back(words.expect_name("a label"));
    while (words.accept(','));
    words.expect(';');
  } else if (words.next().is(".callprototype") || words.next().is(".calltargets")) {
    made.kind = Label::Kind::prototype;
    while (!words.accept(';')) {
      if (words.next().kind == TokenKind::end) words.refuse("';'");
      words.take();
    }
  }
  return made;
}

void parse_directive(Words& words, std::vector<Statement>& body) {
  if (words.accept(".loc")) body.emplace_back(parse_location(words));
  else if (words.accept(".pragma")) skip_pragma(words);
  else if (!begins_declaration(words)) words.refuse("an instruction or '}'");
  else
    for (Variable& each : parse_declaration(words, false)) {
      if (each.space == Space::global || each.space == Space::constant)
        throw Error(each.position, "global and constant variables stand outside of functions");
      body.emplace_back(std::move(each));
    }
}

Statement parse_statement(Words& words) {
  std::optional<Guard> guard;
  if (words.accept('@')) guard = parse_guard(words);
  const Token name = words.expect(TokenKind::name, "an instruction or '}'");
  if (!guard && words.accept(':')) return parse_label(words, name);
  return parse_instruction(words, name, std::move(guard));
}

}  // namespace

std::vector<Statement> parse_body(Words& words, std::size_t most) {
  std::vector<Statement> body;
  words.expect('{');
  for (int depth = 1; depth > 0;) {
    const Position position = words.position();
    if (body.size() >= most) throw Error(position, "the functions of the module are too long");
    if (words.accept('{')) {
      if (++depth > most_depth) throw Error(position, "scopes too deep in one another");
      body.emplace_back(ScopeBegin{});
    } else if (words.accept('}')) {
      if (--depth > 0) body.emplace_back(ScopeEnd{position});
    } else if (words.next().kind == TokenKind::directive) parse_directive(words, body);
    else body.push_back(parse_statement(words));
  }
  return body;
}

/// PTX ISA 11.5.3: file line column, and for inlined code the function and the place of the call.
Location parse_location(Words& words) {
  const auto number = [&words](const char* what, std::uint64_t most) {
    return static_cast<int>(words.expect_integer(what, most));
  };
  constexpr std::uint64_t most = INT32_MAX;
  Location made;
  made.file = number("the number of a file", most_files);
  made.line = number("a line", most);
  made.column = number("a column", most);
  if (!words.accept(',')) return made;
  if (words.expect_name("an attribute") != "function_name") words.refuse("function_name");
  words.expect_name("a label");
  if (words.accept('+')) number("an offset", most);
  words.expect(',');
  if (words.expect_name("an attribute") != "inlined_at") words.refuse("inlined_at");
  number("the number of a file", most_files);
  number("a line", most);
  number("a column", most);
  return made;
}

void skip_pragma(Words& words) {
  do words.expect(TokenKind::string, "a string");
  while (words.accept(','));
  words.expect(';');
}

}  // namespace simgpu::ptx
