#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/simgpu/one_warp.h"
#include "tools/simgpu/code/load.h"
#include "tools/simgpu/code/pattern_word.h"
#include "tools/simgpu/ptx/syntax.h"

namespace simgpu {
namespace {

const std::string head = ".version 9.0\n.target sm_90\n.address_size 64\n";

/// A module and the memory of its variables.
struct Loaded {
  std::vector<std::unique_ptr<std::byte[]>> memory;
  LoadedModule module;

  explicit Loaded(const std::string& text, int architecture = 90) {
    module = load(text, architecture, [this](const std::string&, std::size_t bytes) {
      memory.push_back(std::make_unique<std::byte[]>(bytes));
      std::memset(memory.back().get(), 0xee, bytes);
      return reinterpret_cast<std::uint64_t>(memory.back().get());
    });
  }
  const Kernel& kernel(const std::string& name = "k") const { return module.kernels.at(name); }
  template <class T>
  T value(const std::string& name, std::size_t index = 0) const {
    T made;
    const auto* from = reinterpret_cast<const std::byte*>(module.variables.at(name).address);
    std::memcpy(&made, from + index * sizeof(T), sizeof(T));
    return made;
  }
};

/// A kernel `k` without parameters.
Loaded body(const std::string& text) { return Loaded(head + ".entry k()\n{\n" + text + "\n}\n"); }

std::string problem(const std::string& text, int architecture = 90) {
  try {
    Loaded loaded(text, architecture);
  } catch (const ptx::Error& error) {
    return error.what();
  }
  return "none";
}
std::string body_problem(const std::string& text) {
  return problem(head + ".entry k()\n{\n" + text + "\n}\n");
}

void check_says(const std::string& found, const std::string& wanted) {
  CAPTURE(found);
  CAPTURE(wanted);
  CHECK(found.find(wanted) != std::string::npos);
}

const Preset* preset_at(const Kernel& kernel, std::uint32_t offset) {
  for (const Preset& preset : kernel.presets)
    if (preset.offset == offset) return &preset;
  return nullptr;
}

}  // namespace

TEST_CASE("simgpu load: the patterns of the table can be read") {
  for (const HostIsa& isa : host_isas())
    for (const Family& family : isa.families())
      for (const Opcode& opcode : family.opcodes) {
        CAPTURE(opcode.name);
        CAPTURE(opcode.pattern);
        CHECK_NOTHROW(parse_pattern(opcode.pattern));
      }
}

TEST_CASE("simgpu load: words of patterns") {
  using Kind = PatternWord::Kind;
  const auto words = parse_pattern("d4v2 s8 dpq sp d4q m4 m f l t sp");
  REQUIRE(words.size() == 11);
  CHECK(words[0].kind == Kind::written);
  CHECK(words[0].bytes == 4);
  CHECK(words[0].vector == 2);
  CHECK(words[1].kind == Kind::read);
  CHECK(words[1].bytes == 8);
  CHECK(words[2].pair);
  CHECK(words[2].bytes == 0);
  CHECK(words[4].pair);
  CHECK(words[5].bytes == 4);
  CHECK(words[6].bytes == 8);
  CHECK(parse_pattern("").empty());
  for (const char* wrong :
       {"d", "d3", "x4", "d4 ", " d4", "d4v", "d4v0", "s4q", "m8", "d4qq", "m i", "i i", "d4  s4"})
    CHECK_THROWS_AS(parse_pattern(wrong), std::logic_error);
}

TEST_CASE("simgpu load: registers, numbers and special registers") {
  const Loaded loaded = body(
      ".reg .b32 %r<9>;\nadd.s32 %r1, %r2, 7;\nadd.s32 %r2, %r1, %tid.x;\nadd.s32 %r3, 7, "
      "%tid.x;\nadd.s32 _, %r1, -1;\nadd.s32 %r1, %r1, WARP_SZ;");
  const Kernel& kernel = loaded.kernel();
  REQUIRE(kernel.code.size() == 6);
  const Instruction* code = kernel.code.data();
  CHECK(code[0].offset(0) == code[1].offset(1));
  CHECK(code[0].offset(1) == code[1].offset(0));
  CHECK(code[0].offset(0) != code[0].offset(1));
  const Preset* seven = preset_at(kernel, code[0].offset(2));
  REQUIRE(seven != nullptr);
  CHECK(seven->kind == Preset::Kind::constant);
  CHECK(seven->value == 7);
  CHECK(seven->bytes == 4);
  CHECK(code[2].offset(1) == seven->offset);
  CHECK(code[2].offset(2) == code[1].offset(2));
  CHECK(preset_at(kernel, code[1].offset(2))->kind == Preset::Kind::thread_x);
  CHECK(preset_at(kernel, code[3].offset(2))->value == 0xffffffffu);
  CHECK(preset_at(kernel, code[4].offset(2))->value == 32);
  CHECK(kernel.presets.size() == 4);
  // %r1 to %r3 (128 bytes each), four presets and a sink of 512 bytes.
  CHECK(kernel.register_bytes == 3 * 128 + 4 * 128 + 512);
  CHECK(kernel.origins[0].line == 7);
  CHECK(kernel.origins[0].opcode == "add.s32");
  CHECK(code[5].control == Control::ret);
}

TEST_CASE("simgpu load: special registers of the system") {
  const Loaded loaded(
      head +
      ".extern .shared .b8 dyn[];\n.entry k()\n{\n.shared .b8 own[20];\n.reg .b32 %r<9>;\n"
      ".reg .b64 %rd<9>;\nmov.u32 %r1, own;\nmov.u32 %r2, dyn;\n"
      "mov.u32 %r3, %reserved_smem_offset_begin;\nmov.u32 %r3, %reserved_smem_offset_1;\n"
      "mov.u32 %r3, %reserved_smem_offset_cap;\nmov.u32 %r3, %envreg31;\nmov.u32 %r3, %pm7;\n"
      "mov.u64 %rd1, %pm7_64;\nmov.u32 %r3, %tid.w;\nmov.u32 %r3, %nclusterid.z;\n"
      "mov.u32 %r3, %cluster_nctaid.y;\n}\n");
  const Kernel& kernel = loaded.kernel();
  CHECK(kernel.static_shared_bytes == 20);
  CHECK(kernel.reserved_shared_offset == 32);
  CHECK(kernel.reserved_shared_bytes == 1024);
  CHECK(kernel.dynamic_shared_offset == 32 + 1024);
  const auto value_at = [&](std::size_t instruction) {
    const Preset* preset = preset_at(kernel, kernel.code.at(instruction).offset(1));
    REQUIRE(preset != nullptr);
    return preset->kind == Preset::Kind::constant ? static_cast<int>(preset->value) : -1;
  };
  for (const auto& [instruction, value] : {std::pair(0, 0),
                                           {1, 1056},
                                           {2, 32},
                                           {3, 32 + 512},
                                           {4, 1024},
                                           {5, 0},
                                           {6, 0},
                                           {7, 0},
                                           {8, 0},
                                           {9, -1},
                                           {10, 1}}) {
    CAPTURE(instruction);
    CHECK(value_at(static_cast<std::size_t>(instruction)) == value);
  }
  // The halves of an address, in cooperative launches.
  const Loaded grid = body(".reg .b32 %r<9>;\nmov.u32 %r1, %envreg1;\nmov.u32 %r2, %envreg2;");
  REQUIRE(grid.memory.size() == 1);
  const auto address = reinterpret_cast<std::uint64_t>(grid.memory[0].get());
  for (std::size_t k = 0; k < 2; ++k) {
    const Preset* half = preset_at(grid.kernel(), grid.kernel().code[k].offset(1));
    REQUIRE(half != nullptr);
    CHECK(half->kind == Preset::Kind::of_cooperative);
    CHECK(half->value == (k == 0 ? address >> 32 : address & 0xffff'ffffu));
  }
  CHECK(grid.module.variables.empty());
  for (const char* unknown :
       {"%envreg32", "%pm8", "%pm0_32", "%tid.q", "%tid", "%reserved_smem_offset_2"}) {
    CAPTURE(unknown);
    check_says(body_problem(".reg .b32 %r;\nmov.u32 %r, " + std::string(unknown) + ";"),
               "is not declared");
  }
}

TEST_CASE("simgpu load: scopes have their own registers and labels") {
  const Loaded loaded = body(
      ".reg .b32 %r<3>, t;\nadd.s32 t, t, %r1;\n{\n.reg .b32 t;\nL: add.s32 t, t, %r1;\nbra L;\n"
      "}\n{\n.reg .b32 t;\nL: add.s32 t, t, %r1;\nbra L;\n}\nL: add.s32 t, t, %r1;\nbra L;");
  const Instruction* code = loaded.kernel().code.data();
  REQUIRE(loaded.kernel().code.size() == 7);
  CHECK(code[0].offset(0) == code[5].offset(0));
  CHECK(code[0].offset(0) != code[1].offset(0));
  CHECK(code[1].offset(0) != code[3].offset(0));
  CHECK(code[0].offset(2) == code[3].offset(2));
  CHECK(code[2].target == 1);
  CHECK(code[4].target == 3);
  CHECK(code[6].target == 5);
  CHECK(code[6].control == Control::branch);
}

TEST_CASE("simgpu load: numbered registers by every way to read their names") {
  const Loaded loaded =
      body(".reg .b32 %r<12>, %r1<5>;\nadd.s32 %r11, %r14, %r2;\n");  // %r14 is the fifth of %r1<5>
  CHECK(loaded.kernel().code.size() == 2);
  check_says(body_problem(".reg .b32 %r<12>;\nadd.s32 %r12, %r1, %r2;"), "%r12 is not declared");
  check_says(body_problem(".reg .b32 %r<12>;\nadd.s32 %r01, %r1, %r2;"), "%r01 is not declared");
}

TEST_CASE("simgpu load: guards and predicates") {
  const Loaded loaded =
      body(".reg .pred p, q;\n@p bra L;\n@!q bra L;\nL: vote.sync.any.pred p, !q, -1;\nret;");
  const Instruction* code = loaded.kernel().code.data();
  REQUIRE(loaded.kernel().code.size() == 4);
  CHECK(code[0].guard >= reserved_predicates);
  CHECK_FALSE(code[0].guard_negated);
  CHECK(code[1].guard != code[0].guard);
  CHECK(code[1].guard_negated);
  CHECK(code[2].guard == true_predicate);
  CHECK(code[2].offset(0) == code[0].guard);
  CHECK(code[2].offset(1) == (code[1].guard | negated_predicate));
  CHECK(loaded.kernel().predicates == reserved_predicates + 2);
  CHECK(code[2].control == Control::together);
}

TEST_CASE("simgpu load: brx.idx") {
  const Loaded loaded = body(
      ".reg .b32 i;\nts: .branchtargets A, B, A;\nbrx.idx i, ts;\nA: ret;\nB: brx.idx.uni i, ts;");
  const Kernel& kernel = loaded.kernel();
  REQUIRE(kernel.targets.size() == 1);
  CHECK(kernel.targets[0] == std::vector<std::uint32_t>{1, 2, 1});
  CHECK(kernel.code[0].control == Control::select);
  CHECK(kernel.code[2].target == 0);
  CHECK(kernel.code.size() == 3);
}

TEST_CASE("simgpu load: global and constant variables hold what the text says") {
  const Loaded loaded(head +
                      ".global .align 4 .b8 bytes[5] = {1, 2, 255};\n"
                      ".const .f32 f = 0f3FC00000;\n"
                      ".global .u64 p[2] = {bytes+1, generic(f)};\n"
                      ".global .u8 q[9] = {7, 0xFF(generic(bytes)+4), 0xFF00(generic(bytes)+4),\n"
                      "0xFF0000(bytes+4), 0xFF000000(bytes+4), 0xFF00000000(bytes+4),\n"
                      "0xFF0000000000(bytes+4), 0xFF000000000000(bytes+4),\n"
                      "0xFF00000000000000(bytes+4)};\n.shared .b32 s;\n.global .b64 zero;\n");
  CHECK(loaded.module.variables.size() == 5);
  CHECK(loaded.module.variables.at("bytes").bytes == 5);
  CHECK(loaded.value<std::uint8_t>("bytes", 2) == 255);
  CHECK(loaded.value<std::uint8_t>("bytes", 3) == 0);
  CHECK(loaded.value<float>("f") == 1.5f);
  CHECK(loaded.value<std::uint64_t>("zero") == 0);
  const std::uint64_t bytes = loaded.module.variables.at("bytes").address;
  CHECK(loaded.value<std::uint64_t>("p", 0) == bytes + 1);
  CHECK(loaded.value<std::uint64_t>("p", 1) == loaded.module.variables.at("f").address);
  for (std::size_t k = 0; k < 8; ++k)
    CHECK(loaded.value<std::uint8_t>("q", 1 + k) == ((bytes + 4) >> (8 * k) & 0xff));
}

TEST_CASE("simgpu load: parameters of an entry") {
  const Loaded loaded(head +
                      ".entry k(.param .u32 a, .param .u64 b, .param .align 4 .b8 c[12], .param "
                      ".u16 d)\n.maxntid 64, 2\n.maxnreg 17\n{\n.reg .b32 %r<9>;\n.reg .b64 "
                      "%rd<2>;\nld.param.u32 %r1, [a];\nld.param.u64 %rd1, [b];\n"
                      "ld.param.v2.f32 {%r2, %r3}, [c+4];\nld.param.s16 %r4, [d];\n}\n");
  const Kernel& kernel = loaded.kernel();
  REQUIRE(kernel.parameters.size() == 4);
  CHECK(kernel.parameters[1].offset == 8);
  CHECK(kernel.parameters[2].offset == 16);
  CHECK(kernel.parameters[3].offset == 28);
  CHECK(kernel.parameter_bytes == 30);
  CHECK(kernel.code[1].immediate == 8);
  CHECK(kernel.code[2].immediate == 20);
  CHECK(kernel.code[3].immediate == 28);
  CHECK(kernel.origins[3].opcode == "ld.param.s16");
  CHECK(kernel.most_threads == 128);
  CHECK_FALSE(kernel.exact_threads);
  CHECK(kernel.most_registers == 17);
  const std::string entry = head + ".entry k(.param .align 4 .b8 c[12])\n{\n.reg .b32 r;\n";
  check_says(problem(entry + "ld.param.b32 r, [c+12];\n}"), "behind the end of c");
  check_says(problem(entry + "ld.param.b32 r, [c+-4];\n}"), "behind the end of c");
  check_says(problem(entry + "ld.param.b32 r, [d];\n}"), "d is not declared");
}

TEST_CASE("simgpu load: calls") {
  const std::string callee =
      ".func (.param .b32 out) f(.param .b32 in, .param .b64 wide)\n{\n.reg .b32 %r<3>;\n"
      "ld.param.b32 %r1, [in];\nadd.s32 %r1, %r1, 1;\nst.param.b32 [out], %r1;\nret;\n}\n";
  const std::string call =
      "{\n.param .b32 param0;\n.param .b64 param1;\n.param .b32 retval0;\n"
      "st.param.b32 [param0+0], %r1;\nst.param.b64 [param1], 5;\ncall.uni (retval0), f, (param0, "
      "param1);\nld.param.b32 %r1, [retval0+0];\n}\n";
  const Loaded loaded(head + callee + ".entry k()\n{\n.reg .b32 %r<3>;\n" + call + call + "}\n");
  const Kernel& kernel = loaded.kernel();
  // A call is two stores, two copies, the call, a copy back and a load.
  REQUIRE(kernel.code.size() == 2 * 7 + 1 + 4);
  CHECK(kernel.code[4].control == Control::call);
  CHECK(kernel.code[4].target == 15);
  CHECK(kernel.code[11].target == 15);
  CHECK(kernel.code[2].offset(0) == kernel.code[9].offset(0));
  CHECK(kernel.code[15].offset(1) == kernel.code[2].offset(0));
  const std::string caller = ".entry k()\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n";
  const auto says = [&](const std::string& functions, const std::string& line,
                        const std::string& wanted) {
    check_says(problem(head + functions + caller + line + "\n}\n"), wanted);
  };
  says(callee, "call (%r1), f, (%r2);", "other parameters");
  says(callee, "call (%r1), f, (%r2, %r2);", "8 bytes");
  says(callee, "call (%r1), g, (%r2, %r2);", "g is not declared");
  says(".func g();\n", "call g;", "g is not defined");
  says("", "call %rd1;", "has no prototype");
  says("", "call (%r1), %rd1, (%r2), p;", "the prototype p is not declared");
  says(callee, "call (%r1), f, (%r2, 3), f;", "no register");
  says("", "p: .callprototype _ ();\ncall %rd1, (7), p;", "has no size");
  says("", "p: .callprototype _ ();\ncall %r1, p;", "8 bytes");
  says("", "call k;", "a call of an entry");
  for (const char* recursive :
       {".func g() { call g; }\n", ".func g();\n.func h() { call g; }\n.func g() { call h; }\n"})
    CHECK(problem(head + recursive + caller + "call g;\n}\n") == "none");
  CHECK(problem(head + callee + caller + "call (%r1), f, (%r2, 3);\n}\n") == "none");
}

TEST_CASE("simgpu load: calls through pointers, and of functions that call themselves") {
  const std::string functions =
      ".func (.param .b32 out) f(.param .b32 in) {\nst.param.b32 [out], 1;\n}\n"
      ".func (.param .b64 out) g(.param .b32 in) {\nst.param.b64 [out], 1;\n}\n"
      ".func never() { }\n.global .u64 table[2] = {f, g};\n";
  const Loaded loaded(head + functions +
                      ".entry k()\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n"
                      "p: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                      "ld.global.u64 %rd1, [table];\ncall (%r1), %rd1, (%r2), p;\n}\n");
  // The list has an entry for each function that the module takes the address of: the second has
  // another result.
  const Kernel& kernel = loaded.kernel();
  REQUIRE(kernel.targets.size() == 1);
  REQUIRE(kernel.targets[0].size() == 2);
  CHECK(kernel.targets[0][0] < kernel.code.size());
  CHECK(kernel.targets[0][1] == 0xffff'ffffu);

  const Loaded recursive(head +
                         ".func r(.param .b32 in) {\n.local .b32 own[5];\n.reg .b64 %rd<2>;\n"
                         "mov.u64 %rd1, own;\ncall r, (in);\n}\n"
                         ".entry k()\n{\n.local .b32 own[3];\n.reg .b32 %r1;\n.reg .pred %p;\n"
                         "@%p call r, (%r1);\n}\n");
  // 3 words of the entry, the frames of r that wait and one more, all in multiples of 16.
  CHECK(recursive.kernel().local_bytes == 16 + (64 << 10) + 32);
}

TEST_CASE("simgpu load: shared and local variables") {
  const Loaded loaded(head +
                      ".shared .align 4 .b8 used[20];\n.shared .b64 unused;\n"
                      ".extern .shared .align 128 .b8 dyn[];\n"
                      ".entry k()\n{\n.shared .align 16 .b8 tile[32];\n.local .align 8 .b8 "
                      "depot[12];\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n"
                      "add.s32 %r1, used, tile;\nadd.s64 %rd1, depot+4, dyn+8;\n}\n"
                      ".entry other()\n{\n}\n");
  const Kernel& kernel = loaded.kernel();
  CHECK(kernel.static_shared_bytes == 52);
  CHECK(kernel.dynamic_shared_offset == 128);
  CHECK(kernel.local_bytes == 16);
  // In the order of the text: `used` is laid out where it is first named, behind the tile.
  CHECK(preset_at(kernel, kernel.code[0].offset(1))->value == 32);
  CHECK(preset_at(kernel, kernel.code[0].offset(2))->value == 0);
  CHECK(preset_at(kernel, kernel.code[1].offset(1))->kind == Preset::Kind::local_address);
  CHECK(preset_at(kernel, kernel.code[1].offset(1))->value == 4);
  CHECK(preset_at(kernel, kernel.code[1].offset(2))->value == 136);
  CHECK(loaded.kernel("other").static_shared_bytes == 0);
}

TEST_CASE("simgpu load: registers that every compiler needs") {
  const auto registers = [](const std::string& text, const std::string& bounds = "") {
    const Loaded loaded(head + ".entry k()\n" + bounds +
                        "{\n.reg .b32 %r<300>;\n.reg .b64 %rd<9>;\n.reg .b16 %h<9>;\n"
                        ".reg .pred p;\n.shared .b32 cell;\n" +
                        text + "\n}");
    return loaded.kernel().registers_per_thread;
  };
  const auto read = [](const std::string& name) { return "ld.shared.b32 " + name + ", [cell];\n"; };
  const auto write = [](const std::string& name) {
    return "st.shared.b32 [cell], " + name + ";\n";
  };
  const std::string barrier = "bar.sync 0;\n", jump = "@p bra L;\n";
  CHECK(registers("ret;") == 0);
  // Constants and what is the same in all lanes may be computed again, or lie elsewhere.
  CHECK(registers("mov.u32 %r1, %ctaid.x;\nadd.s32 %r2, %r1, 1;\n" + write("%r2")) == 0);
  // The operands of one instruction.
  CHECK(registers("mov.u32 %r1, %tid.x;\nmov.u32 %r2, %laneid;\nadd.s32 %r3, %r1, %r2;") == 2);
  CHECK(registers("ld.shared.b64 %rd1, [cell];") == 2);
  CHECK(registers("ld.shared.b16 %h1, [cell];") == 1);
  // Without a barrier each may be read when the last is written.
  const std::string reads = read("%r1") + read("%r2") + read("%r3");
  const std::string writes = write("%r1") + write("%r2") + write("%r3");
  CHECK(registers(reads + writes) == 1);
  CHECK(registers(reads + barrier + writes) == 3);
  CHECK(registers(reads + jump + "bar.sync 0;\nL:\n" + writes) == 3);
  // What is computed from one value stands for it; special registers may be read again.
  CHECK(registers(read("%r1") + "add.s32 %r2, %r1, 1;\nadd.s32 %r3, %r1, 2;\n" + barrier +
                  writes) == 1);
  CHECK(registers("mov.u32 %r1, %tid.x;\nadd.s32 %r2, %r1, 1;\nadd.s32 %r3, %r1, 2;\n" + barrier +
                  writes) == 1);
  // Sums that a loop carries.
  CHECK(registers("mov.b32 %r1, 0;\nmov.b32 %r2, 0;\nmov.b32 %r3, 0;\nL:\n" + read("%r4") +
                  "add.s32 %r1, %r1, %r4;\nadd.s32 %r2, %r2, %r4;\nadd.s32 %r3, %r3, %r4;\n" +
                  jump + writes) == 3);
  // A guarded write leaves what was there.
  CHECK(registers(read("%r1") + read("%r2") + barrier + "@p mov.b32 %r1, 1;\n" + barrier +
                  write("%r1") + write("%r2")) == 2);
  // Bounds, which a compiler keeps to.
  CHECK(registers(reads + barrier + writes, ".maxnreg 2\n") == 2);
  std::string many, of_many;
  for (int k = 1; k < 100; ++k) {
    many += read("%r" + std::to_string(k));
    of_many += write("%r" + std::to_string(k));
  }
  CHECK(registers(many + barrier + of_many) == 99);
  CHECK(registers(many + barrier + of_many, ".maxntid 1024\n") == 64);
  CHECK(registers(many + barrier + of_many, ".maxntid 512\n.minnctapersm 4\n") == 32);
}

TEST_CASE("simgpu load: source lines") {
  const Loaded loaded(head +
                      ".entry k()\n{\n.reg .b32 r;\nadd.s32 r, r, r;\n.loc 2 17 3\nadd.s32 r, r, "
                      "r;\n}\n.file 2 \"a.cu\"\n");
  const Kernel& kernel = loaded.kernel();
  CHECK(kernel.origins[0].source_file == 0);
  CHECK(kernel.origins[1].source_file == 2);
  CHECK(kernel.origins[1].source_line == 17);
  REQUIRE(kernel.files.size() == 3);
  CHECK(kernel.files[2] == "a.cu");
}

TEST_CASE("simgpu load: targets") {
  const auto check = [](const std::string& target, int architecture) {
    return problem(".version 9.0\n.target " + target + "\n", architecture) == "none";
  };
  CHECK(check("sm_80", 90));
  CHECK(check("sm_90", 90));
  CHECK(check("sm_90a", 90));
  CHECK(check("sm_100f", 103));
  CHECK_FALSE(check("sm_90a", 100));
  CHECK_FALSE(check("sm_100", 90));
  CHECK_FALSE(check("sm_100f", 120));
  CHECK_FALSE(check("compute_90", 90));
  CHECK_FALSE(check("sm_90b", 90));
  CHECK_FALSE(check("sm_", 90));
}

TEST_CASE("simgpu load: what is wrong is named") {
  const std::string registers = ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .pred p;\n";
  const auto says = [&](const std::string& text, const std::string& wanted) {
    check_says(body_problem(registers + text), wanted);
  };
  says("frob.b32 %r1, %r2;", "line 9, column 1: the opcode frob.b32 is not simulated (in k)");
  says("add.s32 %r1, %rd1, %r2;", "a 4-byte register, a 4-byte value, a 4-byte value (add.s32 in");
  says("add.s32 %r1, %r2;", "do not fit");
  says("add.s32 7, %r1, %r2;", "do not fit");
  says("add.s32 %r1, !p, %r2;", "do not fit");
  says("add.s32 %r1, %r2, what;", "what is not declared");
  says("@q ret;", "the predicate q is not declared");
  says("@%r1 ret;", "no predicate");
  says("bra L;", "the label L is not declared");
  says("{ L: ret; }\nbra L;", "the label L is not declared");
  says("L: L: ret;", "second declaration of L");
  says(".reg .b32 %r<3>;", "second declaration");
  says(".reg .v4 .f32 v;", "vectors");
  says("brx.idx %r1, ts;", "targets ts");
  CHECK(problem(head + ".entry k() {}\n.entry k() {}").find("second definition") !=
        std::string::npos);
  CHECK(problem(head + ".global .b32 a;\n.global .b32 a;").find("second definition") !=
        std::string::npos);
  CHECK(problem(head + ".global .u64 a = b;").find("address of b") != std::string::npos);
  CHECK(problem(head + ".global .b8 a[0];").find("no bytes") != std::string::npos);
  check_says(problem(head + ".entry k(.reg .b32 p) {}"),
             "the parameter p of an entry is a register");
  check_says(problem(head + ".entry k(.param .b8 p[32765]) {}"),
             "the parameters of k take more than 32764 bytes");
  const std::string calls = "\n.entry k() { .reg .pred q; call f, (q); }";
  check_says(problem(head + ".func f(.reg .pred p) { ret; }" + calls),
             "the parameter p is a predicate");
  check_says(problem(head + ".func f(.param .b8 p[32765]) { ret; }" + calls),
             "the parameter p takes more than 32764 bytes");
}

TEST_CASE("simgpu load: a chain of calls, and kernels that share a long function, have bounds") {
  std::string chain = head + ".func f0() { ret; }\n";
  for (int k = 1; k < 1000; ++k)
    chain += ".func f" + std::to_string(k) + "() { call f" + std::to_string(k - 1) + "; }\n";
  check_says(problem(chain + ".entry k() { call f999; }"), "too deep");
  std::string shared = head + ".func f() {\n";
  for (int k = 0; k < 20000; ++k) shared += "ret;\n";
  shared += "}\n";
  for (int k = 0; k < 1000; ++k) shared += ".entry k" + std::to_string(k) + "() { call f; }\n";
  check_says(problem(shared), "too long");
}

TEST_CASE("simgpu load: more than 48 KB of shared memory is dynamic, whatever the GPU has") {
  const auto shared = [](int bytes) {
    return body_problem(".shared .align 4 .b8 words[" + std::to_string(bytes) +
                        "];\n.reg .b32 %a;\nmov.u32 %a, words;\nret;");
  };
  CHECK(shared(48 << 10) == "none");
  check_says(shared((48 << 10) + 4),
             "shared memory that is not dynamic takes more than 49152 bytes");
}

}  // namespace simgpu
