#include "kernels/math.h"
#include "kernels/philox.h"
#include "kernels/random_tiles.h"
#include "kernels/vector.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

SINTER_INLINE VecI32 philox_word(std::uint32_t value, const VecI32*) {
  return VecI32(static_cast<std::int32_t>(value));
}

SINTER_INLINE VecI32 multiply_high(const VecI32& a, const VecI32& b) {
  return by_register<VecI32>(
      [](I32Reg x, I32Reg y) __attribute__((always_inline)) {
        const auto p = reinterpret_cast<U64Reg>(x), q = reinterpret_cast<U64Reg>(y);
        const U64Reg even = (p & 0xffffffffu) * (q & 0xffffffffu);
        const U64Reg odd = (p >> 32) * (q >> 32);
        return reinterpret_cast<I32Reg>((even >> 32) | (odd & 0xffffffff00000000u));
      },
      a, b);
}

namespace {

constexpr std::int64_t blocks = vector_size;  // made at once, one in each lane

/// The blocks from `first` on.
SINTER_INLINE PhiloxBlock<VecI32> sixteen_blocks(std::uint64_t seed, std::uint64_t ordinal,
                                                 std::int64_t first) {
  std::int32_t low[blocks], high[blocks];
  for (std::int64_t i = 0; i < blocks; ++i) {
    low[i] = static_cast<std::int32_t>(first + i);
    high[i] = static_cast<std::int32_t>((first + i) >> 32);
  }
  const VecI32* const kind = nullptr;
  return philox_rounds<VecI32>({{VecI32::load(low), VecI32::load(high),
                                 philox_word(static_cast<std::uint32_t>(ordinal), kind),
                                 philox_word(static_cast<std::uint32_t>(ordinal >> 32), kind)}},
                               seed);
}

/// Four vectors of words as the blocks lie in memory.
template <class V, class T>
SINTER_INLINE void store_blocks(const V (&word)[4], T* out) {
  T lanes[4][blocks];
  for (int w = 0; w < 4; ++w) word[w].store(lanes[w]);
  for (std::int64_t i = 0; i < blocks; ++i)
    for (int w = 0; w < 4; ++w) out[4 * i + w] = lanes[w][i];
}

SINTER_INLINE VecF uniform_of(const VecI32& word) {
  const VecF whole = by_register<VecF>(
      [](I32Reg r) __attribute__((always_inline)) { return __builtin_convertvector(r, F32Reg); },
      shift_right_logical(word, 8));
  return whole * 0x1p-24f;
}

struct Uniform {
  using Element = float;
  static constexpr std::int64_t per_block = 4;
  SINTER_INLINE static void make(const PhiloxBlock<VecI32>& block, float* out) {
    const VecF value[4] = {uniform_of(block.word[0]), uniform_of(block.word[1]),
                           uniform_of(block.word[2]), uniform_of(block.word[3])};
    store_blocks(value, out);
  }
};

struct Normal {
  using Element = float;
  static constexpr std::int64_t per_block = 4;
  SINTER_INLINE static void make(const PhiloxBlock<VecI32>& block, float* out) {
    VecF value[4];
    for (int i = 0; i < 4; i += 2) {
      const VecF u = uniform_of(block.word[i]) + 0x1p-24f, v = uniform_of(block.word[i + 1]);
      const VecF radius = m::sqrt(m::log(u) * -2.0f), angle = v * 6.2831853f;
      value[i] = radius * m::cos(angle);
      value[i + 1] = radius * m::sin(angle);
    }
    store_blocks(value, out);
  }
};

struct Integers {
  using Element = std::int64_t;
  static constexpr std::int64_t per_block = 2;
  SINTER_INLINE static void make(const PhiloxBlock<VecI32>& block, std::int64_t* out) {
    std::int32_t words[4 * blocks];
    store_blocks(block.word, words);
    __builtin_memcpy(out, words, sizeof words);
  }
};

template <class Kind>
void generate(std::uint64_t seed, std::uint64_t ordinal, std::int64_t first, std::int64_t count,
              typename Kind::Element* out) {
  constexpr std::int64_t batch = blocks * Kind::per_block;
  while (count > 0) {
    const std::int64_t skip = first % Kind::per_block, left = batch - skip;
    const std::int64_t taken = count < left ? count : left;
    const auto block = sixteen_blocks(seed, ordinal, first / Kind::per_block);
    if (taken == batch) {
      Kind::make(block, out);
    } else {
      typename Kind::Element all[batch];
      Kind::make(block, all);
      for (std::int64_t i = 0; i < taken; ++i) out[i] = all[skip + i];
    }
    first += taken;
    out += taken;
    count -= taken;
  }
}

}  // namespace

const RandomTiles& random_tiles_of_isa() {
  static constexpr RandomTiles table = {generate<Uniform>, generate<Normal>, generate<Integers>};
  return table;
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
