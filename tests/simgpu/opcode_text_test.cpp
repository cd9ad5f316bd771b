#include <doctest/doctest.h>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tests/simgpu/one_warp.h"
#include "tools/simgpu/code/load.h"
#include "tools/simgpu/code/opcode_name.h"
#include "tools/simgpu/code/pattern_word.h"
#include "tools/simgpu/ptx/syntax.h"

namespace simgpu {
namespace {

const char* prefix(int bytes) {
  switch (bytes) {
    case 0: return "%p";
    case 1: return "%c";
    case 2: return "%h";
    case 4: return "%r";
    case 8: return "%d";
    default: return "%q";
  }
}

/// An operand that fits the word; its registers are the next ones.
std::string operand(const PatternWord& word, int& next) {
  if (word.kind == PatternWord::Kind::number) return "7";
  const auto name = [&] { return prefix(word.bytes) + std::to_string(next++); };
  if (word.vector == 0) {
    const std::string first = name();
    return word.pair ? first + "|%p" + std::to_string(next++) : first;
  }
  std::string list = "{" + name();
  for (int k = 1; k < word.vector; ++k) list += ", " + name();
  return list + "}";
}

/// The instruction of an entry of the table, as a text has it.
std::string instruction(const Opcode& opcode) {
  const std::size_t special = opcode.name.find(".%");
  std::string text(opcode.name.substr(0, special));
  std::string separator = " ";
  int next = 0;
  for (const PatternWord& word : parse_pattern(opcode.pattern)) {
    text += separator + operand(word, next);
    separator = ", ";
  }
  if (special != std::string_view::npos)
    text += ", " + std::string(opcode.name.substr(special + 1));
  return text + ";\n";
}

/// The entry as this machine runs it.
const Opcode& here(const Opcode& entry) {
  for (const Opcode& each : opcodes(entry.name))
    if (each.pattern == entry.pattern) return each;
  FAIL("no entry");
  return entry;
}

}  // namespace

TEST_CASE("simgpu opcodes: each entry of the table is what its text becomes") {
  for (const char* family : {"address", "bit", "bit_field", "clock", "compare_integer", "integer",
                             "integer_carry", "integer_divide", "move"}) {
    const std::span<const Opcode> entries = family_opcodes(host_isas().back(), family);
    std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n";
    for (const char* declared : {".b8 %c", ".b16 %h", ".b32 %r", ".b64 %d", ".b128 %q", ".pred %p"})
      text += ".reg " + std::string(declared) + "<8>;\n";
    for (const Opcode& entry : entries) text += instruction(entry);
    const LoadedModule module =
        load(text + "}\n", 90, [](const std::string&, std::size_t) { return std::uint64_t{0}; });
    const Kernel& kernel = module.kernels.at("k");
    REQUIRE(kernel.code.size() >= entries.size());
    for (std::size_t k = 0; k < entries.size(); ++k) {
      CAPTURE(entries[k].name);
      CAPTURE(entries[k].pattern);
      const bool is_entry = kernel.code[k].all == here(entries[k]).all;
      CHECK(is_entry);
      CHECK(kernel.code[k].immediate ==
            (entries[k].pattern.find('i') == std::string_view::npos ? 0 : 7));
    }
  }
}

TEST_CASE("simgpu opcodes: what is not in the table has no entry") {
  CHECK(opcodes("add.f33").empty());
  CHECK(opcodes("").empty());
}

TEST_CASE("simgpu opcodes: words in an order that ptxas takes, too") {
  const std::pair<const char*, const char*> pairs[] = {
      {"ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r1,%r2,%r3,%r4}, [%r5];",
       "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [%r5];"},
      {"ldmatrix.sync.aligned.x2.trans.m8n8.b16.shared {%r1,%r2}, [%r5];",
       "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1,%r2}, [%r5];"},
      {"mma.sync.m16n8k8.aligned.f32.f16.f16.f32.row.col {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, "
       "{%f1,%f2,%f3,%f4};",
       "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, "
       "{%f1,%f2,%f3,%f4};"},
      {"cvt.f16.rn.f32 %h1, %f1;", "cvt.rn.f16.f32 %h1, %f1;"},
      {"cvt.f32.f16 %f1, %h1;", "cvt.f32.f16 %f1, %h1;"},
      {"add.f32.rn %f1, %f2, 1.0;", "add.rn.f32 %f1, %f2, 1.0;"},
      {"setp.f32.lt %p1, %f1, %f2;", "setp.lt.f32 %p1, %f1, %f2;"},
      {"shfl.bfly.sync.b32 %r1, %r2, 1, 31, -1;", "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;"},
      {"vote.ballot.sync.b32 %r1, %p1, -1;", "vote.sync.ballot.b32 %r1, %p1, -1;"},
      {"ld.f32.global.v2.cs {%f1,%f2}, [%d1];", "ld.global.cs.v2.f32 {%f1,%f2}, [%d1];"},
      {"ld.global.acquire.gpu.u32 %r1, [%d1];", "ld.acquire.gpu.global.u32 %r1, [%d1];"},
      {"st.global.release.gpu.u32 [%d1], %r1;", "st.release.gpu.global.u32 [%d1], %r1;"},
      {"atom.add.release.gpu.global.s32 %r1, [%d1], %r2;",
       "atom.release.gpu.global.add.s32 %r1, [%d1], %r2;"},
      {"atom.cas.global.b32 %r1, [%d1], %r2, %r3;", "atom.global.cas.b32 %r1, [%d1], %r2, %r3;"},
      {"red.add.noftz.global.f16x2 [%d1], %r1;", "red.global.add.noftz.f16x2 [%d1], %r1;"},
      {"cp.async.shared.global.cg [%r1], [%d1], 16;",
       "cp.async.cg.shared.global [%r1], [%d1], 16;"},
      {"fence.gpu.acq_rel;", "fence.acq_rel.gpu;"},
  };
  const auto code_of = [](const char* instruction) {
    const std::string text =
        ".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n.reg .pred %p<8>;\n"
        ".reg .b16 %h<8>;\n.reg .b32 %r<8>;\n.reg .f32 %f<8>;\n.reg .b64 %d<8>;\n" +
        std::string(instruction) + "\n}\n";
    return load(text, 90, {}).kernels.at("k").code[0].all;
  };
  for (const auto& [other, usual] : pairs) {
    CAPTURE(other);
    const bool is_same = code_of(other) == code_of(usual);
    CHECK(is_same);
  }
  CHECK(opcodes("cvt.rn.f32.f16.sat").empty());  // the types the other way round
  CHECK(opcodes("ldmatrix.sync.aligned.x4.x2.m8n8.shared.b16").empty());
  CHECK(opcodes("ld.shared.global.f32").empty());
  CHECK(opcodes("cp.async.cg.global.shared").empty());
  CHECK_THROWS_AS(code_of("ld.v8.f32.local {%f1,%f2,%f3,%f4,%f1,%f2,%f3,%f4}, [%d1];"), ptx::Error);
}

TEST_CASE("simgpu opcodes: those of the same words are one") {
  std::map<std::string, std::string_view> usual;
  for (const Family& family : host_isas().front().families())
    for (const Opcode& each : family.opcodes) {
      CAPTURE(each.name);
      const std::string_view other = usual.emplace(order_key(each.name), each.name).first->second;
      const bool is_same = opcodes(other).front().all == opcodes(each.name).front().all;
      CHECK(is_same);
    }
}

}  // namespace simgpu
