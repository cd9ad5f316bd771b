/// \file
/// Opcodes whose words stand in another order than the PTX ISA has them. ptxas takes the words
/// behind the first in any order, as long as types, layouts and state spaces follow each other as
/// they should; much published inline assembly has `ldmatrix.sync.aligned.x4.m8n8.shared.b16`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace simgpu {

/// The words of an opcode, in their order.
std::vector<std::string_view> split_words(std::string_view opcode);

class WordOrder {
 public:
  /// Of opcodes in the usual order. Where the same words make two, these are one opcode.
  explicit WordOrder(const std::vector<std::string_view>& names);
  /// The name with the same words; empty where there is none.
  std::string_view find(std::string_view opcode) const;

 private:
  std::unordered_map<std::string, std::string_view> names_;
};

/// An opcode that the table has no entries for, with its words in the order of one that has;
/// nothing where no order of them makes one.
std::optional<std::string> usual_order(std::string_view opcode);

}  // namespace simgpu
