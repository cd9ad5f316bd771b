#include "kernels/fold.h"
#include "kernels/math.h"
#include "kernels/reduce_tiles.h"
#include "kernels/vector.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace {

/// The 64 lanes of a row. Four members, as an array would not be kept in registers.
template <class C>
struct Lanes {
  Vec<C> a, b, c, d;

  SINTER_INLINE static Lanes load(const C* from) {
    return {Vec<C>::load(from), Vec<C>::load(from + vector_size),
            Vec<C>::load(from + 2 * vector_size), Vec<C>::load(from + 3 * vector_size)};
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
    a = F::of(a, other.a);
    b = F::of(b, other.b);
    c = F::of(c, other.c);
    d = F::of(d, other.d);
  }
  template <class F>
  SINTER_INLINE C combined() const {
    return folded<F>(F::of(F::of(a, c), F::of(b, d)));
  }
};

/// A row in the order of reduce.h; visit(lanes) sees all elements.
template <class C, class F, class Visit>
SINTER_INLINE C row_by(const C* from, std::int64_t extent, C neutral, Visit visit) {
  constexpr std::int64_t width = 4 * vector_size;
  Lanes<C> lanes =
      extent < width ? Lanes<C>::load_partial(from, extent, neutral) : Lanes<C>::load(from);
  visit(lanes);
  std::int64_t i = width;
  for (; i + width <= extent; i += width) {
    const Lanes<C> next = Lanes<C>::load(from + i);
    visit(next);
    lanes.template combine<F>(next);
  }
  if (i < extent) {
    const Lanes<C> next = Lanes<C>::load_partial(from + i, extent - i, neutral);
    visit(next);
    lanes.template combine<F>(next);
  }
  return lanes.template combined<F>();
}

template <class C, class F>
SINTER_INLINE C row(const C* from, std::int64_t extent) {
  constexpr C neutral = F::template neutral<C>;
  if constexpr (F::has_quick && static_cast<C>(0.5) != 0) {
    // Without NaN, and unless zeros of both signs may be there, a bare comparison is enough.
    MaskOf<C> nan = Vec<C>(C(0)) != Vec<C>(C(0));
    const C best = row_by<C, typename F::Quick>(
        from, extent, neutral, [&](const Lanes<C>& x) __attribute__((always_inline)) {
          nan = either(nan, either(either(x.a != x.a, x.b != x.b), either(x.c != x.c, x.d != x.d)));
        });
    if (!any(nan) && best != 0) return best;
  }
  return row_by<C, F>(from, extent, neutral, [](const Lanes<C>&) {});
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
