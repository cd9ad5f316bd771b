#include "jit/kernel_file.h"

#include <doctest/doctest.h>

#include <set>

#include "jit/kernel_key.h"
#include "jit/kernel_unit.h"

namespace sinter::jit {
namespace {

KernelFile example() {
  return {1234567890, "version 1\n2\n", {{"a", "body of a"}, {"b", ""}}, std::string("\0ELF", 4)};
}

TEST_CASE("kernel file: what is written is read") {
  std::string problem;
  for (const KernelFile& file : {example(), KernelFile{}}) {
    const auto read = decode(encode(file), problem);
    REQUIRE(read);
    CHECK(read->made == file.made);
    CHECK(read->ingredients == file.ingredients);
    REQUIRE(read->kernels.size() == file.kernels.size());
    for (std::size_t i = 0; i < file.kernels.size(); ++i) {
      CHECK(read->kernels[i].symbol == file.kernels[i].symbol);
      CHECK(read->kernels[i].body == file.kernels[i].body);
    }
    CHECK(read->image == file.image);
  }
}

TEST_CASE("kernel file: every cut and every flipped bit is found") {
  const std::string bytes = encode(example());
  std::string problem;
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(decode(bytes.substr(0, size), problem));
  CHECK_FALSE(decode(bytes + '\0', problem));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const int bit : {0, 3, 7}) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      CHECK_FALSE(decode(flipped, problem));
    }
}

TEST_CASE("kernel file: lengths that do not fit are refused even with a right checksum") {
  std::string problem;
  const std::string bytes = encode(example());
  for (std::size_t i = 32; i < bytes.size() - 40; i += 4) {
    std::string content = bytes.substr(24);
    content[i] = '\x7f';
    const Digest digest = digest_of(content);
    std::string changed = bytes.substr(0, 8);
    changed.append(reinterpret_cast<const char*>(&digest), sizeof digest).append(content);
    if (const auto read = decode(changed, problem)) CHECK(encode(*read).substr(24) == content);
  }
}

TEST_CASE("kernel key: each ingredient makes another key") {
  const KernelIngredients base{"1", "2", "3", "4", "5", "6", "7", "8", "9"};
  const std::string text = to_text(base);
  std::set<std::string> keys = {to_hex(kernel_digest(digest_of(text), "body"))};
  keys.insert(to_hex(kernel_digest(digest_of(text), "Body")));
  for (const auto member :
       {&KernelIngredients::version, &KernelIngredients::abi, &KernelIngredients::cpu,
        &KernelIngredients::features, &KernelIngredients::precision, &KernelIngredients::compiler,
        &KernelIngredients::compile_flags, &KernelIngredients::link_flags,
        &KernelIngredients::prelude}) {
    KernelIngredients other = base;
    other.*member += ' ';
    CHECK(to_text(other) != text);
    keys.insert(to_hex(kernel_digest(digest_of(to_text(other)), "body")));
  }
  CHECK(keys.size() == 11);
}

TEST_CASE("kernel key: text cannot move from one ingredient to another unseen") {
  KernelIngredients a, b;
  a.compiler = "x\ncompile_flags 1\ny";
  a.compile_flags = "";
  b.compiler = "x";
  b.compile_flags = "y";
  CHECK(to_text(a) != to_text(b));
  CHECK(ingredient(to_text(a), "compiler") == a.compiler);
  CHECK(ingredient(to_text(a), "compile_flags") == "");
  CHECK(ingredient(to_text(b), "compile_flags") == "y");
  for (const char* other : {"", "x", "compiler 5\nab\n", "compiler 99999999999999999999\na\n",
                            "compiler \n\n", "\n", "compiler 1"})
    CHECK_FALSE(ingredient(other, "compiler"));
}

TEST_CASE("kernel key: what this machine's options change") {
  const HostCompiler compiler{"c++", "c++ 12", "", {}};
  const auto text = [&](cpu::InstructionSet set, std::string_view precision,
                        std::string_view prelude, const HostCompiler& with) {
    return to_text(ingredients_of(with, set, precision, prelude));
  };
  const std::string base = text(cpu::InstructionSet::avx2, "strict", "p", compiler);
  CHECK(text(cpu::InstructionSet::avx2, "strict", "p", compiler) == base);
  CHECK(text(cpu::InstructionSet::portable, "strict", "p", compiler) != base);
  CHECK(text(cpu::InstructionSet::avx512, "strict", "p", compiler) != base);
  CHECK(text(cpu::InstructionSet::avx2, "relaxed", "p", compiler) != base);
  CHECK(text(cpu::InstructionSet::avx2, "strict", "q", compiler) != base);
  CHECK(text(cpu::InstructionSet::avx2, "strict", "p", {"c++", "c++ 13", "", {}}) != base);
  CHECK(ingredient(base, "compile_flags")->find("-ffp-contract=off") != std::string::npos);
  CHECK(ingredient(base, "abi")->find("pointers of 8 bytes") != std::string::npos);
}

TEST_CASE("kernel key: a symbol is an identifier whatever the hint") {
  const Digest digest{0x0123456789abcdef, 0xfedcba9876543210};
  CHECK(kernel_symbol("softmax rows/2", digest) ==
        "sinter_softmax_rows_2_0123456789abcdeffedcba9876543210");
  CHECK(kernel_symbol("", digest).size() == 7 + 1 + 32);
  CHECK(kernel_symbol("\xc3\xa9\n\"", digest)
            .find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string::npos);
  CHECK(kernel_symbol(std::string(1000, 'x'), digest).size() < 100);
}

TEST_CASE("kernel unit: each kernel once, units of about the same length") {
  std::vector<StoredKernel> kernels;
  for (int i = 0; i < 20; ++i)
    kernels.push_back(
        {"k" + std::to_string(i), std::string(static_cast<std::size_t>(10 * i), 'x')});
  for (const std::size_t most : {1u, 2u, 3u, 100u}) {
    const auto units = split_into_units("PRELUDE\n", kernels, most);
    CHECK(units.size() == std::min<std::size_t>(most, 20));
    std::size_t shortest = units[0].size(), longest = 0, definitions = 0;
    for (const std::string& unit : units) {
      CHECK(unit.starts_with("PRELUDE\n"));
      shortest = std::min(shortest, unit.size());
      longest = std::max(longest, unit.size());
      for (std::size_t at = 0;
           (at = unit.find("#define SINTER_KERNEL_NAME ", at)) != std::string::npos; ++at)
        ++definitions;
    }
    CHECK(definitions == 20);
    if (most < 4) CHECK(longest - shortest < 300);
    CHECK(split_into_units("PRELUDE\n", kernels, most) == units);
  }
}

}  // namespace
}  // namespace sinter::jit
