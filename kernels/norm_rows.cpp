#include "kernels/row_kernels.h"
#include "kernels/row_loops.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace {

/// What a row is centred by (0 where it is not) and the factor its distances are scaled by.
template <class C>
struct Statistics {
  Vec<C> mean, rest, factor;

  SINTER_INLINE Statistics(const NormRows<C>& o, const C* x)
      : mean(C(0)), rest(C(0)), factor(C(0)) {
    using V = Vec<C>;
    const C n = static_cast<C>(o.n);
    if (o.centered) {
      mean = V(row_sum<C>(o.n, [&](std::ptrdiff_t i, auto part)
                                   SINTER_LOOP_BODY { return part.load(x + i, C(0)); }) /
               n);
      rest = V(row_sum<C>(o.n, [&](std::ptrdiff_t i, auto part)
                                   SINTER_LOOP_BODY { return part.load(x + i, C(0)) - mean; }) /
               n);
    }
    const C spread = row_sum<C>(o.n,
                                [&](std::ptrdiff_t i, auto part) SINTER_LOOP_BODY {
                                  const V d = distance(part.load(x + i, C(0)));
                                  return d * d;
                                }) /
                     n;
    factor = V(C(1) / m::sqrt(spread + o.epsilon));
  }

  SINTER_INLINE Vec<C> distance(const Vec<C>& x) const { return (x - mean) - rest; }
  SINTER_INLINE Vec<C> scaled(const Vec<C>& x) const { return distance(x) * factor; }
};

template <class C>
void forward(const NormRows<C>& o, C* y) {
  using V = Vec<C>;
  const C* x = o.x;
  for (std::int64_t row = 0; row < o.rows; ++row, x += o.n, y += o.n) {
    const Statistics<C> s(o, x);
    each_vector(o.n, [&](std::ptrdiff_t i, auto part) SINTER_LOOP_BODY {
      V value = s.scaled(part.load(x + i, C(0)));
      if (o.weight != nullptr) value = value * part.load(o.weight + i, C(0));
      if (o.bias != nullptr) value = value + part.load(o.bias + i, C(0));
      part.store(value, y + i);
    });
  }
}

/// Adds a term of one more row to a column's sum; the first row starts it.
template <class C, class PartType>
SINTER_INLINE void accumulate(C* sum, const Vec<C>& term, bool first, PartType part) {
  if (sum == nullptr) return;
  part.store(first ? term : part.load(sum, C(0)) + term, sum);
}

template <class C>
void gradient(const C* g, const NormRows<C>& o, C* dx, C* dweight, C* dbias) {
  using V = Vec<C>;
  const C* x = o.x;
  for (std::int64_t row = 0; row < o.rows; ++row, x += o.n, g += o.n, dx += o.n) {
    const Statistics<C> s(o, x);
    const auto weighted = [&](std::ptrdiff_t i, auto part) SINTER_LOOP_BODY {
      const V own = part.load(g + i, C(0));
      return o.weight == nullptr ? own : own * part.load(o.weight + i, C(0));
    };
    C sums[2];
    row_sums<C, 2>(o.n, sums, [&](std::ptrdiff_t i, auto part, V(&terms)[2]) SINTER_LOOP_BODY {
      const V z = s.scaled(part.load(x + i, C(0)));
      const V h = weighted(i, part), own = part.load(g + i, C(0));
      terms[0] = h;
      terms[1] = h * z;
      const bool first = row == 0;
      accumulate(dweight == nullptr ? nullptr : dweight + i, own * z, first, part);
      accumulate(dbias == nullptr ? nullptr : dbias + i, own, first, part);
    });
    const C n = static_cast<C>(o.n);
    const V a = V(o.centered ? sums[0] / n : C(0)), c = V(sums[1] / n);
    each_vector(o.n, [&](std::ptrdiff_t i, auto part) SINTER_LOOP_BODY {
      const V z = s.scaled(part.load(x + i, C(0)));
      part.store(((weighted(i, part) - a) - z * c) * s.factor, dx + i);
    });
  }
}

template <class C>
void sum_columns(const C* from, std::int64_t rows, std::int64_t width, C* to, C* scratch) {
  ColumnSums<C> sums(scratch, width);
  for (std::int64_t row = 0; row < rows; ++row)
    sums.add([&](std::ptrdiff_t i)
                 SINTER_LOOP_BODY { return Vec<C>::load(from + row * width + i); });
  const C* const total = sums.total();
  for (std::int64_t i = 0; i < width; ++i) to[i] = total[i];
}

template <class C>
C sum_row(const C* from, std::int64_t n) {
  return row_sum<C>(
      n, [&](std::ptrdiff_t i, auto part) SINTER_LOOP_BODY { return part.load(from + i, C(0)); });
}

template <class C>
constexpr NormFunctions<C> functions{forward<C>, gradient<C>, sum_columns<C>, sum_row<C>};

}  // namespace

const NormFunctions<float>& norm_rows_f32() { return functions<float>; }
const NormFunctions<double>& norm_rows_f64() { return functions<double>; }

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
