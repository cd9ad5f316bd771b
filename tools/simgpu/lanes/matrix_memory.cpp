// Matrices between memory and the registers of a warp: ldmatrix, stmatrix and movmatrix (PTX ISA
// 9.7.14.5.15 to 9.7.14.5.17), wmma.load and wmma.store (9.7.14.4.2 to 9.7.14.4.4).

#include "tools/simgpu/lanes/access.h"
#include "tools/simgpu/lanes/matrix_layout.h"
#include "tools/simgpu/lanes/opcode_table.h"

namespace simgpu::SIMGPU_ISA {
namespace {

constexpr std::uint32_t every_lane = 0xffff'ffffu;

/// How an opcode names an address.
struct Way {
  Text name;
  AddressSpace space;
  bool is_wide;  ///< a register of 8 bytes
};
constexpr Way generic_way = {"", AddressSpace::generic, true};
constexpr Way global_way = {".global", AddressSpace::global, true};
constexpr Way shared_way = {".shared", AddressSpace::shared, false};
constexpr Way shared_wide_way = {".shared", AddressSpace::shared, true};
constexpr Way block_way = {".shared::cta", AddressSpace::shared, false};
constexpr Way block_wide_way = {".shared::cta", AddressSpace::shared, true};

template <AddressSpace space, bool is_wide>
SIMGPU_INLINE void locate_by(Warp& w, const Instruction& i, int operand, std::uint64_t* at) {
  if constexpr (is_wide) locate<space, std::uint64_t>(w, i, operand, at);
  else locate<space, std::uint32_t>(w, i, operand, at);
}

/// The pattern of registers and an address, in the order of a load or of a store.
struct PatternText {
  char text[16] = {};

  consteval PatternText(bool stores, int bytes, int count, bool is_wide, bool has_stride) {
    int at = 0;
    const auto add = [&](const char* from) {
      for (; *from != 0; ++from) text[at++] = *from;
    };
    const auto add_registers = [&] {
      add(stores ? "s" : "d");
      text[at++] = static_cast<char>('0' + bytes);
      text[at++] = 'v';
      text[at++] = static_cast<char>('0' + count);
    };
    if (!stores) {
      add_registers();
      add(" ");
    }
    add(is_wide ? "m" : "m4");
    if (stores) {
      add(" ");
      add_registers();
    }
    if (has_stride) add(" s4");
  }
};
template <bool stores, int bytes, int count, bool is_wide, bool has_stride>
constexpr PatternText pattern = {stores, bytes, count, is_wide, has_stride};

/// Elements of memory, one behind the other, as words; and back.
template <class T, class Word>
SIMGPU_INLINE void widen(const std::byte* from, int count, Word* to) {
  for (int n = 0; n < count; ++n) {
    T element;
    std::memcpy(&element, from + n * static_cast<int>(sizeof(T)), sizeof(T));
    to[n] = element;
  }
}
template <class T, class Word>
SIMGPU_INLINE void narrow_to(const Word* from, int count, std::byte* to) {
  for (int n = 0; n < count; ++n) {
    const T element = static_cast<T>(from[n]);
    std::memcpy(to + n * static_cast<int>(sizeof(T)), &element, sizeof(T));
  }
}

// ldmatrix, stmatrix, movmatrix.

/// A row of 8 elements of 2 bytes, at the address of one lane.
constexpr int row_bytes = 16, rows_of_matrix = 8, elements_of_matrix = 64;
constexpr FragmentLayout one_matrix = {"234", "a01"};

/// Rows of `count` matrices, whose registers follow each other.
consteval FragmentLayout rows_layout(int count, bool is_transposed) {
  const IndexBits matrix = count == 1 ? "" : count == 2 ? "b" : "bc";
  return is_transposed ? FragmentLayout{one_matrix.column, one_matrix.row, matrix}
                       : FragmentLayout{one_matrix.row, one_matrix.column, matrix};
}

/// Where the rows are, checked.
template <AddressSpace space, bool is_wide, int count, Access kind>
SIMGPU_INLINE void locate_rows(Warp& w, const Instruction& i, int operand, std::uint64_t* at) {
  constexpr std::uint32_t named = every_lane >> (32 - count * rows_of_matrix);
  need_whole_warp(w);
  locate_by<space, is_wide>(w, i, operand, at);
  if constexpr (space == AddressSpace::generic) {
    const auto shared = reinterpret_cast<std::uint64_t>(w.block->shared);
    for (int lane = 0; lane < count * rows_of_matrix; ++lane)
      if (at[lane] - shared >= w.block->shared_bytes)
        fail(FaultKind::wrong_space, lane, at[lane], "the row of a matrix is in shared memory");
  }
  check<AddressSpace::shared, kind, row_bytes, true>(w, named, at);
}

template <AddressSpace space, bool is_wide, int count, bool is_transposed>
void load_rows(Warp& w, const Instruction& i) {
  alignas(64) std::uint64_t at[warp_size];
  locate_rows<space, is_wide, count, Access::load>(w, i, count, at);
  std::uint32_t words[count * elements_of_matrix];
  for (int row = 0; row < count * rows_of_matrix; ++row)
    widen<std::uint16_t>(bytes(at[row]), rows_of_matrix, words + row * rows_of_matrix);
  spread(w, i, 0, fragment<rows_layout(count, is_transposed)>, 16, words);
}

template <AddressSpace space, bool is_wide, int count, bool is_transposed>
void store_rows(Warp& w, const Instruction& i) {
  alignas(64) std::uint64_t at[warp_size];
  locate_rows<space, is_wide, count, Access::store>(w, i, 0, at);
  std::uint32_t words[count * elements_of_matrix];
  collect(w, i, 1, fragment<rows_layout(count, is_transposed)>, 16, words);
  for (int row = 0; row < count * rows_of_matrix; ++row)
    narrow_to<std::uint16_t>(words + row * rows_of_matrix, rows_of_matrix, bytes(at[row]));
}

void transpose(Warp& w, const Instruction& i) {
  need_whole_warp(w);
  std::uint32_t words[elements_of_matrix];
  collect(w, i, 1, fragment<one_matrix>, 16, words);
  spread(w, i, 0, fragment<one_matrix.transposed()>, 16, words);
}

constexpr auto rows_table = [] {
  OpcodeTable<64> made;
  each_value<generic_way, shared_way, shared_wide_way, block_way, block_wide_way>([&]<Way way>() {
    each_value<1, 2, 4>([&]<int count>() {
      each_flag([&]<bool is_transposed>() {
        constexpr Text number = count == 1 ? ".x1" : count == 2 ? ".x2" : ".x4";
        constexpr Text order = when(is_transposed, ".trans");
        constexpr Execute load = load_rows<way.space, way.is_wide, count, is_transposed>;
        constexpr Execute store = store_rows<way.space, way.is_wide, count, is_transposed>;
        made.add<"ldmatrix.sync.aligned", ".m8n8", number, order, way.name, ".b16">(
            pattern<false, 4, count, way.is_wide, false>.text, load, load, Control::together,
            whole_warp);
        made.add<"stmatrix.sync.aligned", ".m8n8", number, order, way.name, ".b16">(
            pattern<true, 4, count, way.is_wide, false>.text, store, store, Control::together,
            whole_warp);
      });
    });
  });
  made.add<"movmatrix.sync.aligned", ".m8n8.trans.b16">("d4 s4", SIMGPU_EITHER(transpose),
                                                        Control::together, whole_warp);
  return made;
}();

// wmma.load and wmma.store.

constexpr int most_bytes = 1024;  // of a matrix

/// A matrix in memory: `f` with lines for rows, a line being what lies together.
struct Stored {
  const Fragment& f;
  int bits;          ///< of a unit that lies together in a register and in memory
  int element_bits;  ///< that the stride counts
  bool has_stride;
};

/// Memory that a lane would move, in pieces: as much as is surely aligned, and lies together.
struct Pieces {
  int bytes, in_line, count;
};
Pieces pieces_of(const Stored& m) {
  const int line = m.f.columns * m.bits / 8;
  const int held = m.f.elements * m.bits / 8;  // by a lane: the alignment of a line
  const int smaller = line < held ? line : held;
  const int size = smaller < 16 ? smaller : 16;
  return {size, line / size, line / size * m.f.rows};
}

template <AddressSpace space, Access kind>
void check_pieces(Warp& w, std::uint32_t accessing, const std::uint64_t* at, int size) {
  switch (size) {
    case 4: return check<space, kind, 4, true>(w, accessing, at);
    case 8: return check<space, kind, 8, true>(w, accessing, at);
    default: return check<space, kind, 16, true>(w, accessing, at);
  }
}

/// Calls move(address, piece) for each piece of the matrix, checked. The text asks that each line
/// is aligned to what a lane holds of the matrix; hardware, and the programming guide of CUDA
/// (wmma), want no more than 16 bytes of a stride, and kernels pad by that.
template <AddressSpace space, Access kind, class Move>
SIMGPU_INLINE void each_piece(Warp& w, const Instruction& i, const Stored& m, int stride_operand,
                              std::uint64_t* at, Move move) {
  const Pieces pieces = pieces_of(m);
  const std::uint64_t base = at[0];
  std::uint64_t stride = static_cast<std::uint64_t>(m.f.columns * m.bits / 8);
  if (m.has_stride) {
    const auto* elements = lanes<std::uint32_t>(w, i, stride_operand);
    stride = std::uint64_t{elements[0]} * static_cast<std::uint64_t>(m.element_bits) / 8;
    for (int lane = 1; lane < warp_size; ++lane)
      if (elements[lane] != elements[0])
        fail(FaultKind::illegal_instruction, lane, 0, "lanes of the warp name different strides");
  }
  for (int lane = 1; lane < warp_size; ++lane)
    if (at[lane] != base)
      fail(FaultKind::illegal_instruction, lane, at[lane],
           "lanes of the warp name different addresses of a matrix");
  if (base % static_cast<std::uint64_t>(m.f.elements * m.bits / 8) != 0)
    fail(FaultKind::misaligned, 0, base, "a matrix is aligned to what a lane holds of it");
  for (int first = 0; first < pieces.count; first += warp_size) {
    const int here = pieces.count - first < warp_size ? pieces.count - first : warp_size;
    for (int n = 0; n < here; ++n) {
      const int line = (first + n) / pieces.in_line, piece = (first + n) % pieces.in_line;
      at[n] = base + static_cast<std::uint64_t>(line) * stride +
              static_cast<std::uint64_t>(piece * pieces.bytes);
    }
    check_pieces<space, kind>(w, every_lane >> (warp_size - here), at, pieces.bytes);
    for (int n = 0; n < here; ++n) move(bytes(at[n]), first + n, pieces.bytes);
  }
}

template <AddressSpace space, bool is_wide>
[[gnu::noinline]] void load_stored(Warp& w, const Instruction& i, const Stored& m) {
  const int operand = registers(m.f, m.bits);
  alignas(64) std::uint64_t at[warp_size];
  alignas(64) std::byte memory[most_bytes];
  need_whole_warp(w);
  locate_by<space, is_wide>(w, i, operand, at);
  each_piece<space, Access::load>(
      w, i, m, operand + 1, at, [&](const std::byte* from, int piece, int size) {
        std::memcpy(memory + piece * size, from, static_cast<std::size_t>(size));
      });
  if (m.bits == 64) {
    std::uint64_t words[most_bytes / 8];
    widen<std::uint64_t>(memory, m.f.size(), words);
    return spread(w, i, 0, m.f, m.bits, words);
  }
  std::uint32_t words[most_bytes / 2];
  if (m.bits == 8) widen<std::uint8_t>(memory, m.f.size(), words);
  else if (m.bits == 16) widen<std::uint16_t>(memory, m.f.size(), words);
  else widen<std::uint32_t>(memory, m.f.size(), words);
  spread(w, i, 0, m.f, m.bits, words);
}

template <AddressSpace space, bool is_wide>
[[gnu::noinline]] void store_stored(Warp& w, const Instruction& i, const Stored& m) {
  alignas(64) std::uint64_t at[warp_size];
  alignas(64) std::byte memory[most_bytes];
  need_whole_warp(w);
  if (m.bits == 64) {
    std::uint64_t words[most_bytes / 8];
    collect(w, i, 1, m.f, m.bits, words);
    narrow_to<std::uint64_t>(words, m.f.size(), memory);
  } else {
    std::uint32_t words[most_bytes / 2];
    collect(w, i, 1, m.f, m.bits, words);
    if (m.bits == 16) narrow_to<std::uint16_t>(words, m.f.size(), memory);
    else narrow_to<std::uint32_t>(words, m.f.size(), memory);
  }
  locate_by<space, is_wide>(w, i, 0, at);
  each_piece<space, Access::store>(
      w, i, m, registers(m.f, m.bits) + 1, at, [&](std::byte* to, int piece, int size) {
        std::memcpy(to, memory + piece * size, static_cast<std::size_t>(size));
      });
}

template <Way way, FragmentLayout lines, int bits, int element_bits, bool has_stride, bool stores>
void move_stored(Warp& w, const Instruction& i) {
  const Stored m = {fragment<lines>, bits, element_bits, has_stride};
  if constexpr (stores) store_stored<way.space, way.is_wide>(w, i, m);
  else load_stored<way.space, way.is_wide>(w, i, m);
}

/// Opcodes for one matrix, with and without a stride, from everywhere.
template <bool stores, FragmentLayout lines, int bits, int element_bits, Text which, Text order,
          Text shape, Text type>
constexpr void add_stored(auto& made) {
  each_value<generic_way, global_way, shared_way, shared_wide_way, block_way>([&]<Way way>() {
    each_flag([&]<bool has_stride>() {
      constexpr Execute function = move_stored<way, lines, bits, element_bits, has_stride, stores>;
      constexpr int held = registers(fragment<lines>, bits);
      made.template add<which, ".sync.aligned", order, shape, way.name, type>(
          pattern < stores, bits == 64 ? 8 : 4, held, way.is_wide, has_stride >.text, function,
          function, Control::together, whole_warp);
    });
  });
}

/// In both orders: `layout` has rows and columns as the text has.
template <bool stores, FragmentLayout layout, int bits, Text which, Text shape, Text type>
constexpr void add_orders(auto& made) {
  add_stored<stores, layout, bits, bits, which, ".row", shape, type>(made);
  add_stored<stores, layout.transposed(), bits, bits, which, ".col", shape, type>(made);
}

template <Shape shape, int bits, Text name, Text type>
constexpr void add_factors(auto& made) {
  add_orders<false, shape.a, bits, "wmma.load.a", name, type>(made);
  add_orders<false, shape.b, bits, "wmma.load.b", name, type>(made);
}

template <FragmentLayout layout, int bits, Text name, Text type>
constexpr void add_sums(auto& made) {
  add_orders<false, layout, bits, "wmma.load.c", name, type>(made);
  add_orders<true, layout, bits, "wmma.store.d", name, type>(made);
}

/// Elements of less than a byte, which are whole words in registers and memory. A has rows, B
/// columns.
template <int element_bits, Text name, Text type>
constexpr void add_packed(auto& made) {
  constexpr FragmentLayout lines = {"234", "01"};
  add_stored<false, lines, 32, element_bits, "wmma.load.a", ".row", name, type>(made);
  add_stored<false, lines, 32, element_bits, "wmma.load.b", ".col", name, type>(made);
}

template <Shape half, Shape brain, Shape bytes, Text name>
constexpr void add_shape(auto& made) {
  add_factors<half, 16, name, ".f16">(made);
  add_factors<brain, 16, name, ".bf16">(made);
  add_factors<bytes, 8, name, ".s8">(made);
  add_factors<bytes, 8, name, ".u8">(made);
  add_sums<half.c, 16, name, ".f16">(made);
  add_sums<half.c, 32, name, ".f32">(made);
  add_sums<half.c, 32, name, ".s32">(made);
}

constexpr auto wmma_table = [] {
  OpcodeTable<1280> made;
  add_shape<m16n16k16_half, m16n16k16_16, m16n16k16_8, ".m16n16k16">(made);
  add_shape<m8n32k16_half, m8n32k16_16, m8n32k16_8, ".m8n32k16">(made);
  add_shape<m32n8k16_half, m32n8k16_16, m32n8k16_8, ".m32n8k16">(made);
  add_factors<m16n16k8_32, 32, ".m16n16k8", ".tf32">(made);
  add_sums<m16n16k8_32.c, 32, ".m16n16k8", ".f32">(made);
  add_factors<m8n8k4_64, 64, ".m8n8k4", ".f64">(made);
  add_sums<m8n8k4_64.c, 64, ".m8n8k4", ".f64">(made);
  add_packed<4, ".m8n8k32", ".s4">(made);
  add_packed<4, ".m8n8k32", ".u4">(made);
  add_packed<1, ".m8n8k128", ".b1">(made);
  add_sums<accumulator_8x8, 32, ".m8n8k32", ".s32">(made);
  add_sums<accumulator_8x8, 32, ".m8n8k128", ".s32">(made);
  return made;
}();

}  // namespace

OpcodeList matrix_rows_opcodes() { return rows_table.list("ldmatrix"); }
OpcodeList wmma_memory_opcodes() { return wmma_table.list("wmma.load"); }

}  // namespace simgpu::SIMGPU_ISA
