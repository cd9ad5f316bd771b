#include <doctest/doctest.h>

#include <bit>
#include <string>
#include <variant>

#include "tools/simgpu/ptx/syntax.h"

namespace simgpu::ptx {
namespace {

const std::string head = ".version 9.0\n.target sm_90\n.address_size 64\n";

/// A kernel of one body.
Module body(const std::string& text) { return parse(head + ".entry k() {\n" + text + "\n}\n"); }

/// The only instruction of a body.
Instruction instruction(const std::string& text) {
  const Module module = body(text);
  REQUIRE(module.functions.at(0).body.size() == 1);
  return std::get<Instruction>(module.functions[0].body[0]);
}

Operand operand(const std::string& text) {
  const Instruction made = instruction("op " + text + ";");
  REQUIRE(made.operands.size() == 1);
  return made.operands[0];
}

Variable variable(const std::string& text) {
  const Module module = parse(head + text);
  REQUIRE(module.variables.size() == 1);
  return module.variables[0];
}

struct Problem {
  int line, column;
  std::string text;
};

Problem problem(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return {error.position().line, error.position().column, error.what()};
  }
  return {0, 0, "none"};
}

/// Of a text that stands in the fourth line.
void check_problem(const std::string& text, int column, const std::string& says) {
  CAPTURE(text);
  const Problem found = problem(head + text);
  CAPTURE(found.text);
  CHECK(found.line == 4);
  CHECK(found.column == column);
  CHECK(found.text.find(says) != std::string::npos);
}

}  // namespace

TEST_CASE("simgpu ptx: the head of a module") {
  const Module module = parse(
      "// made by hand /* no comment */\n.version 8.7\n.target sm_100a, debug\n"
      "/* a\ncomment */ .address_size 64\n.file 1 \"a b.cu\", 17, 4\n.file 2 \"c.h\"\n");
  CHECK(module.target == "sm_100a");
  CHECK(module.files == std::map<int, std::string>{{1, "a b.cu"}, {2, "c.h"}});
}

TEST_CASE("simgpu ptx: an opcode is one name, with its parts") {
  CHECK(instruction("ld.global.nc.v4.f32 {%f1, _, %f3, %f4}, [%rd1+16];").opcode ==
        "ld.global.nc.v4.f32");
  CHECK(instruction("mbarrier.init.shared::cta.b64 [%r1], 1;").opcode ==
        "mbarrier.init.shared::cta.b64");
  CHECK(instruction("cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16;").opcode ==
        "cp.async.cg.shared.global.L2::128B");
  CHECK(instruction("mma.sync .aligned\n.m16n8k16 a, b;").opcode == "mma.sync.aligned.m16n8k16");
  CHECK(instruction("ret;").operands.empty());
}

TEST_CASE("simgpu ptx: guards") {
  CHECK_FALSE(instruction("bra $L__BB0_4;").guard);
  const Instruction plain = instruction("@%p1 bra $L__BB0_4;");
  CHECK(plain.guard.value().name == "%p1");
  CHECK_FALSE(plain.guard->negated);
  CHECK(instruction("@!p bra a;").guard.value().negated);
}

TEST_CASE("simgpu ptx: operands") {
  CHECK(operand("%r12").name == "%r12");
  CHECK(operand("%tid.x").name == "%tid.x");
  CHECK(operand("!%p1").negated);
  CHECK(operand("_").kind == OperandKind::sink);
  const Operand displaced = operand("table+8");
  CHECK(displaced.name == "table");
  CHECK(displaced.bits == 8);

  const Operand pair = operand("%r1|_");
  REQUIRE(pair.kind == OperandKind::pair);
  CHECK(pair.parts[0].name == "%r1");
  CHECK(pair.parts[1].kind == OperandKind::sink);

  const Operand vector = operand("{%r1, 3, _}");
  REQUIRE(vector.kind == OperandKind::vector);
  REQUIRE(vector.parts.size() == 3);
  CHECK(vector.parts[1].bits == 3);

  const Instruction call = instruction("call.uni (retval0), vprintf, (param0, param1);");
  REQUIRE(call.operands.size() == 3);
  CHECK(call.operands[0].kind == OperandKind::list);
  CHECK(call.operands[1].name == "vprintf");
  CHECK(call.operands[2].parts.at(1).name == "param1");
}

TEST_CASE("simgpu ptx: addresses") {
  const auto check = [](const std::string& text, const std::string& name, std::int64_t added) {
    CAPTURE(text);
    const Operand made = operand(text);
    REQUIRE(made.kind == OperandKind::address);
    CHECK(made.parts.at(0).name == name);
    CHECK(made.parts[0].bits == 0);
    CHECK(static_cast<std::int64_t>(made.bits) == added);
  };
  check("[%rd1]", "%rd1", 0);
  check("[%rd1+16]", "%rd1", 16);
  check("[%rd1-16]", "%rd1", -16);
  check("[sym+-4]", "sym", -4);
  check("[ sym + 0x10 ]", "sym", 16);
  const Operand absolute = operand("[4096]");
  CHECK(absolute.parts.at(0).kind == OperandKind::integer);
  CHECK(absolute.parts[0].bits == 4096);
  const Operand coordinates = operand("[%rd1, {%r1, %r2}]");
  CHECK(coordinates.parts.at(1).parts.size() == 2);
}

TEST_CASE("simgpu ptx: numbers") {
  const auto bits = [](const std::string& text) { return operand(text).bits; };
  CHECK(bits("42") == 42);
  CHECK(bits("42U") == 42);
  CHECK(bits("0") == 0);
  CHECK(bits("-1") == ~std::uint64_t{0});
  CHECK(bits("~0") == ~std::uint64_t{0});
  CHECK(bits("0x1F") == 31);
  CHECK(bits("0XffU") == 255);
  CHECK(bits("017") == 15);
  CHECK(bits("0b101") == 5);
  CHECK(bits("18446744073709551615") == ~std::uint64_t{0});
  CHECK(bits("-9223372036854775808") == std::uint64_t{1} << 63);

  CHECK(operand("0f3F800000").kind == OperandKind::single);
  CHECK(bits("0f3F800000") == 0x3f800000);
  CHECK(bits("-0F3f800000") == 0xbf800000);
  CHECK(operand("0d3FF0000000000000").kind == OperandKind::real);
  CHECK(bits("0d3FF0000000000000") == 0x3ff0000000000000);
  CHECK(bits("1.5") == std::bit_cast<std::uint64_t>(1.5));
  CHECK(bits("-25e-1") == std::bit_cast<std::uint64_t>(-2.5));
  CHECK(bits("1.e3") == std::bit_cast<std::uint64_t>(1000.0));
}

TEST_CASE("simgpu ptx: declarations") {
  const Module module = body(".reg .b32 %r<5>, a;\n.shared .align 16 .b8 tile[4][32];");
  const auto& statements = module.functions[0].body;
  REQUIRE(statements.size() == 3);
  const auto& numbered = std::get<Variable>(statements[0]);
  CHECK(numbered.space == Space::registers);
  CHECK(numbered.name == "%r");
  CHECK(numbered.count == 5);
  CHECK(numbered.type.bits == 32);
  CHECK(std::get<Variable>(statements[1]).count == 0);
  const auto& tile = std::get<Variable>(statements[2]);
  CHECK(tile.space == Space::shared);
  CHECK(tile.extent == 128);
  CHECK(tile.bytes() == 128);
  CHECK(tile.alignment_bytes() == 16);

  const Variable dynamic = variable(".extern .shared .align 16 .b8 dyn[];");
  CHECK(dynamic.external);
  CHECK(dynamic.open);
  CHECK(dynamic.bytes() == 0);
  const Variable vector = variable(".visible .const .v4 .f32 v[3];");
  CHECK(vector.space == Space::constant);
  CHECK(vector.bytes() == 48);
  CHECK(vector.alignment_bytes() == 16);
}

TEST_CASE("simgpu ptx: initial values") {
  const Variable bytes = variable(".global .align 1 .b8 $str[3] = {98, 0x61, -1};");
  REQUIRE(bytes.initial.size() == 3);
  CHECK(bytes.initial[1].bits == 0x61);
  CHECK(bytes.initial[2].bits == ~std::uint64_t{0});
  const Variable floats = variable(".global .f32 f[] = {0f3F800000, -1.5, 2, -3};");
  CHECK(floats.extent == 4);
  CHECK(floats.initial.at(0).bits == 0x3f800000);
  CHECK(floats.initial.at(1).bits == std::bit_cast<std::uint32_t>(-1.5f));
  CHECK(floats.initial.at(2).bits == std::bit_cast<std::uint32_t>(2.0f));
  CHECK(floats.initial.at(3).bits == std::bit_cast<std::uint32_t>(-3.0f));
  CHECK(variable(".global .f64 d = 0f3FC00000;").initial.at(0).bits ==
        std::bit_cast<std::uint64_t>(1.5));
  const Variable pointers =
      variable(".global .u64 p[4] = {x, x+4, generic(x)+8, 0xFF00(generic(x)+8)};");
  REQUIRE(pointers.initial.size() == 4);
  CHECK(pointers.initial[0].symbol == "x");
  CHECK_FALSE(pointers.initial[0].generic);
  CHECK(pointers.initial[1].bits == 4);
  CHECK(pointers.initial[2].generic);
  CHECK(pointers.initial[2].bits == 8);
  CHECK(pointers.initial[2].mask == ~std::uint64_t{0});
  CHECK(pointers.initial[3].mask == 0xff00);
  CHECK(pointers.initial[3].symbol == "x");
  CHECK(variable(".global .s32 m[2][2] = {{1, 2}, {3}};").initial.size() == 3);
  CHECK(variable(".global .v2 .f32 v[2] = {{1.0, 2.0}, {3.0, 4.0}};").initial.size() == 4);
  const Variable open = variable(".global .s32 m[][2] = {{1, 2}, {3, 4}, {5}};");
  CHECK(open.initial.size() == 5);
  CHECK(open.bytes() == 24);
}

TEST_CASE("simgpu ptx: functions") {
  const Module module = parse(head +
                              ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b)"
                              "\n.noreturn\n;\n"
                              ".visible .entry k(.param .u64 .ptr .global .align 4 k_param_0,\n"
                              "  .param .align 8 .b8 k_param_1[24])\n"
                              ".maxntid 32, 4, 2\n.minnctapersm 2\n.maxnreg 40\n{ ret; }\n"
                              ".weak .func (.reg .f32 o) f(.reg .f32 i) { ret; }\n"
                              ".entry bare .reqntid 64 { }");
  REQUIRE(module.functions.size() == 4);
  const Function& print = module.functions[0];
  CHECK_FALSE(print.defined);
  CHECK_FALSE(print.entry);
  CHECK(print.results.size() == 1);
  CHECK(print.parameters.size() == 2);
  const Function& kernel = module.functions[1];
  CHECK(kernel.entry);
  CHECK(kernel.defined);
  CHECK(kernel.most_threads == 256);
  CHECK(kernel.least_blocks == 2);
  CHECK(kernel.most_registers == 40);
  CHECK(kernel.parameters.at(0).type.name == "u64");
  CHECK(kernel.parameters[0].alignment_bytes() == 8);
  CHECK(kernel.parameters.at(1).bytes() == 24);
  CHECK(module.functions[2].parameters.at(0).space == Space::registers);
  CHECK(module.functions[3].exact_threads == 64);
  CHECK(module.functions[3].parameters.empty());
}

TEST_CASE("simgpu ptx: statements of a body") {
  const Module module = body(
      ".loc 1 7 3, function_name $L__info_string0+4, inlined_at 1 2 41\n"
      ".pragma \"nounroll\";\n$L1:\n{ .reg .b32 t; L2: ret; }\n"
      "ts: .branchtargets $L1, $L2;\nproto: .callprototype (.param .b32 _) _ (.param .b64 _);");
  const auto& statements = module.functions[0].body;
  REQUIRE(statements.size() == 9);
  CHECK(std::get<Location>(statements[0]).line == 7);
  CHECK(std::get<Label>(statements[1]).name == "$L1");
  CHECK(std::holds_alternative<ScopeBegin>(statements[2]));
  CHECK(std::get<Label>(statements[4]).name == "L2");
  CHECK(std::get<Instruction>(statements[5]).position.line == 8);
  CHECK(std::holds_alternative<ScopeEnd>(statements[6]));
  CHECK(std::get<Label>(statements[7]).targets == std::vector<std::string>{"$L1", "$L2"});
  CHECK(std::get<Label>(statements[8]).name == "proto");
}

TEST_CASE("simgpu ptx: debug sections and DWARF are skipped") {
  const Module module =
      parse(head +
            ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90\n.b32 .debug_abbrev\n}\n"
            "@@DWARF .byte 0x2b, 0\n.global .b32 g;\n.section .debug_info { { } }\n");
  CHECK(module.variables.size() == 1);
}

TEST_CASE("simgpu ptx: what is wrong is named with its place") {
  const Problem empty = problem("");
  CHECK(empty.line == 1);
  CHECK(empty.text.find(".version") != std::string::npos);
  check_problem(".entry k() { add.s32 a, b }", 27, "';' is missing before '}'");
  check_problem(".entry k() { add.s32 a, ; }", 25, "an operand");
  check_problem(".entry k() { ret;", 18, "not the end");
  check_problem(".entry k() { ld.f32 a, [b+c]; }", 27, "added to the name");
  check_problem(".entry k() { a\x01; }", 15, "byte 0x01");
  check_problem(".entry k() { mov a, 0f3F8; }", 21, "8 hexadecimal digits");
  check_problem(".entry k() { mov a, 099; }", 21, "not a number");
  check_problem(".entry k() { mov a, 12ab; }", 21, "behind it");
  check_problem(".entry k() { mov a, 18446744073709551616; }", 21, "64 bits");
  check_problem(".entry k() { .reg .q32 a; }", 19, "a type");
  check_problem(".entry k() { .reg .b32 a[4]; }", 24, "array of registers");
  check_problem(".entry k() { .global .b32 a; }", 27, "outside of functions");
  check_problem(".global .align 3 .b8 a;", 16, "power of two");
  check_problem(".global .b8 a[2] = {1, 2, 3};", 20, "fewer");
  check_problem(".global .b8 a[];", 13, "extent");
  check_problem(".global .b8 a[1099511627777];", 15, "more than");
  check_problem(".global .b8 a[1048576][1048577];", 24, "tebibyte");
  check_problem(".global .b8 a[2][2] = {{1}, {2}};", 24, "leave out");
  check_problem(".global .texref t;", 9, "textures");
  check_problem(".global .attribute(.managed) .b8 a;", 9, "attributes");
  check_problem(".alias a, b;", 1, ".alias");
  check_problem(".file 99999 \"a\"", 7, "more than 65536");
  check_problem("/* a", 1, "does not end");
  check_problem(".file 1 \"a", 9, "does not end");
  check_problem(".entry k() { @p L: ret; }", 18, "missing");
  CHECK(problem(".version 9.0\n.target sm_90\n.address_size 32\n").line == 3);
}

TEST_CASE("simgpu ptx: braces and brackets without end take no stack") {
  const std::string entry = head + ".entry k() ";
  for (const char* open :
       {"{", "[", "(", "{ op {", "{ op [", "{ op (", "{ op -", "{ op !", "{ @"}) {
    std::string text = entry;
    for (int i = 0; i < 100000; ++i) text += open;
    CHECK_THROWS_AS(parse(text), Error);
  }
  std::string sections = head + ".section .debug_str ", initial = head + ".global .b8 a = ";
  for (int i = 0; i < 100000; ++i) (sections += '{'), (initial += '{');
  CHECK_THROWS_AS(parse(sections), Error);
  CHECK_THROWS_AS(parse(initial), Error);
}

}  // namespace simgpu::ptx
