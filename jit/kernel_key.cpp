#include "jit/kernel_key.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <utility>

#include "jit/host_flags.h"

namespace sinter::jit {
namespace {

using Member = std::string KernelIngredients::*;
constexpr std::array<std::pair<std::string_view, Member>, 9> members = {{
    {"version", &KernelIngredients::version},
    {"abi", &KernelIngredients::abi},
    {"cpu", &KernelIngredients::cpu},
    {"features", &KernelIngredients::features},
    {"precision", &KernelIngredients::precision},
    {"compiler", &KernelIngredients::compiler},
    {"compile_flags", &KernelIngredients::compile_flags},
    {"link_flags", &KernelIngredients::link_flags},
    {"prelude", &KernelIngredients::prelude},
}};
static_assert(sizeof(KernelIngredients) == members.size() * sizeof(std::string));

#if defined(__x86_64__)
constexpr std::string_view architecture = "x86-64";
#elif defined(__aarch64__)
constexpr std::string_view architecture = "aarch64";
#else
constexpr std::string_view architecture = "unknown";
#endif

constexpr std::size_t longest_hint = 48;

}  // namespace

KernelIngredients ingredients_of(const HostCompiler& compiler, cpu::InstructionSet set,
                                 std::string_view precision, std::string_view prelude) {
  const cpu::Processor& processor = cpu::processor();
  KernelIngredients found;
  found.version = library_version();
  found.abi = fmt::format("{}, pointers of {} bytes, long of {}, least byte {}", architecture,
                          sizeof(void*), sizeof(long),
                          __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "first" : "last");
  found.cpu = cpu::to_string(set);
  found.features = fmt::format("{}{}", cpu::to_string(processor.best),
                               processor.avx512_bf16 ? " avx512_bf16" : "");
  found.precision = precision;
  found.compiler = compiler.identity;
  found.compile_flags = fmt::format("{}", fmt::join(compile_flags(set), "\n"));
  found.link_flags = fmt::format("{}", fmt::join(link_flags(), "\n"));
  found.prelude = prelude;
  return found;
}

std::string to_text(const KernelIngredients& ingredients) {
  std::string text;
  for (const auto& [name, member] : members)
    text += fmt::format("{} {}\n{}\n", name, (ingredients.*member).size(), ingredients.*member);
  return text;
}

std::optional<std::string_view> ingredient(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::size_t space = text.find(' '), line = text.find('\n');
    if (space > line || line == std::string_view::npos) return std::nullopt;
    std::size_t size = 0;
    const auto [stop, error] = std::from_chars(text.data() + space + 1, text.data() + line, size);
    if (error != std::errc{} || stop != text.data() + line) return std::nullopt;
    if (size >= text.size() - line - 1) return std::nullopt;  // a line ends each of them
    if (text.substr(0, space) == name) return text.substr(line + 1, size);
    text.remove_prefix(line + 1 + size + 1);
  }
  return std::nullopt;
}

Digest kernel_digest(const Digest& shared, std::string_view body) {
  return digest_of(shared, body);
}

std::string kernel_symbol(std::string_view hint, const Digest& digest) {
  std::string name = "sinter_";
  for (const char c : hint.substr(0, longest_hint)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += letter ? c : '_';
  }
  return fmt::format("{}_{}", name, to_hex(digest));
}

}  // namespace sinter::jit
