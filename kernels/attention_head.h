/// \file
/// The inner loops of attention, compiled for each instruction set: one head at a time on rows of
/// contiguous elements in a compute type, float or double.
#pragma once

#include <cstdint>

#include "kernels/random_tiles.h"

namespace sinter::kernels {

/// Rows of one operand; `step` elements from one to the next.
template <class C>
struct HeadRows {
  const C* data;
  std::int64_t step;
};

/// What the scores of some queries against all keys go through. kernels/attention.h says how.
template <class C>
struct HeadScores {
  std::int64_t queries, keys, d, e;
  std::int64_t first_query;  ///< the position of query 0, for `causal`
  bool causal;
  C scale;
  const C* added;                 ///< mask rows to add, or null
  const std::uint8_t* seen;       ///< mask rows of bools, or null
  std::int64_t mask_step;         ///< elements from one mask row to the next
  RandomFunction<float> uniform;  ///< null: no dropout
  std::uint64_t seed, ordinal;
  std::int64_t first_draw;  ///< of query 0, key 0
  float p;
  C kept;  ///< 1 / (1 - p)
};

template <class C>
struct AttentionFunctions {
  /// out [queries, padded(e)].
  void (*forward)(const HeadScores<C>& scores, HeadRows<C> q, HeadRows<C> k, HeadRows<C> v, C* out,
                  C* work);
  /// Copies k and v of a kv head to where gradient() reads them.
  void (*prepare)(const HeadScores<C>& scores, HeadRows<C> k, HeadRows<C> v, C* packed);
  /// One head: writes dq [queries, padded(d)], adds to dk [keys, padded(d)] and dv [keys,
  /// padded(e)].
  void (*gradient)(const HeadScores<C>& scores, HeadRows<C> q, HeadRows<C> g, const C* packed,
                   C* dq, C* dk, C* dv, C* work);
};

// Those of the instruction set in use.
template <class C>
const AttentionFunctions<C>& attention_functions();

// Never a function of its own: a file compiled for one instruction set must not share any.
#define SINTER_SIZE [[gnu::always_inline]] constexpr

/// Columns are padded to whole vectors.
SINTER_SIZE std::int64_t padded(std::int64_t n) { return (n + 15) / 16 * 16; }

/// Queries whose scores are held at a time: few enough for the second-level cache. By shape alone.
SINTER_SIZE std::int64_t query_block(std::int64_t keys) {
  const std::int64_t fits = 24576 / padded(keys + 1);
  return fits < 24 ? 24 : fits > 96 ? 96 : fits;
}

/// Elements of the memory each function works in.
SINTER_SIZE std::int64_t forward_work(std::int64_t keys, std::int64_t d, std::int64_t e) {
  return padded(keys) * d + keys * padded(e) + (query_block(keys) + 1) * padded(keys + 1);
}
SINTER_SIZE std::int64_t packed_size(std::int64_t keys, std::int64_t d, std::int64_t e) {
  return padded(keys) * (d + e) + keys * padded(d);
}
SINTER_SIZE std::int64_t gradient_work(std::int64_t keys, std::int64_t d, std::int64_t e) {
  return query_block(keys) * (3 * padded(keys + 1) + padded(d) + padded(e)) + padded(keys + 1);
}

#undef SINTER_SIZE

}  // namespace sinter::kernels
