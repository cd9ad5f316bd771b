#include "kernels/math.h"
#include "kernels/reduce_tiles.h"
#include "kernels/vector.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace {

constexpr double infinity = __builtin_inf();

// Each way to combine, with the element that changes nothing: lanes without an element hold it.
// For sums of floats that is -0, as -0 + 0 is 0.

struct Sum {
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return a + b;
  }
  template <class C>
  static constexpr C neutral = static_cast<C>(-0.0);
};
struct Prod {
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return a * b;
  }
  template <class C>
  static constexpr C neutral = 1;
};
struct Amax {
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return m::maximum(a, b);
  }
  template <class C>
  static constexpr C neutral = static_cast<C>(-infinity);
};
template <>
constexpr std::int64_t Amax::neutral<std::int64_t> = INT64_MIN;
struct Amin {
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return m::minimum(a, b);
  }
  template <class C>
  static constexpr C neutral = static_cast<C>(infinity);
};
template <>
constexpr std::int64_t Amin::neutral<std::int64_t> = INT64_MAX;

/// The 64 lanes of a row.
template <class C>
struct Lanes {
  Vec<C> part[4];

  SINTER_INLINE static Lanes load(const C* from) {
    Lanes lanes;
    for (int i = 0; i < 4; ++i) lanes.part[i] = Vec<C>::load(from + i * vector_size);
    return lanes;
  }
  /// Of the last `count` (below 64) elements.
  SINTER_INLINE static Lanes load_partial(const C* from, std::int64_t count, C fill) {
    C padded[4 * vector_size];
    for (C& lane : padded) lane = fill;
    __builtin_memcpy(padded, from, static_cast<std::size_t>(count) * sizeof(C));
    return load(padded);
  }
  template <class F>
  SINTER_INLINE void combine(const Lanes& other) {
    for (int i = 0; i < 4; ++i) part[i] = F::of(part[i], other.part[i]);
  }
  template <class F>
  SINTER_INLINE C folded() const {
    const Vec<C> all = F::of(F::of(part[0], part[2]), F::of(part[1], part[3]));
    return fold(
        all, [](C a, C b) __attribute__((always_inline)) { return F::of(a, b); });
  }
};

template <class C, class F>
SINTER_INLINE C row(const C* from, std::int64_t extent) {
  constexpr std::int64_t width = 4 * vector_size;
  if (extent < width)
    return Lanes<C>::load_partial(from, extent, F::template neutral<C>).template folded<F>();
  Lanes<C> lanes = Lanes<C>::load(from);
  std::int64_t i = width;
  for (; i + width <= extent; i += width) lanes.template combine<F>(Lanes<C>::load(from + i));
  if (i < extent)
    lanes.template combine<F>(Lanes<C>::load_partial(from + i, extent - i, F::template neutral<C>));
  return lanes.template folded<F>();
}

template <class C, class F>
void rows(const void* from, std::int64_t count, std::int64_t extent, void* out) {
  for (std::int64_t r = 0; r < count; ++r)
    static_cast<C*>(out)[r] = row<C, F>(static_cast<const C*>(from) + r * extent, extent);
}

/// Some rows at once, so that what is in `out` is read and written less often.
template <class C, class F, int count>
SINTER_INLINE void few_rows(const C* from, std::int64_t stride, std::int64_t width, C* out,
                            bool first) {
  std::int64_t i = 0;
  for (; i + vector_size <= width; i += vector_size) {
    const C* at = from + i;
    Vec<C> sum = Vec<C>::load(at);
    if (!first) sum = F::of(Vec<C>::load(out + i), sum);
    for (int r = 1; r < count; ++r) sum = F::of(sum, Vec<C>::load(at + r * stride));
    sum.store(out + i);
  }
  for (; i < width; ++i) {
    C sum = first ? from[i] : F::of(out[i], from[i]);
    for (int r = 1; r < count; ++r) sum = F::of(sum, from[i + r * stride]);
    out[i] = sum;
  }
}

template <class C, class F>
void columns(const void* from, std::int64_t stride, std::int64_t count, std::int64_t width,
             void* out, bool first) {
  constexpr int several = 8;
  const C* at = static_cast<const C*>(from);
  C* to = static_cast<C*>(out);
  for (; count >= several; count -= several) {
    few_rows<C, F, several>(at, stride, width, to, first);
    at += several * stride;
    first = false;
  }
  for (; count > 0; --count) {
    few_rows<C, F, 1>(at, stride, width, to, first);
    at += stride;
    first = false;
  }
}

}  // namespace

#define SINTER_COMBINES(function, C) \
  { function<C, Sum>, function<C, Prod>, function<C, Amax>, function<C, Amin> }

const ReduceTiles& reduce_tiles_of_isa() {
  static constexpr ReduceTiles table = {
      {SINTER_COMBINES(rows, float), SINTER_COMBINES(rows, double),
       SINTER_COMBINES(rows, std::int64_t)},
      {SINTER_COMBINES(columns, float), SINTER_COMBINES(columns, double),
       SINTER_COMBINES(columns, std::int64_t)},
  };
  return table;
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
