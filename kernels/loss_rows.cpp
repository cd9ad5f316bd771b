#include "kernels/row_kernels.h"
#include "kernels/row_loops.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace {

template <class C>
C forward(const LossRow<C>& row) {
  using V = Vec<C>;
  const C* const x = row.x;
  const C m = row_max(x, row.classes);
  const C sum = row_sum<C>(row.classes, [&](std::ptrdiff_t i, auto part) SINTER_LOOP_BODY {
    return m::exp(part.load(x + i, C(0)) - V(m));
  });
  const C l = m::log(sum);
  const C q = (x[row.target] - m) - l;
  const C own = row.weight == nullptr ? q : row.weight[row.target] * q;
  if (!row.smoothed) return -own;
  const C all = row_sum<C>(row.classes, [&](std::ptrdiff_t i, auto part) SINTER_LOOP_BODY {
    const V each = (part.load(x + i, C(0)) - V(m)) - V(l);
    return row.weight == nullptr ? each : part.load(row.weight + i, C(0)) * each;
  });
  return -(row.keep * own + row.share * all);
}

template <class C>
void gradient(const LossRow<C>& row, C h, C* dx) {
  using V = Vec<C>;
  const C* const x = row.x;
  const V m = V(row_max(x, row.classes));
  const C sum = row_sum<C>(row.classes, [&](std::ptrdiff_t i, auto part) SINTER_LOOP_BODY {
    const V e = m::exp(part.load(x + i, C(0)) - m);
    part.store(e, dx + i);
    return e;
  });
  const C weight = row.weight == nullptr ? C(1) : row.weight[row.target];
  const C own = row.smoothed ? row.keep * weight : weight;
  const C k = row.smoothed ? own + row.share * row.total_weight : own;
  const C p_target = dx[row.target] / sum;
  C u_target = p_target * k;
  if (row.smoothed) u_target = u_target - (row.weight == nullptr ? row.share : row.share * weight);
  const C target = h * (u_target - own);
  each_vector(row.classes, [&](std::ptrdiff_t i, auto part) SINTER_LOOP_BODY {
    V u = part.load(dx + i, C(0)) / V(sum) * V(k);
    if (row.smoothed) {
      const V share = V(row.share);
      u = u - (row.weight == nullptr ? share : share * part.load(row.weight + i, C(0)));
    }
    part.store(V(h) * u, dx + i);
  });
  dx[row.target] = target;
}

template <class C>
C sum_row(const C* from, std::int64_t n) {
  return row_sum<C>(
      n, [&](std::ptrdiff_t i, auto part) SINTER_LOOP_BODY { return part.load(from + i, C(0)); });
}

template <class C>
constexpr LossFunctions<C> functions{forward<C>, gradient<C>, sum_row<C>};

}  // namespace

const LossFunctions<float>& loss_rows_f32() { return functions<float>; }
const LossFunctions<double>& loss_rows_f64() { return functions<double>; }

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
