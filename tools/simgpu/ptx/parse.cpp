// A module: what stands outside of functions, and their heads. Source: PTX ISA, chapters 4 and 11.
#include <algorithm>
#include <string>
#include <utility>

#include "tools/simgpu/ptx/parser.h"

namespace simgpu::ptx {
namespace {

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text) : words_(text) {}

  Module parse() {
    version();
    target();
    while (words_.next().kind != TokenKind::end) item();
    return std::move(module_);
  }

 private:
  void version() {
    if (!words_.accept(".version")) words_.refuse(".version");
    words_.expect(TokenKind::real, "a version");
  }

  void target() {
    if (!words_.accept(".target")) words_.refuse(".target");
    module_.target = words_.expect_name("an architecture");
    while (words_.accept(',')) {
      const Position position = words_.position();
      const std::string option = words_.expect_name("an option");
      if (option == "texmode_unified" || option == "texmode_independent" || option == "debug")
        continue;
      throw Error(position, "the target " + option + " is not simulated");
    }
  }

  void address_size() {
    const Position position = words_.position();
    if (words_.expect_integer("a number of bits", UINT64_MAX) != 64)
      throw Error(position, "addresses have 64 bits here");
  }

  void item() {
    const Token& next = words_.next();
    if (words_.accept(".address_size")) return address_size();
    if (words_.accept(".file")) return file();
    if (words_.accept(".section")) return skip_section();
    if (words_.accept(".pragma")) return skip_pragma(words_);
    if (words_.accept(".loc")) return static_cast<void>(parse_location(words_));
    if (next.is('@')) return skip_dwarf();
    if (next.is(".alias")) throw Error(next.position, ".alias is not simulated");
    linked_item();
  }

  /// What may have a linkage: PTX ISA 11.6.
  void linked_item() {
    bool external = false;
    while (words_.next().kind == TokenKind::directive) {
      if (words_.accept(".extern")) external = true;
      else if (!words_.accept(".visible") && !words_.accept(".weak") && !words_.accept(".common"))
        break;
    }
    if (words_.accept(".entry")) return function(true);
    if (words_.accept(".func")) return function(false);
    if (!begins_declaration(words_)) words_.refuse("a directive of a module");
    for (Variable& each : parse_declaration(words_, external)) {
      if (each.space == Space::registers || each.space == Space::parameter)
        throw Error(each.position, "registers and parameters stand inside of functions");
      if (each.space == Space::local)
        throw Error(each.position, "local variables of modules are not simulated");
      module_.variables.push_back(std::move(each));
    }
  }

  void file() {
    const Position position = words_.position();
    const auto number = static_cast<int>(words_.expect_integer("the number of a file", most_files));
    const Token name = words_.expect(TokenKind::string, "a string");
    if (!module_.files.emplace(number, name.text).second)
      throw Error(position, "a second file of this number");
    while (words_.accept(',')) words_.expect_integer("a time or size", UINT64_MAX);
  }

  /// DWARF: nothing reads it here.
  void skip_section() {
    words_.expect(TokenKind::directive, "the name of a section");
    while (words_.next().kind == TokenKind::directive || words_.next().kind == TokenKind::name)
      words_.take();
    if (words_.accept(',')) words_.take();
    words_.expect('{');
    for (std::size_t depth = 1; depth > 0;) {
      const Token token = words_.take();
      if (token.kind == TokenKind::end) throw Error(token.position, "the section does not end");
      if (token.is('{')) ++depth;
      if (token.is('}')) --depth;
    }
  }

  /// @@DWARF, to the end of its line (PTX ISA 11.5.1).
  void skip_dwarf() {
    words_.expect('@');
    words_.expect('@');
    if (words_.next().text != "DWARF") words_.refuse("DWARF");
    const int line = words_.position().line;
    while (words_.position().line == line && words_.next().kind != TokenKind::end) words_.take();
  }

  void function(bool entry) {
    Function made;
    made.entry = entry;
    made.position = words_.position();
    if (!entry && words_.next().is('(')) made.results = parse_parameters(words_);
    made.name = words_.expect_name("a function");
    if (words_.next().is('(')) made.parameters = parse_parameters(words_);
    bounds(made);
    made.defined = !words_.accept(';');
    if (made.defined) made.body = parse_body(words_, statements_left_);
    statements_left_ -= std::min(statements_left_, made.body.size());
    module_.functions.push_back(std::move(made));
  }

  /// Three numbers at most, multiplied.
  std::uint64_t sizes() {
    std::uint64_t product = 1;
    int count = 0;
    do {
      if (++count > 3) words_.refuse("'{'");
      product *= words_.expect_integer("a size", 1 << 16);
    } while (words_.accept(','));
    return product;
  }

  /// PTX ISA 11.2, 11.4 and 11.7: what stands between the parameters and the body. Clusters of
  /// blocks and what the compiler may assume change nothing here.
  void bounds(Function& made) {
    const auto number = [this] {
      return static_cast<int>(words_.expect_integer("a number", 1 << 16));
    };
    while (words_.next().kind == TokenKind::directive) {
      if (words_.accept(".maxntid")) made.most_threads = sizes();
      else if (words_.accept(".reqntid")) made.exact_threads = sizes();
      else if (words_.accept(".maxnreg")) made.most_registers = number();
      else if (words_.accept(".minnctapersm")) made.least_blocks = number();
      else if (words_.accept(".maxnctapersm") || words_.accept(".maxclusterrank")) number();
      else if (words_.accept(".reqnctapercluster")) sizes();
      else if (words_.accept(".pragma")) skip_pragma(words_);
      else if (!words_.accept(".noreturn") && !words_.accept(".explicitcluster") &&
               !words_.accept(".blocksareclusters"))
        words_.refuse("'{' or ';'");
    }
  }

  Words words_;
  Module module_;
  std::size_t statements_left_ = std::size_t{1} << 22;
};

}  // namespace

Module parse(std::string_view text) { return ModuleParser(text).parse(); }

}  // namespace simgpu::ptx
