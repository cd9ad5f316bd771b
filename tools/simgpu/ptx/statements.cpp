#include "tools/simgpu/ptx/statements.h"

#include <string>
#include <utility>

#include "tools/simgpu/ptx/declarations.h"
#include "tools/simgpu/ptx/operands.h"

namespace simgpu::ptx {
namespace {

constexpr std::size_t most_operands = 64;
constexpr int most_depth = 256;

Guard parse_guard(Words& words) {
  Guard guard;
  words.expect('@');
  guard.negated = words.accept('!');
  guard.name = words.expect_name("a predicate");
  return guard;
}

/// `first` is the opcode's first word, `words` stands behind it.
Instruction parse_instruction(Words& words, const Token& first, std::optional<Guard> guard) {
  Instruction made;
  made.position = first.position;
  made.guard = std::move(guard);
  made.opcode = std::string(first.text);
  // Parts may stand apart: `mma.sync.aligned .row`.
  while (words.next().kind == TokenKind::directive) made.opcode += words.take().text;
  if (words.accept(';')) return made;
  do {
    if (made.operands.size() == most_operands)
      throw Error(words.next().position, "too many operands");
    made.operands.push_back(parse_operand(words));
  } while (words.accept(','));
  words.expect(';');
  return made;
}

/// PTX ISA 11.5.1 and 11.4: what may follow a label.
Statement parse_labelled(Words& words, const Token& name) {
  if (name.text.find_first_of(".:") != std::string_view::npos)
    throw Error(name.position, "a label with dots");
  if (words.accept(".branchtargets")) {
    BranchTargets made{std::string(name.text), {}};
    do made.targets.push_back(words.expect_name("a label"));
    while (words.accept(','));
    words.expect(';');
    return made;
  }
  if (words.next().is(".callprototype") || words.next().is(".calltargets")) {
    while (!words.next().is(';')) {
      if (words.next().kind == TokenKind::end) words.refuse("';'");
      words.take();
    }
    words.take();
    return CallPrototype{std::string(name.text)};
  }
  return Label{name.position, std::string(name.text)};
}

class BodyParser {
 public:
  BodyParser(Words& words, std::size_t most) : words_(words), most_(most) {}

  std::vector<Statement> parse() {
    words_.expect('{');
    for (int depth = 1; depth > 0;) {
      const Position position = words_.next().position;
      if (body_.size() >= most_) throw Error(position, "the functions of the module are too long");
      if (words_.accept('{')) {
        if (++depth > most_depth) throw Error(position, "scopes too deep in one another");
        body_.emplace_back(ScopeBegin{});
      } else if (words_.accept('}')) {
        if (--depth > 0) body_.emplace_back(ScopeEnd{position});
      } else statement();
    }
    return std::move(body_);
  }

 private:
  void statement() {
    const Token& next = words_.next();
    if (next.kind == TokenKind::directive) return directive();
    std::optional<Guard> guard;
    if (next.is('@')) guard = parse_guard(words_);
    if (words_.next().kind != TokenKind::name) words_.refuse("an instruction or '}'");
    const Token name = words_.take();
    if (guard || !words_.accept(':'))
      body_.emplace_back(parse_instruction(words_, name, std::move(guard)));
    else body_.push_back(parse_labelled(words_, name));
  }

  void directive() {
    if (begins_declaration(words_)) {
      for (Variable& each : parse_declaration(words_, false)) {
        if (each.space == Space::global || each.space == Space::constant)
          throw Error(each.position, "global and constant variables stand outside of functions");
        body_.emplace_back(std::move(each));
      }
    } else if (words_.accept(".loc")) body_.emplace_back(parse_location(words_));
    else if (words_.accept(".pragma")) skip_pragma(words_);
    else words_.refuse("an instruction or '}'");
  }

  Words& words_;
  const std::size_t most_;
  std::vector<Statement> body_;
};

}  // namespace

std::vector<Statement> parse_body(Words& words, std::size_t most) {
  return BodyParser(words, most).parse();
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
  do {
    if (words.next().kind != TokenKind::string) words.refuse("a string");
    words.take();
  } while (words.accept(','));
  words.expect(';');
}

}  // namespace simgpu::ptx
