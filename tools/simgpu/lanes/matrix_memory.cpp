// Matrices between memory and the registers of a warp: ldmatrix, stmatrix and movmatrix (PTX ISA
// 9.7.14.5.15 to 9.7.14.5.17), wmma.load and wmma.store (9.7.14.4.2 to 9.7.14.4.4).

#include "tools/simgpu/lanes/access.h"
#include "tools/simgpu/lanes/matrix_layout.h"

namespace simgpu::SIMGPU_ISA {
namespace {

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
template <Access kind, int count>
void locate_rows(Warp& w, const Instruction& i, int operand, const Where& where, u64* at) {
  constexpr u32 named = every_lane >> (32 - count * rows_of_matrix);
  need_whole_warp(w);
  locate(w, i, operand, where, at);
  if (where.space == AddressSpace::generic)
    need_shared(w, named, at, "the row of a matrix is in shared memory");
  check<kind, row_bytes, true>(w, named, at, AddressSpace::shared);
}

template <int count, bool is_transposed>
void load_rows(Warp& w, const Instruction& i, const Where& where) {
  alignas(64) u64 at[warp_size];
  locate_rows<Access::load, count>(w, i, count, where, at);
  u32 words[count * elements_of_matrix];
  for (int row = 0; row < count * rows_of_matrix; ++row)
    widen<u16>(bytes(at[row]), rows_of_matrix, words + row * rows_of_matrix);
  spread(w, i, 0, fragment<rows_layout(count, is_transposed)>, 16, words);
}

template <int count, bool is_transposed>
void store_rows(Warp& w, const Instruction& i, const Where& where) {
  alignas(64) u64 at[warp_size];
  locate_rows<Access::store, count>(w, i, 0, where, at);
  u32 words[count * elements_of_matrix];
  collect(w, i, 1, fragment<rows_layout(count, is_transposed)>, 16, words);
  for (int row = 0; row < count * rows_of_matrix; ++row)
    narrow_to<u16>(words + row * rows_of_matrix, rows_of_matrix, bytes(at[row]));
}

void transpose(Warp& w, const Instruction& i) {
  need_whole_warp(w);
  u32 words[elements_of_matrix];
  collect(w, i, 1, fragment<one_matrix>, 16, words);
  spread(w, i, 0, fragment<one_matrix.transposed()>, 16, words);
}

template <int count, bool is_transposed>
void add_rows(OpcodeTable& table) {
  const char *vector = vector_texts[count], *order = when(is_transposed, ".trans");
  const char* number = count == 1 ? ".x1" : count == 2 ? ".x2" : ".x4";
  const auto add = [&]<Where where>(const char* space) {
    table.add({"ldmatrix.sync.aligned.m8n8", number, order, space, ".b16"},
              {"d4", vector, " ", where.pattern()}, &in<&load_rows<count, is_transposed>, where>,
              Control::together, whole_warp);
    table.add({"stmatrix.sync.aligned.m8n8", number, order, space, ".b16"},
              {where.pattern(), " s4", vector}, &in<&store_rows<count, is_transposed>, where>,
              Control::together, whole_warp);
  };
  add.template operator()<in_generic>("");
  for (const char* space : {".shared", ".shared::cta"}) {
    add.template operator()<in_shared>(space);
    add.template operator()<in_shared_wide>(space);
  }
}

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

template <Access kind>
void check_pieces(Warp& w, u32 accessing, const u64* at, AddressSpace space, int size) {
  if (size == 4) check<kind, 4, true>(w, accessing, at, space);
  else if (size == 8) check<kind, 8, true>(w, accessing, at, space);
  else check<kind, 16, true>(w, accessing, at, space);
}

/// Calls move(address, piece) for each piece of the matrix, whose address is operand `operand` and
/// whose stride another; checked. The text asks that each line is aligned to what a lane holds of
/// the matrix; hardware, and the programming guide of CUDA (wmma), want no more than 16 bytes of a
/// stride, and kernels pad by that.
template <Access kind, class Move>
SIMGPU_INLINE void each_piece(Warp& w, const Instruction& i, const Stored& m, const Where& where,
                              int operand, int stride_operand, Move move) {
  alignas(64) u64 at[warp_size];
  locate(w, i, operand, where, at);
  const Pieces pieces = pieces_of(m);
  const u64 base = at[0];
  u64 stride = static_cast<u64>(m.f.columns * m.bits / 8);
  if (m.has_stride) {
    const auto* elements = lanes<u32>(w, i, stride_operand);
    stride = u64{elements[0]} * static_cast<u64>(m.element_bits) / 8;
    for (int lane = 1; lane < warp_size; ++lane)
      if (elements[lane] != elements[0])
        fail(FaultKind::illegal_instruction, lane, 0, "lanes of the warp name different strides");
  }
  for (int lane = 1; lane < warp_size; ++lane)
    if (at[lane] != base)
      fail(FaultKind::illegal_instruction, lane, at[lane],
           "lanes of the warp name different addresses of a matrix");
  if (base % static_cast<u64>(m.f.elements * m.bits / 8) != 0)
    fail(FaultKind::misaligned, 0, base, "a matrix is aligned to what a lane holds of it");
  for (int first = 0; first < pieces.count; first += warp_size) {
    const int here = pieces.count - first < warp_size ? pieces.count - first : warp_size;
    for (int n = 0; n < here; ++n) {
      const int line = (first + n) / pieces.in_line, piece = (first + n) % pieces.in_line;
      at[n] = base + static_cast<u64>(line) * stride + static_cast<u64>(piece * pieces.bytes);
    }
    check_pieces<kind>(w, every_lane >> (warp_size - here), at, where.space, pieces.bytes);
    for (int n = 0; n < here; ++n) move(bytes(at[n]), first + n, pieces.bytes);
  }
}

void load_stored(Warp& w, const Instruction& i, const Stored& m, const Where& where) {
  const int operand = registers(m.f, m.bits);
  alignas(64) std::byte memory[most_bytes];
  need_whole_warp(w);
  each_piece<Access::load>(
      w, i, m, where, operand, operand + 1, [&](const std::byte* from, int piece, int size) {
        std::memcpy(memory + piece * size, from, static_cast<std::size_t>(size));
      });
  if (m.bits == 64) {
    u64 words[most_bytes / 8];
    widen<u64>(memory, m.f.size(), words);
    return spread(w, i, 0, m.f, m.bits, words);
  }
  u32 words[most_bytes / 2];
  if (m.bits == 8) widen<u8>(memory, m.f.size(), words);
  else if (m.bits == 16) widen<u16>(memory, m.f.size(), words);
  else widen<u32>(memory, m.f.size(), words);
  spread(w, i, 0, m.f, m.bits, words);
}

void store_stored(Warp& w, const Instruction& i, const Stored& m, const Where& where) {
  alignas(64) std::byte memory[most_bytes];
  need_whole_warp(w);
  if (m.bits == 64) {
    u64 words[most_bytes / 8];
    collect(w, i, 1, m.f, m.bits, words);
    narrow_to<u64>(words, m.f.size(), memory);
  } else {
    u32 words[most_bytes / 2];
    collect(w, i, 1, m.f, m.bits, words);
    if (m.bits == 16) narrow_to<u16>(words, m.f.size(), memory);
    else narrow_to<u32>(words, m.f.size(), memory);
  }
  each_piece<Access::store>(
      w, i, m, where, 0, registers(m.f, m.bits) + 1, [&](std::byte* to, int piece, int size) {
        std::memcpy(to, memory + piece * size, static_cast<std::size_t>(size));
      });
}

template <bool stores, FragmentLayout lines, int bits, int element_bits, bool has_stride>
void move_stored(Warp& w, const Instruction& i, const Where& where) {
  const Stored m = {fragment<lines>, bits, element_bits, has_stride};
  if constexpr (stores) store_stored(w, i, m, where);
  else load_stored(w, i, m, where);
}

/// Adds opcodes of one matrix, from everywhere, with and without a stride. `name` is what stands
/// before .sync, the order, the shape and the type.
template <bool stores, FragmentLayout lines, int bits, int element_bits = bits>
void add_stored(OpcodeTable& table, Parts name) {
  const char* const* part = name.begin();
  const char* size = bits == 64 ? "8" : "4";
  const char* vector = vector_texts[registers(fragment<lines>, bits)];
  const auto add = [&]<Where where>(const char* space) {
    each_flag([&]<bool has_stride>() {
      constexpr Execute run =
          &in<&move_stored<stores, lines, bits, element_bits, has_stride>, where>;
      const char *m = where.pattern(), *stride = when(has_stride, " s4");
      const Parts load = {"d", size, vector, " ", m, stride},
                  store = {m, " s", size, vector, stride};
      table.add({part[0], ".sync.aligned", part[1], part[2], space, part[3]}, stores ? store : load,
                run, Control::together, whole_warp);
    });
  };
  add.template operator()<in_generic>("");
  add.template operator()<in_global>(".global");
  add.template operator()<in_shared>(".shared");
  add.template operator()<in_shared_wide>(".shared");
  add.template operator()<in_shared>(".shared::cta");
}

/// In both orders: `layout` has rows and columns as the text has.
template <bool stores, FragmentLayout layout, int bits>
void add_orders(OpcodeTable& table, const char* which, const char* shape, const char* type) {
  add_stored<stores, layout, bits>(table, {which, ".row", shape, type});
  add_stored<stores, layout.transposed(), bits>(table, {which, ".col", shape, type});
}

template <Shape shape, int bits>
void add_factors(OpcodeTable& table, const char* name, const char* type) {
  add_orders<false, shape.a, bits>(table, "wmma.load.a", name, type);
  add_orders<false, shape.b, bits>(table, "wmma.load.b", name, type);
}

template <FragmentLayout layout, int bits>
void add_sums(OpcodeTable& table, const char* name, const char* type) {
  add_orders<false, layout, bits>(table, "wmma.load.c", name, type);
  add_orders<true, layout, bits>(table, "wmma.store.d", name, type);
}

/// Elements of less than a byte, which are whole words in registers and memory. A has rows, B
/// columns.
template <int element_bits>
void add_packed(OpcodeTable& table, const char* name, const char* type) {
  constexpr FragmentLayout lines = {"234", "01"};
  add_stored<false, lines, 32, element_bits>(table, {"wmma.load.a", ".row", name, type});
  add_stored<false, lines, 32, element_bits>(table, {"wmma.load.b", ".col", name, type});
}

template <Shape half, Shape brain, Shape bytes>
void add_shape(OpcodeTable& table, const char* name) {
  add_factors<half, 16>(table, name, ".f16");
  add_factors<brain, 16>(table, name, ".bf16");
  add_factors<bytes, 8>(table, name, ".s8");
  add_factors<bytes, 8>(table, name, ".u8");
  add_sums<half.c, 16>(table, name, ".f16");
  add_sums<half.c, 32>(table, name, ".f32");
  add_sums<half.c, 32>(table, name, ".s32");
}

}  // namespace

void matrix_rows_opcodes(OpcodeTable& table) {
  each_value<1, 2, 4>([&]<int count>() {
    add_rows<count, false>(table);
    add_rows<count, true>(table);
  });
  table.add({"movmatrix.sync.aligned.m8n8.trans.b16"}, {"d4 s4"}, &transpose, Control::together,
            whole_warp);
}

void wmma_memory_opcodes(OpcodeTable& table) {
  add_shape<m16n16k16_half, m16n16k16_16, m16n16k16_8>(table, ".m16n16k16");
  add_shape<m8n32k16_half, m8n32k16_16, m8n32k16_8>(table, ".m8n32k16");
  add_shape<m32n8k16_half, m32n8k16_16, m32n8k16_8>(table, ".m32n8k16");
  add_factors<m16n16k8_32, 32>(table, ".m16n16k8", ".tf32");
  add_sums<m16n16k8_32.c, 32>(table, ".m16n16k8", ".f32");
  add_factors<m8n8k4_64, 64>(table, ".m8n8k4", ".f64");
  add_sums<m8n8k4_64.c, 64>(table, ".m8n8k4", ".f64");
  add_packed<4>(table, ".m8n8k32", ".s4");
  add_packed<4>(table, ".m8n8k32", ".u4");
  add_packed<1>(table, ".m8n8k128", ".b1");
  add_sums<accumulator_8x8, 32>(table, ".m8n8k32", ".s32");
  add_sums<accumulator_8x8, 32>(table, ".m8n8k128", ".s32");
}

}  // namespace simgpu::SIMGPU_ISA
