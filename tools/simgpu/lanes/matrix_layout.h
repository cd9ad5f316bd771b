/// \file
/// Where the elements of a matrix are that the lanes of a warp hold together: one table for mma,
/// wmma, ldmatrix, stmatrix and movmatrix. Source: PTX ISA 9.7.14.5.1 to 9.7.14.5.16.
///
/// In every layout that the ISA has, row and column are made of bits of the lane's number and of
/// the number of the element in the lane's fragment (a0, a1, ... in its text), so a layout is
/// written as those bits, the lowest first: 0 to 4 are bits of the lane, a to g of the element.
/// "234b" says: the row's low three bits are the upper ones of the lane (groupID, in the text), its
/// fourth is bit 1 of the element.
#pragma once

#include "tools/simgpu/lanes/lanes.h"

namespace simgpu::SIMGPU_ISA {

struct IndexBits {
  char of[9] = {};

  consteval IndexBits(const char* text) {  // NOLINT(google-explicit-constructor): "234b" is one
    for (int i = 0; text[i] != 0; ++i) of[i] = text[i];
  }
  constexpr int count() const {
    int bits = 0;
    while (of[bits] != 0) ++bits;
    return bits;
  }
  constexpr int index(int lane, int element) const {
    int made = 0;
    for (int i = 0; of[i] != 0; ++i)
      made |= (of[i] >= 'a' ? element >> (of[i] - 'a') & 1 : lane >> (of[i] - '0') & 1) << i;
    return made;
  }
  constexpr int element_bits() const {
    int most = 0;
    for (int i = 0; of[i] != 0; ++i)
      if (of[i] >= 'a' && of[i] - 'a' >= most) most = of[i] - 'a' + 1;
    return most;
  }
};

struct FragmentLayout {
  IndexBits row, column;
  IndexBits matrix = "";  ///< which one, where they are several
  int copies = 1;         ///< how often a lane holds its elements

  /// With rows for columns.
  consteval FragmentLayout transposed() const { return {column, row, matrix, copies}; }
};

/// What a lane holds of a matrix.
struct Fragment {
  /// Of each element in each lane: its place in the matrices, row after row.
  const u16 (*places)[warp_size];
  int elements;  ///< of a lane
  int distinct;  ///< of those; what follows are copies
  int matrices, rows, columns;

  constexpr int size() const { return matrices * rows * columns; }
  constexpr const u16* place(int element) const { return places[element % distinct]; }
};

consteval int distinct_elements(FragmentLayout layout) {
  int most = 0;
  for (const IndexBits& bits : {layout.row, layout.column, layout.matrix})
    if (bits.element_bits() > most) most = bits.element_bits();
  return 1 << most;
}

template <FragmentLayout layout>
struct Places {
  u16 of[distinct_elements(layout)][warp_size];

  consteval Places() : of{} {
    for (int element = 0; element < distinct_elements(layout); ++element)
      for (int lane = 0; lane < warp_size; ++lane) {
        const int row = layout.row.index(lane, element);
        const int line = layout.matrix.index(lane, element) << layout.row.count() | row;
        const int place = line << layout.column.count() | layout.column.index(lane, element);
        of[element][lane] = static_cast<u16>(place);
      }
  }
};
template <FragmentLayout layout>
constexpr Places<layout> places{};

template <FragmentLayout layout>
constexpr Fragment fragment = {places<layout>.of,         distinct_elements(layout) * layout.copies,
                               distinct_elements(layout), 1 << layout.matrix.count(),
                               1 << layout.row.count(),   1 << layout.column.count()};

/// Registers of a lane for a fragment with elements of so many bits: of 8 bytes for 64, else of 4.
constexpr int registers(const Fragment& f, int bits) {
  return bits >= 32 ? f.elements : f.elements * bits / 32;
}

/// The matrices of a fragment that begins at an operand, an element in each of `to`. `Word` is
/// u64 for elements of 64 bits, else u32.
template <class Word>
SIMGPU_INLINE void collect(Warp& w, const Instruction& i, int operand, const Fragment& f, int bits,
                           Word* to) {
  const int in_register = static_cast<int>(8 * sizeof(Word)) / bits;
  const Word mask = ~Word{0} >> (8 * static_cast<int>(sizeof(Word)) - bits);
  for (int element = 0; element < f.distinct; ++element) {
    const Word* from = lanes<Word>(w, i, operand + element / in_register);
    const int shift = element % in_register * bits;
    const u16* to_places = f.place(element);
    for (int lane = 0; lane < warp_size; ++lane) to[to_places[lane]] = from[lane] >> shift & mask;
  }
}

/// The other way.
template <class Word>
SIMGPU_INLINE void spread(Warp& w, const Instruction& i, int operand, const Fragment& f, int bits,
                          const Word* from) {
  const int in_register = static_cast<int>(8 * sizeof(Word)) / bits;
  for (int element = 0; element < f.elements; ++element) {
    Word* to = lanes<Word>(w, i, operand + element / in_register);
    const int shift = element % in_register * bits;
    const u16* from_places = f.place(element);
    for (int lane = 0; lane < warp_size; ++lane) {
      const Word others = shift == 0 ? 0 : to[lane];
      to[lane] = others | from[from_places[lane]] << shift;
    }
  }
}

/// Of the .aligned instructions: all lanes take part, or the result is undefined.
SIMGPU_INLINE void need_whole_warp(const Warp& w) {
  if (const u32 missing = ~w.active; missing != 0)
    fail(FaultKind::absent_lane, __builtin_ctz(missing), 0,
         "all 32 lanes of the warp are needed, and this one does not take part");
}

/// The operands of a multiplication: D = A B + C.
struct Shape {
  FragmentLayout a, b, c, d;
};

// Accumulators with 8 columns.
inline constexpr FragmentLayout accumulator_8x8 = {"234", "a01"};
inline constexpr FragmentLayout accumulator_16x8 = {"234b", "a01"};
template <FragmentLayout accumulator>
consteval Shape shape(FragmentLayout a, FragmentLayout b) {
  return {a, b, accumulator, accumulator};
}

// By PTX ISA section; the number behind k is of the bits of an element of A and B.
// 9.7.14.5.1: four products at once, in lanes 4 n to 4 n + 3 and 16 further on.
inline constexpr FragmentLayout quad_a_row = {"014", "ab", "23"},
                                quad_a_column = {"ab4", "01", "23"};
inline constexpr FragmentLayout quad_b_row = {"01", "ab4", "23"},
                                quad_b_column = {"ab", "014", "23"};
inline constexpr FragmentLayout quad_c_half = {"014", "abc", "23"},
                                quad_c_single = {"0b4", "a1c", "23"};
// 9.7.14.5.2
inline constexpr Shape m8n8k4_64 = shape<accumulator_8x8>({"234", "01"}, {"01", "234"});
// 9.7.14.5.3
inline constexpr Shape m8n8k16_8 = shape<accumulator_8x8>({"234", "ab01"}, {"ab01", "234"});
// 9.7.14.5.4
inline constexpr Shape m8n8k32_4 = shape<accumulator_8x8>({"234", "abc01"}, {"abc01", "234"});
// 9.7.14.5.5
inline constexpr Shape m8n8k128_1 = shape<accumulator_8x8>({"234", "abcde01"}, {"abcde01", "234"});
// 9.7.14.5.6, the same for tf32 and f64
inline constexpr Shape m16n8k4_32 = shape<accumulator_16x8>({"234a", "01"}, {"01", "234"});
// 9.7.14.5.7, the second one for tf32 and f64
inline constexpr Shape m16n8k8_16 = shape<accumulator_16x8>({"234b", "a01"}, {"a01", "234"});
inline constexpr Shape m16n8k8_32 = shape<accumulator_16x8>({"234a", "01b"}, {"01a", "234"});
// 9.7.14.5.8
inline constexpr Shape m16n8k16_16 = shape<accumulator_16x8>({"234b", "a01c"}, {"a01b", "234"});
inline constexpr Shape m16n8k16_64 = shape<accumulator_16x8>({"234a", "01bc"}, {"01ab", "234"});
// 9.7.14.5.9
inline constexpr Shape m16n8k16_8 = shape<accumulator_16x8>({"234c", "ab01"}, {"ab01", "234"});
// 9.7.14.5.10
inline constexpr Shape m16n8k32_4 = shape<accumulator_16x8>({"234d", "abc01"}, {"abc01", "234"});
inline constexpr Shape m16n8k32_8 = shape<accumulator_16x8>({"234c", "ab01d"}, {"ab01c", "234"});
// 9.7.14.5.11
inline constexpr Shape m16n8k64_4 = shape<accumulator_16x8>({"234d", "abc01e"}, {"abc01d", "234"});
// 9.7.14.5.12
inline constexpr Shape m16n8k128_1 =
    shape<accumulator_16x8>({"234f", "abcde01"}, {"abcde01", "234"});
// 9.7.14.5.13
inline constexpr Shape m16n8k256_1 =
    shape<accumulator_16x8>({"234f", "abcde01g"}, {"abcde01f", "234"});

// wmma: 9.7.14.4.1 has the number of elements of a lane, and leaves open which they are. Here they
// are those that mma would have. A lane has elements of A and B in f16 as often as makes eight
// registers.
consteval FragmentLayout copied(FragmentLayout layout, int copies) {
  return {layout.row, layout.column, "", copies};
}
inline constexpr FragmentLayout accumulator_16x16 = {"234b", "a01c"};
inline constexpr FragmentLayout accumulator_8x32 = {"234", "a01bc"};
inline constexpr FragmentLayout accumulator_32x8 = {"234bc", "a01"};
inline constexpr Shape m16n16k16_16 = shape<accumulator_16x16>({"234b", "a01c"}, {"a01b", "234c"});
inline constexpr Shape m8n32k16_16 = shape<accumulator_8x32>({"234", "a01b"}, {"a01b", "234cd"});
inline constexpr Shape m32n8k16_16 = shape<accumulator_32x8>({"234bd", "a01c"}, {"a01b", "234"});
inline constexpr Shape m16n16k16_half =
    shape<accumulator_16x16>(copied(m16n16k16_16.a, 2), copied(m16n16k16_16.b, 2));
inline constexpr Shape m8n32k16_half =
    shape<accumulator_8x32>(copied(m8n32k16_16.a, 4), m8n32k16_16.b);
inline constexpr Shape m32n8k16_half =
    shape<accumulator_32x8>(m32n8k16_16.a, copied(m32n8k16_16.b, 4));
inline constexpr Shape m16n16k16_8 = shape<accumulator_16x16>({"234c", "ab01"}, {"ab01", "234c"});
inline constexpr Shape m8n32k16_8 = shape<accumulator_8x32>({"234", "ab01"}, {"ab01", "234cd"});
inline constexpr Shape m32n8k16_8 = shape<accumulator_32x8>({"234cd", "ab01"}, {"ab01", "234"});
inline constexpr Shape m16n16k8_32 = shape<accumulator_16x16>({"234a", "01b"}, {"01a", "234b"});

}  // namespace simgpu::SIMGPU_ISA
