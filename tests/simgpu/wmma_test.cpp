// wmma: loads, products and stores of matrices in memory. Which element a lane holds is left open
// by the PTX ISA (9.7.14.4.1): what is tested is how many registers there are, that each element is
// held, that loads of all kinds agree, and what products of loaded matrices are.

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "tests/simgpu/matrix_numbers.h"
#include "tools/simgpu/machine/fault.h"

namespace simgpu {
namespace {

/// What the text says of a matrix of a shape and type: 9.7.14.4.1, the tables of fragments.
struct MatrixText {
  std::string shape, type;
  char which;  ///< a, b or c, which is d too
  int rows, columns, registers;
};

struct ShapeSize {
  int m, n, k;
};
ShapeSize size_of(const std::string& shape) {
  static const std::map<std::string, ShapeSize> sizes = {
      {"m16n16k16", {16, 16, 16}}, {"m8n32k16", {8, 32, 16}}, {"m32n8k16", {32, 8, 16}},
      {"m16n16k8", {16, 16, 8}},   {"m8n8k4", {8, 8, 4}},     {"m8n8k32", {8, 8, 32}},
      {"m8n8k128", {8, 8, 128}}};
  return sizes.at(shape);
}

const std::vector<MatrixText>& matrices_of_the_text() {
  static const std::vector<MatrixText> all = [] {
    std::vector<MatrixText> made;
    const auto add = [&](const char* shape, const char* type, char which, int registers) {
      const ShapeSize size = size_of(shape);
      const int rows = which == 'b' ? size.k : size.m, columns = which == 'a' ? size.k : size.n;
      made.push_back({shape, type, which, rows, columns, registers});
    };
    for (const char* shape : {"m16n16k16", "m8n32k16", "m32n8k16"}) {
      add(shape, "f16", 'a', 8);
      add(shape, "f16", 'b', 8);
      add(shape, "f16", 'c', 4);
      add(shape, "f32", 'c', 8);
      add(shape, "s32", 'c', 8);
    }
    for (const char* type : {"s8", "u8"}) {
      add("m16n16k16", type, 'a', 2);
      add("m16n16k16", type, 'b', 2);
      add("m8n32k16", type, 'a', 1);
      add("m8n32k16", type, 'b', 4);
      add("m32n8k16", type, 'a', 4);
      add("m32n8k16", type, 'b', 1);
    }
    add("m16n16k16", "bf16", 'a', 4);
    add("m16n16k16", "bf16", 'b', 4);
    add("m8n32k16", "bf16", 'a', 2);
    add("m8n32k16", "bf16", 'b', 8);
    add("m32n8k16", "bf16", 'a', 8);
    add("m32n8k16", "bf16", 'b', 2);
    add("m16n16k8", "tf32", 'a', 4);
    add("m16n16k8", "tf32", 'b', 4);
    add("m16n16k8", "f32", 'c', 8);
    add("m8n8k4", "f64", 'a', 1);
    add("m8n8k4", "f64", 'b', 1);
    add("m8n8k4", "f64", 'c', 2);
    for (const char* type : {"s4", "u4"})
      for (const char which : {'a', 'b'}) add("m8n8k32", type, which, 1);
    for (const char which : {'a', 'b'}) add("m8n8k128", "b1", which, 1);
    for (const char* shape : {"m8n8k32", "m8n8k128"}) add(shape, "s32", 'c', 2);
    return made;
  }();
  return all;
}

bool is_packed(const MatrixText& text) { return number_format(text.type).bits < 8; }

/// An opcode of a load or store: its name is made here, from the syntax of the text.
struct Way {
  std::string name, pattern;
  bool stores = false, is_row = true, has_stride = false, is_shared = false, is_wide = true;
};
std::vector<Way> ways_of(const MatrixText& text) {
  std::vector<Way> ways;
  const bool wide_registers = number_format(text.type).bits == 64;
  for (const bool stores : {false, true})
    for (const bool is_row : {true, false})
      for (const char* space : {"", ".global", ".shared", ".shared::cta"})
        for (const bool is_wide : {true, false})
          for (const bool has_stride : {false, true}) {
            if (stores && text.which != 'c') continue;
            if (is_packed(text) && is_row != (text.which == 'a')) continue;
            const bool is_shared = std::string_view(space).starts_with(".shared");
            if (!is_wide && !is_shared) continue;
            if (is_wide && std::string_view(space) == ".shared::cta") continue;
            const std::string registers = std::string(stores ? "s" : "d") +
                                          (wide_registers ? "8v" : "4v") +
                                          std::to_string(text.registers);
            const std::string memory = is_wide ? "m" : "m4";
            ways.push_back({std::string("wmma.") + (stores ? "store.d" : "load.") +
                                (stores ? "" : std::string(1, text.which)) + ".sync.aligned." +
                                (is_row ? "row." : "col.") + text.shape + space + "." + text.type,
                            (stores ? memory + " " + registers : registers + " " + memory) +
                                (has_stride ? " s4" : ""),
                            stores, is_row, has_stride, is_shared, is_wide});
          }
  return ways;
}

/// A matrix in the warp's shared memory, with elements of whole bytes; those of less than a byte
/// are written as words of 32 bits.
struct Placed {
  const MatrixText& text;
  const Way& way;
  int bits, rows, columns, stride;

  Placed(const MatrixText& text_of, const Way& way_of) : text(text_of), way(way_of) {
    const int element = number_format(text.type).bits;
    const int packs = element < 8 ? 32 / element : 1;
    bits = element * packs;
    rows = text.which == 'b' ? text.rows / packs : text.rows;
    columns = text.which == 'a' ? text.columns / packs : text.columns;
    // The text counts the stride in elements; it is a multiple of 32 bytes here.
    const int together = way.is_row ? columns : rows;
    stride = way.has_stride ? (together * bits / 256 + 3) * 256 / bits : together;
  }
  int given_stride() const { return stride * bits / number_format(text.type).bits; }
  std::size_t at(int row, int column) const {
    const int element = way.is_row ? row * stride + column : column * stride + row;
    return static_cast<std::size_t>(element * bits / 8 + 64);
  }
  int elements() const { return text.registers * (bits == 64 ? 1 : 32 / bits); }
};

/// The operands behind or before the registers: the address and the stride.
void add_address(OneWarp& warp, const Placed& placed, std::vector<std::uint32_t>& operands) {
  const auto base = reinterpret_cast<std::uint64_t>(warp.block().shared);
  const std::uint64_t address = placed.way.is_shared ? 64 : base + 64;
  const auto value = [&](int) { return address; };
  const std::uint32_t at =
      placed.way.is_wide ? warp.add<std::uint64_t>(value) : warp.add<std::uint32_t>(value);
  operands.insert(placed.way.stores ? operands.begin() : operands.end(), at);
  if (placed.way.has_stride)
    operands.push_back(warp.add<std::uint32_t>([&](int) { return placed.given_stride(); }));
}

/// Which place (row * columns + column) is element i of a lane: found by loading.
using Held = std::vector<std::array<int, warp_size>>;

Held load_places(const HostIsa& isa, const MatrixText& text, const Way& way) {
  const Placed placed(text, way);
  Held held(static_cast<std::size_t>(placed.elements()));
  // Numbers of places in bytes are loaded in two halves.
  for (const int shift : {0, 8}) {
    OneWarp warp;
    for (int row = 0; row < placed.rows; ++row)
      for (int column = 0; column < placed.columns; ++column) {
        const std::uint64_t place = static_cast<std::uint64_t>(row * placed.columns + column);
        const std::uint64_t word = place >> shift & 0xff;
        std::memcpy(warp.block().shared + placed.at(row, column), &word,
                    static_cast<std::size_t>(placed.bits / 8));
      }
    const auto registers = add_fragment(warp, placed.bits, placed.elements(),
                                        [](int, int) -> std::uint64_t { return 0; });
    std::vector<std::uint32_t> operands = registers;
    add_address(warp, placed, operands);
    warp.run(find_opcode(isa, way.name, way.pattern), operands);
    for (int i = 0; i < placed.elements(); ++i)
      for (int lane = 0; lane < warp_size; ++lane)
        held[static_cast<std::size_t>(i)][static_cast<std::size_t>(lane)] |=
            static_cast<int>(fragment_element(warp, registers, placed.bits, lane, i)) << shift;
  }
  return held;
}

void check_store(const HostIsa& isa, const MatrixText& text, const Way& way, const Held& held) {
  const Placed placed(text, way);
  OneWarp warp;
  const auto value = [](int place) { return static_cast<std::uint64_t>(place * 3 + 1); };
  std::vector<std::byte> expected(OneWarp::shared_bytes);
  for (int row = 0; row < placed.rows; ++row)
    for (int column = 0; column < placed.columns; ++column) {
      const std::uint64_t word = value(row * placed.columns + column);
      std::memcpy(&expected[placed.at(row, column)], &word,
                  static_cast<std::size_t>(placed.bits / 8));
    }
  std::vector<std::uint32_t> operands =
      add_fragment(warp, placed.bits, placed.elements(), [&](int lane, int i) {
        return value(held[static_cast<std::size_t>(i)][static_cast<std::size_t>(lane)]);
      });
  add_address(warp, placed, operands);
  warp.run(find_opcode(isa, way.name, way.pattern), operands);
  CHECK(std::memcmp(warp.block().shared, expected.data(), expected.size()) == 0);
}

const MatrixText& matrix_text(const std::string& shape, const std::string& type, char which) {
  for (const MatrixText& text : matrices_of_the_text())
    if (text.shape == shape && text.type == type && text.which == which) return text;
  FAIL("no matrix ", which, " of ", shape, " ", type);
  return matrices_of_the_text().front();
}

/// What the name of a wmma.mma says.
struct ProductText {
  std::string shape, a, b, c, d;
  bool saturates = false, is_xor = false;
};

/// All products of the text, by name: 9.7.14.4.5.
std::map<std::string, ProductText> products_of_the_text() {
  std::map<std::string, ProductText> all;
  const std::string head = "wmma.mma.sync.aligned.";
  for (const std::string layouts : {"row.row.", "row.col.", "col.row.", "col.col."}) {
    for (const std::string shape : {"m16n16k16", "m8n32k16", "m32n8k16"}) {
      for (const std::string d : {"f16", "f32"})
        for (const std::string c : {"f16", "f32"})
          all[head + layouts + shape + "." + d + "." + c] = {shape, "f16", "f16", c, d};
      all[head + layouts + shape + ".f32.bf16.bf16.f32"] = {shape, "bf16", "bf16", "f32", "f32"};
      for (const std::string a : {"s8", "u8"})
        for (const std::string end : {"", ".satfinite"})
          all[head + layouts + shape + ".s32." + a + "." + a + ".s32" + end] = {
              shape, a, a, "s32", "s32", !end.empty()};
    }
    all[head + layouts + "m16n16k8.f32.tf32.tf32.f32"] = {"m16n16k8", "tf32", "tf32", "f32", "f32"};
    const ProductText doubles = {"m8n8k4", "f64", "f64", "f64", "f64"};
    all[head + layouts + "m8n8k4.f64.f64.f64.f64"] = doubles;
    for (const std::string rounding : {"rn", "rz", "rm", "rp"}) {
      all[head + layouts + "m8n8k4." + rounding + ".f64.f64.f64.f64"] = doubles;  // as the text has
      all[head + layouts + "m8n8k4.f64.f64.f64.f64." + rounding] = doubles;  // as compilers write
    }
  }
  for (const std::string a : {"s4", "u4"})
    for (const std::string end : {"", ".satfinite"})
      all[head + "row.col.m8n8k32.s32." + a + "." + a + ".s32" + end] = {
          "m8n8k32", a, a, "s32", "s32", !end.empty()};
  for (const std::string op : {"xor", "and"})
    all["wmma.mma." + op + ".popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32"] = {
        "m8n8k128", "b1", "b1", "s32", "s32", false, op == "xor"};
  return all;
}

/// A matrix of small integers, and the registers that hold it: as loaded, by `held`. Elements of
/// less than a byte lie in words as they do in memory.
struct Loaded {
  Matrices words;
  std::vector<std::uint32_t> registers;
};
Loaded load_integers(OneWarp& warp, const MatrixText& text, const Held& held) {
  static std::mt19937 generator(3);
  const NumberFormat& format = number_format(text.type);
  Loaded made = {Matrices(1, text.rows, text.columns), {}};
  for (std::uint64_t& word : made.words.words) {
    const int value = static_cast<int>(generator() % 8);
    word = encode_integer(format, format.bits == 1  ? value % 2
                                  : format.has_sign ? value - 4
                                                    : value);
  }
  const int packs = format.bits < 8 ? 32 / format.bits : 1;
  const int bits = format.bits * packs;
  const int elements = text.registers * (bits == 64 ? 1 : 32 / bits);
  made.registers = add_fragment(warp, bits, elements, [&](int lane, int i) {
    const int place = held[static_cast<std::size_t>(i)][static_cast<std::size_t>(lane)];
    if (packs == 1) return made.words.words[static_cast<std::size_t>(place)];
    std::uint64_t word = 0;
    for (int n = 0; n < packs; ++n) {  // along k: a word of A is of a row, one of B of a column
      const int columns = text.columns / (text.which == 'a' ? packs : 1);
      const int row = place / columns, column = place % columns;
      const std::uint64_t element = text.which == 'a' ? made.words.at(0, row, column * packs + n)
                                                      : made.words.at(0, row * packs + n, column);
      word |= element << (n * format.bits);
    }
    return word;
  });
  return made;
}

class WmmaTest {
 public:
  explicit WmmaTest(const HostIsa& isa) : isa_(isa) {}

  /// Where elements are, by the plainest of the loads.
  const Held& held(const MatrixText& text) {
    Held& found = held_[text.shape + text.type + text.which];
    if (found.empty()) {
      for (const Way& way : ways_of(text))
        if (!way.stores && found.empty()) found = load_places(isa_, text, way);
    }
    return found;
  }

  void check_product(const std::string& name, const ProductText& product) {
    CAPTURE(name);
    OneWarp warp;
    const MatrixText& text_of_d = matrix_text(product.shape, product.d, 'c');
    const MatrixText& text_of_a = matrix_text(product.shape, product.a, 'a');
    const MatrixText& text_of_b = matrix_text(product.shape, product.b, 'b');
    const MatrixText& text_of_c = matrix_text(product.shape, product.c, 'c');
    const Loaded a = load_integers(warp, text_of_a, held(text_of_a));
    const Loaded b = load_integers(warp, text_of_b, held(text_of_b));
    const Loaded c = load_integers(warp, text_of_c, held(text_of_c));
    std::vector<std::uint32_t> operands = load_integers(warp, text_of_d, held(text_of_d)).registers;
    const std::vector<std::uint32_t> registers_of_d = operands;
    for (const Loaded* each : {&a, &b, &c})
      operands.insert(operands.end(), each->registers.begin(), each->registers.end());
    const Opcode& opcode = find_opcode(isa_, name);
    CHECK(opcode.control == Control::together);
    CHECK(opcode.members == whole_warp);
    warp.run(opcode, operands);
    const NumberFormat& format = number_format(product.d);
    const Held& places = held(text_of_d);
    for (std::size_t i = 0; i < places.size(); ++i)
      for (int lane = 0; lane < warp_size; ++lane) {
        const int place = places[i][static_cast<std::size_t>(lane)];
        const int row = place / text_of_d.columns, column = place % text_of_d.columns;
        double sum = decode(number_format(product.c), c.words.at(0, row, column));
        for (int k = 0; k < text_of_a.columns; ++k) {
          const double x = decode(number_format(product.a), a.words.at(0, row, k));
          const double y = decode(number_format(product.b), b.words.at(0, k, column));
          sum += product.is_xor ? (x != y ? 1 : 0) : x * y;
        }
        CHECK(decode(format, fragment_element(warp, registers_of_d, format.bits, lane,
                                              static_cast<int>(i))) == sum);
      }
  }

 private:
  const HostIsa& isa_;
  std::map<std::string, Held> held_;
};

}  // namespace

TEST_CASE("simgpu wmma: every load and store of the text, and no others") {
  for (const HostIsa& isa : host_isas()) {
    CAPTURE(isa.name);
    std::size_t expected = 0;
    WmmaTest test(isa);
    for (const MatrixText& text : matrices_of_the_text()) {
      for (const Way& way : ways_of(text)) {
        ++expected;
        CAPTURE(way.name);
        CAPTURE(way.pattern);
        const Opcode& opcode = find_opcode(isa, way.name, way.pattern);
        CHECK(opcode.control == Control::together);
        CHECK(opcode.members == whole_warp);
        if (way.stores) check_store(isa, text, way, test.held(text));
        else CHECK(load_places(isa, text, way) == test.held(text));
      }
      // Each element is held, all equally often.
      std::map<int, int> times;
      for (const auto& lanes : test.held(text))
        for (const int place : lanes) ++times[place];
      const Placed placed(text, ways_of(text).front());
      CHECK(times.size() == static_cast<std::size_t>(placed.rows * placed.columns));
      for (const auto& [place, count] : times)
        CHECK(count == placed.elements() * warp_size / (placed.rows * placed.columns));
    }
    CHECK(family_opcodes(isa, "wmma_memory").size() == expected);
  }
}

TEST_CASE("simgpu wmma: every product of the text, and no others") {
  for (const HostIsa& isa : host_isas()) {
    CAPTURE(isa.name);
    WmmaTest test(isa);
    const std::map<std::string, ProductText> products = products_of_the_text();
    for (const auto& [name, product] : products) test.check_product(name, product);
    CHECK(family_opcodes(isa, "wmma_mma").size() == products.size());
  }
}

TEST_CASE("simgpu wmma: addresses that differ or are not aligned are faults") {
  const std::string name = "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16";
  for (const HostIsa& isa : host_isas()) {
    const auto kind_of = [&](auto address, auto stride) {
      OneWarp warp;
      std::vector<std::uint32_t> operands =
          add_fragment(warp, 16, 16, [](int, int) -> std::uint64_t { return 0; });
      operands.push_back(warp.add<std::uint32_t>(address));
      operands.push_back(warp.add<std::uint32_t>(stride));
      try {
        warp.run(find_opcode(isa, name, "d4v8 m4 s4"), operands);
      } catch (const Fault& fault) {
        return std::optional(fault.kind());
      }
      return std::optional<FaultKind>();
    };
    const auto same = [](int) { return 32; };
    CHECK_FALSE(kind_of(same, same));
    CHECK(kind_of([](int) { return 16; }, same) == FaultKind::misaligned);
    CHECK(kind_of([](int lane) { return 32 * lane; }, same) == FaultKind::illegal_instruction);
    CHECK(kind_of(same, [](int lane) { return lane == 9 ? 16 : 32; }) ==
          FaultKind::illegal_instruction);
  }
}

}  // namespace simgpu
