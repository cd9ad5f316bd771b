#include "tests/simgpu/mma_by_text.h"

#include <algorithm>
#include <deque>

namespace simgpu {
namespace {

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char each : name)
    if (each == '.') words.emplace_back();
    else words.back() += each;
  return words;
}

/// Of m8n8k4 with .f16: four products at once.
void set_quads(MmaText& text, bool a_row, bool b_row) {
  text.count = 4;
  text.m = text.n = 8;
  text.k = 4;
  text.place_a = a_row ? by_text::quad_a_row : by_text::quad_a_column;
  text.place_b = b_row ? by_text::quad_b_row : by_text::quad_b_column;
  text.place_c = text.c->bits == 16 ? by_text::quad_c_half : by_text::quad_c_single;
  text.place_d = text.d->bits == 16 ? by_text::quad_c_half : by_text::quad_c_single;
}

}  // namespace

MmaText mma_by_text(std::string_view name) {
  std::vector<std::string> words = words_of(name);
  const auto take = [&](const std::string& word) {
    const auto at = std::find(words.begin(), words.end(), word);
    if (at == words.end()) return false;
    words.erase(at);
    return true;
  };
  MmaText text;
  text.saturates = take("satfinite");
  text.is_xor = take("xor");
  if (!text.is_xor) take("and");
  take("popc");
  for (const char* rounding : {"rn", "rz", "rm", "rp"})
    if (take(rounding)) text.rounding = rounding;
  REQUIRE(words.size() == 10);  // mma sync aligned shape layout layout d a b c
  text.d = &number_format(words[6]);
  text.a = &number_format(words[7]);
  text.b = &number_format(words[8]);
  text.c = &number_format(words[9]);
  if (words[3] == "m8n8k4" && words[7] == "f16") {
    set_quads(text, words[4] == "row", words[5] == "row");
    return text;
  }
  CHECK(words[4] == "row");
  CHECK(words[5] == "col");
  for (const by_text::ShapeText& shape : by_text::shapes) {
    if (shape.name != words[3] || shape.bits != text.a->bits) continue;
    text.m = shape.m;
    text.n = shape.n;
    text.k = shape.k;
    text.place_a = shape.a;
    text.place_b = shape.b;
    text.place_c = text.place_d = shape.c;
    return text;
  }
  FAIL("no such shape in the text: ", name);
  return text;
}

std::set<std::string_view> mma_names_of_the_text() {
  static std::deque<std::string> names;
  std::set<std::string_view> found;
  const auto add = [&](const std::string& name) {
    found.insert(names.emplace_back("mma.sync.aligned." + name));
  };
  // Half precision.
  for (const char* layouts : {".row.row", ".row.col", ".col.row", ".col.col"})
    for (const char* types : {".f16.f16.f16.f16", ".f32.f16.f16.f16", ".f32.f16.f16.f32"})
      add(std::string("m8n8k4") + layouts + types);
  for (const char* shape : {"m16n8k8.row.col", "m16n8k16.row.col"})
    for (const char* types : {".f16.f16.f16.f16", ".f32.f16.f16.f32", ".f32.bf16.bf16.f32"})
      add(std::string(shape) + types);
  // Alternate formats.
  add("m16n8k4.row.col.f32.tf32.tf32.f32");
  add("m16n8k8.row.col.f32.tf32.tf32.f32");
  for (const std::string shape : {"m16n8k16.row.col.", "m16n8k32.row.col."})
    for (const std::string a : {"e4m3", "e5m2"})
      for (const std::string b : {"e4m3", "e5m2"})
        for (const std::string d : {"f16", "f32"}) {
          std::string types = d;
          for (const std::string& each : {a, b, d}) types += "." + each;
          add(shape + types);
        }
  // Doubles.
  for (const std::string shape : {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"})
    for (const std::string rounding : {"", ".rn", ".rz", ".rm", ".rp"}) {
      add(shape + ".row.col.f64.f64.f64.f64" + rounding);
      add(shape + ".row.col" + rounding + ".f64.f64.f64.f64");
    }
  // Integers and bits.
  const auto add_integers = [&](const std::string& shape, const std::string& bits) {
    for (const char* saturates : {"", ".satfinite"})
      for (const char a : {'s', 'u'})
        for (const char b : {'s', 'u'})
          add(shape + ".row.col" + saturates + ".s32." + a + bits + "." + b + bits + ".s32");
  };
  for (const char* shape : {"m8n8k16", "m16n8k16", "m16n8k32"}) add_integers(shape, "8");
  for (const char* shape : {"m8n8k32", "m16n8k32", "m16n8k64"}) add_integers(shape, "4");
  for (const std::string shape : {"m8n8k128", "m16n8k128", "m16n8k256"})
    for (const char* operation : {".xor.popc", ".and.popc"})
      add(shape + ".row.col.s32.b1.b1.s32" + operation);
  return found;
}

Matrices run_mma(const HostIsa&, const Opcode& opcode, const MmaText& text, const Matrices& a,
                 const Matrices& b, const Matrices& c) {
  OneWarp warp;
  const auto add = [&](const Matrices& from, int bits, by_text::Formula formula) {
    return add_fragment(warp, bits, from.elements_of_a_lane(), [&](int lane, int i) {
      const by_text::Place place = formula(lane, i);
      return from.at(text.matrix_of(lane), place.row, place.column);
    });
  };
  Matrices d(text.count, text.m, text.n);
  const std::vector<std::uint32_t> to = add_fragment(warp, text.d->bits, d.elements_of_a_lane(),
                                                     [](int, int) -> std::uint64_t { return 0; });
  std::vector<std::uint32_t> operands = to;
  std::string pattern = (text.d->bits == 64 ? "d8v" : "d4v") + std::to_string(to.size());
  for (const auto& [from, format, formula] :
       {std::tuple(&a, text.a, text.place_a), std::tuple(&b, text.b, text.place_b),
        std::tuple(&c, text.c, text.place_c)}) {
    const std::vector<std::uint32_t> offsets = add(*from, format->bits, formula);
    operands.insert(operands.end(), offsets.begin(), offsets.end());
    pattern += (format->bits == 64 ? " s8v" : " s4v") + std::to_string(offsets.size());
  }
  CHECK(opcode.pattern == pattern);
  warp.run(opcode, operands);
  for (int lane = 0; lane < warp_size; ++lane)
    for (int i = 0; i < d.elements_of_a_lane(); ++i) {
      const by_text::Place place = text.place_d(lane, i);
      d.at(text.matrix_of(lane), place.row, place.column) =
          fragment_element(warp, to, text.d->bits, lane, i);
    }
  return d;
}

}  // namespace simgpu
