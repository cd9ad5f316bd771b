#include "tools/simgpu/code/word_order.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace simgpu {
namespace {

bool is_type(std::string_view word) {
  for (const std::string_view begins :
       {"bf16", "tf32", "e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "ue8"})
    if (word.starts_with(begins)) return true;
  return word.size() > 1 && std::string_view("bsuf").find(word[0]) != std::string_view::npos &&
         word[1] >= '0' && word[1] <= '9';
}

/// Of words of one kind that has an order, the first says something else than the second.
enum class Kind : std::uint8_t { unordered, type, layout, space };

Kind kind_of(std::string_view word) {
  if (is_type(word)) return Kind::type;
  if (word == "row" || word == "col") return Kind::layout;
  if (word == "global" || word.starts_with("shared")) return Kind::space;
  return Kind::unordered;
}

/// The same for opcodes that differ in the order of words, where that says nothing.
std::string key_of(std::string_view opcode) {
  std::vector<std::string_view> words = split_words(opcode);
  std::stable_sort(std::next(words.begin()), words.end(),
                   [](std::string_view a, std::string_view b) {
                     const Kind kind = kind_of(a);
                     if (kind != kind_of(b)) return kind < kind_of(b);
                     return kind == Kind::unordered && a < b;
                   });
  std::string key;
  for (const std::string_view word : words) key.append(word).append(".");
  return key;
}

}  // namespace

std::vector<std::string_view> split_words(std::string_view opcode) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t end = opcode.find('.');
    words.push_back(opcode.substr(0, end));
    if (end == std::string_view::npos) return words;
    opcode.remove_prefix(end + 1);
  }
}

WordOrder::WordOrder(const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) names_.emplace(key_of(name), name);
}

std::string_view WordOrder::find(std::string_view opcode) const {
  const auto found = names_.find(key_of(opcode));
  return found == names_.end() ? std::string_view() : found->second;
}

}  // namespace simgpu
