#include "kernels/math.h"
#include "kernels/philox_vector.h"
#include "kernels/random_tiles.h"
#include "kernels/vector.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

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

/// Lanes of a and b alternating: those of their lower halves, or of the upper ones.
template <class R, int... lane>
SINTER_INLINE R interleaved_low(R a, R b, std::integer_sequence<int, lane...>) {
  constexpr int lanes = sizeof...(lane);
  return __builtin_shufflevector(a, b, (lane / 2 + lane % 2 * lanes)...);
}
template <class R, int... lane>
SINTER_INLINE R interleaved_high(R a, R b, std::integer_sequence<int, lane...>) {
  constexpr int lanes = sizeof...(lane);
  return __builtin_shufflevector(a, b, (lanes / 2 + lane / 2 + lane % 2 * lanes)...);
}

/// Four registers of words, a block in each lane, as the blocks lie in memory.
template <class R, class T>
SINTER_INLINE void store_registers(R w0, R w1, R w2, R w3, T* out) {
  constexpr int lanes = sizeof(R) / sizeof(T);
  constexpr auto all = std::make_integer_sequence<int, lanes>();
  const R even_low = interleaved_low(w0, w2, all), odd_low = interleaved_low(w1, w3, all);
  const R even_high = interleaved_high(w0, w2, all), odd_high = interleaved_high(w1, w3, all);
  const auto store = [out](int part, R r) __attribute__((always_inline)) {
    __builtin_memcpy(out + part * lanes, &r, sizeof r);
  };
  store(0, interleaved_low(even_low, odd_low, all));
  store(1, interleaved_high(even_low, odd_low, all));
  store(2, interleaved_low(even_high, odd_high, all));
  store(3, interleaved_high(even_high, odd_high, all));
}
template <class T, int... part>
SINTER_INLINE void store_parts(const Vec<T>& w0, const Vec<T>& w1, const Vec<T>& w2,
                               const Vec<T>& w3, T* out, std::integer_sequence<int, part...>) {
  (store_registers(w0.part[part], w1.part[part], w2.part[part], w3.part[part],
                   out + part * 4 * Vec<T>::lanes),
   ...);
}
template <class T>
SINTER_INLINE void store_blocks(const Vec<T>& w0, const Vec<T>& w1, const Vec<T>& w2,
                                const Vec<T>& w3, T* out) {
  store_parts(w0, w1, w2, w3, out, std::make_integer_sequence<int, Vec<T>::parts>());
}

struct Uniform {
  using Element = float;
  static constexpr std::int64_t per_block = 4;
  SINTER_INLINE static void make(const PhiloxBlock<VecI32>& block, float* out) {
    store_blocks(philox_uniform(block.word[0]), philox_uniform(block.word[1]),
                 philox_uniform(block.word[2]), philox_uniform(block.word[3]), out);
  }
};

struct Normal {
  using Element = float;
  static constexpr std::int64_t per_block = 4;
  SINTER_INLINE static void make(const PhiloxBlock<VecI32>& block, float* out) {
    const Pair first = pair(block.word[0], block.word[1]);
    const Pair second = pair(block.word[2], block.word[3]);
    store_blocks(first.cosine, first.sine, second.cosine, second.sine, out);
  }

 private:
  struct Pair {
    VecF cosine, sine;
  };
  SINTER_INLINE static Pair pair(const VecI32& first, const VecI32& second) {
    const VecF u = philox_uniform(first) + 0x1p-24f, v = philox_uniform(second);
    const VecF radius = m::sqrt(m::log(u) * -2.0f), angle = v * 6.2831853f;
    return {radius * m::cos(angle), radius * m::sin(angle)};
  }
};

struct Integers {
  using Element = std::int64_t;
  static constexpr std::int64_t per_block = 2;
  SINTER_INLINE static void make(const PhiloxBlock<VecI32>& block, std::int64_t* out) {
    std::int32_t words[4 * blocks];
    store_blocks(block.word[0], block.word[1], block.word[2], block.word[3], words);
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
