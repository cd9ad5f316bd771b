// Where mma, ldmatrix, stmatrix and movmatrix have the elements of matrices, against the formulas
// of the PTX ISA (tests/simgpu/fragments_by_text.h) and, for rows in memory, its figures 104 and
// 107.

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <set>
#include <string>

#include "tests/simgpu/matrix_numbers.h"
#include "tests/simgpu/mma_by_text.h"
#include "tools/simgpu/machine/fault.h"

namespace simgpu {
namespace {

/// Small integers, which every format holds, and so small that all sums are exact.
Matrices small_integers(int count, int rows, int columns, const NumberFormat& format) {
  static std::mt19937 generator(7);
  Matrices made(count, rows, columns);
  for (std::uint64_t& word : made.words) {
    const int value = static_cast<int>(generator() % 9);
    word = encode_integer(format, format.bits == 1  ? value % 2
                                  : format.has_sign ? value - 4
                                                    : value);
  }
  return made;
}

void check_exact(const HostIsa& isa, const Opcode& opcode) {
  const MmaText text = mma_by_text(opcode.name);
  const Matrices a = small_integers(text.count, text.m, text.k, *text.a);
  const Matrices b = small_integers(text.count, text.k, text.n, *text.b);
  const Matrices c = small_integers(text.count, text.m, text.n, *text.c);
  const Matrices d = run_mma(isa, opcode, text, a, b, c);
  for (int matrix = 0; matrix < text.count; ++matrix)
    for (int row = 0; row < text.m; ++row)
      for (int column = 0; column < text.n; ++column) {
        double sum = decode(*text.c, c.at(matrix, row, column));
        for (int k = 0; k < text.k; ++k) {
          const double x = decode(*text.a, a.at(matrix, row, k));
          const double y = decode(*text.b, b.at(matrix, k, column));
          sum += text.is_xor ? (x != y ? 1 : 0) : x * y;
        }
        CHECK(decode(*text.d, d.at(matrix, row, column)) == sum);
      }
}

/// Shared memory of the warp, filled with numbers of 2 bytes that are all different.
std::uint16_t* numbered(OneWarp& warp) {
  auto* shared = reinterpret_cast<std::uint16_t*>(warp.block().shared);
  for (std::size_t n = 0; n < OneWarp::shared_bytes / 2; ++n)
    shared[n] = static_cast<std::uint16_t>(n * 7 + 1);
  return shared;
}

/// What an opcode for rows does: `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16`.
struct RowsText {
  int count = 0;
  bool is_transposed = false, is_generic = false, is_wide = false;
};
RowsText rows_by_text(const Opcode& opcode) {
  const std::string name(opcode.name);
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  RowsText text;
  text.count = has(".x1") ? 1 : has(".x2") ? 2 : 4;
  text.is_transposed = has(".trans");
  text.is_generic = !has(".shared");
  text.is_wide = opcode.pattern.find("m4") == std::string_view::npos;
  const std::string expected = name.substr(0, 8) + ".sync.aligned.m8n8.x" +
                               std::to_string(text.count) + (text.is_transposed ? ".trans" : "") +
                               (text.is_generic       ? ""
                                : has(".shared::cta") ? ".shared::cta"
                                                      : ".shared") +
                               ".b16";
  CHECK(name == expected);
  return text;
}

/// Addresses of rows that are far apart and in no order; those of lanes that name none are wild.
std::uint32_t add_addresses(OneWarp& warp, const RowsText& text, int count,
                            std::vector<int>& offsets) {
  for (int lane = 0; lane < warp_size; ++lane)
    offsets.push_back(lane < count * 8 ? (lane * 13 + 5) % 32 * 272 : 1 << 30);
  const auto base = text.is_generic ? reinterpret_cast<std::uint64_t>(warp.block().shared) : 0;
  const auto value = [&](int lane) {
    return base + static_cast<std::uint64_t>(offsets[static_cast<std::size_t>(lane)]) - 16;
  };
  return text.is_wide ? warp.add<std::uint64_t>(value) : warp.add<std::uint32_t>(value);
}

/// The place of element e (of two) of a lane in its matrix: a lane has a piece of row lane / 4, and
/// with .trans of that column. Figures 104 and 107.
by_text::Place place_in_rows(int lane, int e, bool is_transposed) {
  const int line = lane / 4, position = lane % 4 * 2 + e;
  return is_transposed ? by_text::Place{position, line} : by_text::Place{line, position};
}

void check_load(const HostIsa&, const Opcode& opcode) {
  const RowsText text = rows_by_text(opcode);
  OneWarp warp;
  const std::uint16_t* shared = numbered(warp);
  std::vector<std::uint32_t> operands;
  for (int n = 0; n < text.count; ++n)
    operands.push_back(warp.add<std::uint32_t>([](int) { return 0; }));
  std::vector<int> offsets;
  operands.push_back(add_addresses(warp, text, text.count, offsets));
  warp.run(opcode, operands, 16);
  for (int matrix = 0; matrix < text.count; ++matrix)
    for (int lane = 0; lane < warp_size; ++lane)
      for (int e = 0; e < 2; ++e) {
        const by_text::Place place = place_in_rows(lane, e, text.is_transposed);
        const int row = offsets[static_cast<std::size_t>(matrix * 8 + place.row)];
        CHECK(fragment_element(warp, {operands[static_cast<std::size_t>(matrix)]}, 16, lane, e) ==
              shared[row / 2 + place.column]);
      }
}

void check_store(const HostIsa&, const Opcode& opcode) {
  const RowsText text = rows_by_text(opcode);
  OneWarp warp;
  std::uint16_t* shared = numbered(warp);
  std::vector<std::uint16_t> expected(shared, shared + OneWarp::shared_bytes / 2);
  std::vector<int> offsets;
  std::vector<std::uint32_t> operands = {add_addresses(warp, text, text.count, offsets)};
  const std::vector<std::uint32_t> matrices =
      add_fragment(warp, 16, 2 * text.count, [](int lane, int i) -> std::uint64_t {
        return static_cast<std::uint64_t>(40'000 + lane * 16 + i);
      });
  operands.insert(operands.end(), matrices.begin(), matrices.end());
  warp.run(opcode, operands, 16);
  for (int matrix = 0; matrix < text.count; ++matrix)
    for (int lane = 0; lane < warp_size; ++lane)
      for (int e = 0; e < 2; ++e) {
        const by_text::Place place = place_in_rows(lane, e, text.is_transposed);
        const int row = offsets[static_cast<std::size_t>(matrix * 8 + place.row)];
        expected[static_cast<std::size_t>(row / 2 + place.column)] =
            static_cast<std::uint16_t>(40'000 + lane * 16 + matrix * 2 + e);
      }
  CHECK(std::memcmp(shared, expected.data(), OneWarp::shared_bytes) == 0);
}

}  // namespace

TEST_CASE("simgpu matrices: formulas of the text name each element once") {
  for (const by_text::ShapeText& shape : by_text::shapes) {
    CAPTURE(shape.name);
    CAPTURE(shape.bits);
    const auto check = [](by_text::Formula formula, int rows, int columns) {
      std::set<int> seen;
      for (int lane = 0; lane < warp_size; ++lane)
        for (int i = 0; i < rows * columns / warp_size; ++i) {
          const by_text::Place place = formula(lane, i);
          CHECK(place.row < rows);
          CHECK(place.column < columns);
          CHECK(seen.insert(place.row * columns + place.column).second);
        }
    };
    check(shape.a, shape.m, shape.k);
    check(shape.b, shape.k, shape.n);
    check(shape.c, shape.m, shape.n);
  }
}

TEST_CASE("simgpu mma: every opcode multiplies matrices that lie as the text says") {
  for (const HostIsa& isa : host_isas()) {
    CAPTURE(isa.name);
    std::set<std::string_view> found;
    for (const Opcode& opcode : family_opcodes(isa, "mma")) {
      CAPTURE(opcode.name);
      CHECK(opcode.control == Control::together);
      CHECK(opcode.members == whole_warp);
      CHECK(found.insert(opcode.name).second);
      for (int round = 0; round < 3; ++round) check_exact(isa, opcode);
    }
    CHECK(found == mma_names_of_the_text());
  }
}

TEST_CASE("simgpu ldmatrix, stmatrix: rows of shared memory and fragments") {
  for (const HostIsa& isa : host_isas()) {
    CAPTURE(isa.name);
    int loads = 0, stores = 0, others = 0;
    for (const Opcode& opcode : family_opcodes(isa, "matrix_rows")) {
      CAPTURE(opcode.name);
      CAPTURE(opcode.pattern);
      CHECK(opcode.control == Control::together);
      CHECK(opcode.members == whole_warp);
      if (opcode.name.starts_with("ldmatrix")) {
        ++loads;
        check_load(isa, opcode);
      } else if (opcode.name.starts_with("stmatrix")) {
        ++stores;
        check_store(isa, opcode);
      } else {
        ++others;
        CHECK(opcode.name == "movmatrix.sync.aligned.m8n8.trans.b16");
      }
    }
    // x1, x2 and x4, as they are and transposed; generic, shared and shared::cta, the latter two
    // with addresses of 4 and 8 bytes.
    CHECK(loads == 3 * 2 * 5);
    CHECK(stores == 3 * 2 * 5);
    CHECK(others == 1);
  }
}

TEST_CASE("simgpu movmatrix: a lane gets a piece of a column") {
  for (const HostIsa& isa : host_isas()) {
    OneWarp warp;
    const auto a = add_fragment(warp, 16, 2, [](int lane, int i) -> std::uint64_t {
      return static_cast<std::uint64_t>(lane / 4 * 8 + lane % 4 * 2 + i);  // row * 8 + column
    });
    const std::uint32_t d = warp.add<std::uint32_t>([](int) { return 0; });
    warp.run(find_opcode(isa, "movmatrix.sync.aligned.m8n8.trans.b16"), {d, a[0]});
    for (int lane = 0; lane < warp_size; ++lane)
      for (int i = 0; i < 2; ++i)
        CHECK(fragment_element(warp, {d}, 16, lane, i) ==
              static_cast<std::uint64_t>((lane % 4 * 2 + i) * 8 + lane / 4));
    // Into the register it comes from.
    warp.run(find_opcode(isa, "movmatrix.sync.aligned.m8n8.trans.b16"), {d, d});
    for (int lane = 0; lane < warp_size; ++lane)
      CHECK(warp.at<std::uint32_t>(d)[lane] == warp.at<std::uint32_t>(a[0])[lane]);
  }
}

TEST_CASE("simgpu matrices: a generic address of a row that is not in shared memory is a fault") {
  for (const HostIsa& isa : host_isas())
    for (const char* name :
         {"ldmatrix.sync.aligned.m8n8.x1.b16", "stmatrix.sync.aligned.m8n8.x1.b16"}) {
      OneWarp warp;
      alignas(16) static std::byte elsewhere[16];
      const auto inside = reinterpret_cast<std::uint64_t>(warp.block().shared);
      const std::uint32_t at = warp.add<std::uint64_t>([&](int lane) {
        return lane == 5 ? reinterpret_cast<std::uint64_t>(elsewhere) : inside;
      });
      const std::uint32_t value = warp.add<std::uint32_t>([](int) { return 0; });
      const bool loads = std::string_view(name).starts_with("ld");
      try {
        warp.run(find_opcode(isa, name), loads ? std::vector{value, at} : std::vector{at, value});
        FAIL("no fault");
      } catch (const Fault& fault) {
        CHECK(fault.kind() == FaultKind::wrong_space);
        CHECK(fault.lane() == 5);
      }
    }
}

TEST_CASE("simgpu matrices: every lane of the warp is needed") {
  for (const HostIsa& isa : host_isas())
    for (const char* family : {"mma", "matrix_rows", "wmma_memory", "wmma_mma"})
      for (const Opcode& opcode : family_opcodes(isa, family)) {
        OneWarp warp;
        const std::vector<std::uint32_t> operands(
            32, warp.add<std::uint64_t>([](int) { return std::uint64_t{0}; }));
        warp.set_active(0xffff'fffeu);
        try {
          warp.run(opcode, operands);
          FAIL("no fault: ", opcode.name);
        } catch (const Fault& fault) {
          CHECK(fault.kind() == FaultKind::absent_lane);
          CHECK(fault.lane() == 0);
        }
      }
}

}  // namespace simgpu
