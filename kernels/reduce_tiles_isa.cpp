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
  static constexpr bool has_quick = false;
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return a + b;
  }
  template <class C>
  static constexpr C neutral = static_cast<C>(-0.0);
};
struct Prod {
  static constexpr bool has_quick = false;
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return a * b;
  }
  template <class C>
  static constexpr C neutral = 1;
};
struct Larger {
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return select(a < b, b, a);
  }
};
struct Smaller {
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return select(b < a, b, a);
  }
};
struct Amax {
  static constexpr bool has_quick = true;
  using Quick = Larger;
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
  static constexpr bool has_quick = true;
  using Quick = Smaller;
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return m::minimum(a, b);
  }
  template <class C>
  static constexpr C neutral = static_cast<C>(infinity);
};
template <>
constexpr std::int64_t Amin::neutral<std::int64_t> = INT64_MAX;

template <int half, class R, int... lane>
SINTER_INLINE R lowered(R x, std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(x, x, ((lane + half) % int{sizeof...(lane)})...);
}
template <int half, class C, int... part>
SINTER_INLINE Vec<C> lowered_parts(const Vec<C>& x, std::integer_sequence<int, part...>) {
  constexpr int lanes = Vec<C>::lanes;
  Vec<C> result;
  if constexpr (half >= lanes)
    ((result.part[part] = x.part[(part + half / lanes) % Vec<C>::parts]), ...);
  else
    ((result.part[part] = lowered<half>(x.part[part], std::make_integer_sequence<int, lanes>())),
     ...);
  return result;
}

/// Lane i takes lane i + half; what becomes of lanes from `half` on does not matter.
template <class F, int half, class C>
SINTER_INLINE Vec<C> folded_once(const Vec<C>& x) {
  return F::of(x, lowered_parts<half>(x, std::make_integer_sequence<int, Vec<C>::parts>()));
}
template <class F, class C>
SINTER_INLINE C folded(const Vec<C>& x) {
  return folded_once<F, 1>(folded_once<F, 2>(folded_once<F, 4>(folded_once<F, 8>(x)))).part[0][0];
}

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
