#include <optional>
#include <utility>

#include "tools/simgpu/ptx/parser.h"

namespace simgpu::ptx {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;
constexpr std::uint64_t most_registers = 1 << 20;
constexpr std::size_t most_dimensions = 16;

constexpr std::pair<std::string_view, Space> spaces[] = {
    {".reg", Space::registers},      {".param", Space::parameter}, {".const", Space::constant},
    {".global", Space::global},      {".local", Space::local},     {".shared", Space::shared},
    {".shared::cta", Space::shared},
};

std::optional<Space> find_space(const Token& token) {
  for (const auto& [name, space] : spaces)
    if (token.is(name)) return space;
  return std::nullopt;
}

/// PTX ISA 5.2: types that a variable may have.
constexpr std::pair<std::string_view, int> types[] = {
    {"pred", 1},  {"b8", 8},      {"b16", 16},  {"b32", 32},  {"b64", 64}, {"b128", 128},
    {"u8", 8},    {"u16", 16},    {"u32", 32},  {"u64", 64},  {"s8", 8},   {"s16", 16},
    {"s32", 32},  {"s64", 64},    {"f16", 16},  {"f32", 32},  {"f64", 64}, {"f16x2", 32},
    {"bf16", 16}, {"bf16x2", 32}, {"tf32", 32}, {"f32x2", 64}};

Type parse_type(Words& words) {
  const Token& next = words.next();
  for (const char* refused : {".texref", ".samplerref", ".surfref"})
    if (next.is(refused))
      throw Error(next.position,
                  std::string(refused) + ": textures and surfaces are not simulated");
  if (next.kind == TokenKind::directive)
    for (const auto& [name, bits] : types)
      if (next.text.substr(1) == name) {
        words.take();
        return {std::string(name), bits};
      }
  words.refuse("a type");
}

int parse_alignment(Words& words) {
  const Position position = words.position();
  const std::uint64_t alignment = words.expect_integer("an alignment", 1 << 16);
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    throw Error(position, "an alignment that is no power of two");
  return static_cast<int>(alignment);
}

/// What stands before the name: alignment, vector, type, and what a pointer points to.
void parse_qualifiers(Words& words, Variable& variable) {
  bool typed = false;
  while (words.next().kind == TokenKind::directive) {
    // PTX ISA 5.4.8: .attribute(.managed) and .unified name memory that host and device share.
    if (words.next().is(".attribute"))
      throw Error(words.position(),
                  "attributes of variables (.managed, .unified) are not simulated");
    if (words.accept(".align")) variable.alignment = parse_alignment(words);
    else if (words.accept(".v2")) variable.vector = 2;
    else if (words.accept(".v4")) variable.vector = 4;
    else if (words.accept(".ptr")) {  // of what it points to; nothing needs it
      if (find_space(words.next())) words.take();
      if (words.accept(".align")) parse_alignment(words);
    } else if (typed) words.refuse("a name");
    else {
      variable.type = parse_type(words);
      typed = true;
    }
  }
  if (!typed) words.refuse("a type");
}

void parse_extents(Words& words, Variable& variable, std::vector<std::uint64_t>& extents) {
  std::uint64_t elements = 1;
  while (words.accept('[')) {
    if (words.accept(']')) {
      if (!extents.empty() || variable.open) words.refuse("an extent");
      variable.open = true;
      continue;
    }
    const Position position = words.position();
    extents.push_back(words.expect_integer("an extent", most_bytes));
    words.expect(']');
    if (extents.size() > most_dimensions) throw Error(position, "too many dimensions");
    if (__builtin_mul_overflow(elements, extents.back(), &elements) || elements > most_bytes)
      throw Error(position, "an array of more than a tebibyte");
  }
  if (!extents.empty() && !variable.open) variable.extent = elements;
  if (variable.bytes() > most_bytes)
    throw Error(variable.position, variable.name + " has more than a tebibyte");
}

/// `name`, `name<5>`, `name[3][4]`.
void parse_declarator(Words& words, Variable& variable, std::vector<std::uint64_t>& extents) {
  variable.position = words.position();
  variable.name = words.expect_name("a variable");
  if (variable.space == Space::registers && words.accept('<')) {
    variable.count =
        static_cast<int>(words.expect_integer("a number of registers", most_registers));
    words.expect('>');
  }
  parse_extents(words, variable, extents);
  if (variable.space == Space::registers && (variable.extent || variable.open))
    throw Error(variable.position, "an array of registers");
  if (variable.space != Space::registers && variable.type.name == "pred")
    throw Error(variable.position, "a predicate that is no register");
}

/// Gives an open array the extent that its initial values need.
void close(Variable& variable, const std::vector<std::uint64_t>& extents) {
  std::uint64_t row = 1;  // elements of one step of the open dimension
  for (const std::uint64_t extent : extents) row *= extent;
  if (row == 0) throw Error(variable.position, variable.name + " has no elements");
  const std::uint64_t values = row * static_cast<std::uint64_t>(variable.vector);
  variable.extent = (variable.initial.size() + values - 1) / values * row;
  variable.open = false;
}

}  // namespace

bool begins_declaration(const Words& words) { return find_space(words.next()).has_value(); }

std::vector<Variable> parse_declaration(Words& words, bool external) {
  Variable pattern;
  pattern.external = external;
  pattern.space = *find_space(words.take());
  if (words.next().is('[')) words.refuse("a space (banks of constant memory are not simulated)");
  parse_qualifiers(words, pattern);
  std::vector<Variable> declared;
  do {
    Variable variable = pattern;
    std::vector<std::uint64_t> extents;
    parse_declarator(words, variable, extents);
    if (words.accept('=')) {
      if (external || (variable.space != Space::global && variable.space != Space::constant))
        throw Error(variable.position, variable.name + " may have no initial value");
      variable.initial = parse_initial(words, variable, extents);
      if (variable.open) close(variable, extents);
    }
    if (variable.open && !(external && variable.space == Space::shared))
      throw Error(variable.position, "the extent of " + variable.name + " is missing");
    declared.push_back(std::move(variable));
  } while (words.accept(','));
  words.expect(';');
  return declared;
}

std::vector<Variable> parse_parameters(Words& words) {
  std::vector<Variable> parameters;
  words.expect('(');
  if (words.accept(')')) return parameters;
  do {
    Variable variable;
    if (!words.next().is(".param") && !words.next().is(".reg")) words.refuse(".param or .reg");
    variable.space = *find_space(words.take());
    parse_qualifiers(words, variable);
    std::vector<std::uint64_t> extents;
    parse_declarator(words, variable, extents);
    if (variable.count != 0 || variable.open)
      throw Error(variable.position, "a parameter without a size");
    parameters.push_back(std::move(variable));
  } while (words.accept(','));
  words.expect(')');
  return parameters;
}

}  // namespace simgpu::ptx
