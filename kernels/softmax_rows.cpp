#include "kernels/row_kernels.h"
#include "kernels/row_loops.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace {

template <class C, SoftmaxKind kind>
void rows(const C* x, C* y, std::int64_t count, std::int64_t n) {
  using V = Vec<C>;
  for (; count > 0; --count, x += n, y += n) {
    const V m = V(row_max(x, n));
    const C sum = row_sum<C>(n, [&](std::ptrdiff_t i, auto part) SINTER_LOOP_BODY {
      const V e = m::exp(part.load(x + i, C(0)) - m);
      if constexpr (kind == SoftmaxKind::plain) part.store(e, y + i);
      return e;
    });
    if constexpr (kind == SoftmaxKind::plain) {
      each_vector(n, [&](std::ptrdiff_t i, auto part)
                         SINTER_LOOP_BODY { part.store(part.load(y + i, C(0)) / V(sum), y + i); });
    } else {
      const V l = V(m::log(sum));
      each_vector(n, [&](std::ptrdiff_t i, auto part)
                         SINTER_LOOP_BODY { part.store((part.load(x + i, C(0)) - m) - l, y + i); });
    }
  }
}

template <class C, SoftmaxKind kind>
void rows_grad(const C* g, const C* y, C* dx, std::int64_t count, std::int64_t n) {
  using V = Vec<C>;
  constexpr bool plain = kind == SoftmaxKind::plain;
  for (; count > 0; --count, g += n, y += n, dx += n) {
    const V t = V(row_sum<C>(n, [&](std::ptrdiff_t i, auto part) SINTER_LOOP_BODY {
      const V own = part.load(g + i, C(0));
      return plain ? own * part.load(y + i, C(0)) : own;
    }));
    each_vector(n, [&](std::ptrdiff_t i, auto part) SINTER_LOOP_BODY {
      const V own = part.load(g + i, C(0)), result = part.load(y + i, C(0));
      part.store(plain ? (own - t) * result : own - m::exp(result) * t, dx + i);
    });
  }
}

template <class C, SoftmaxKind kind>
void columns(C* x, std::int64_t extent, std::int64_t width, C* scratch) {
  using V = Vec<C>;
  C* const most = scratch + column_levels * width;
  for (std::int64_t c = 0; c < width; c += vector_size) {
    V m = V::load(x + c);
    for (std::int64_t i = 1; i < extent; ++i) {
      const V a = V::load(x + i * width + c);
      m = select(m < a, a, m);
    }
    m.store(most + c);
  }
  ColumnSums<C> sums(scratch, width);
  for (std::int64_t i = 0; i < extent; ++i) {
    C* const row = x + i * width;
    sums.add([&](std::ptrdiff_t c) SINTER_LOOP_BODY {
      const V distance = V::load(row + c) - V::load(most + c), e = m::exp(distance);
      (kind == SoftmaxKind::plain ? e : distance).store(row + c);
      return e;
    });
  }
  const C* const total = sums.total();
  for (std::int64_t c = 0; c < width; c += vector_size) {
    const V sum = V::load(total + c);
    const V by = kind == SoftmaxKind::plain ? sum : m::log(sum);
    for (std::int64_t i = 0; i < extent; ++i) {
      const V a = V::load(x + i * width + c);
      (kind == SoftmaxKind::plain ? a / by : a - by).store(x + i * width + c);
    }
  }
}

template <class C, SoftmaxKind kind>
void columns_grad(C* g, const C* y, std::int64_t extent, std::int64_t width, C* scratch) {
  using V = Vec<C>;
  constexpr bool plain = kind == SoftmaxKind::plain;
  ColumnSums<C> sums(scratch, width);
  for (std::int64_t i = 0; i < extent; ++i) {
    sums.add([&](std::ptrdiff_t c) SINTER_LOOP_BODY {
      const V own = V::load(g + i * width + c);
      return plain ? own * V::load(y + i * width + c) : own;
    });
  }
  const C* const total = sums.total();
  for (std::int64_t i = 0; i < extent; ++i) {
    for (std::int64_t c = i * width; c < (i + 1) * width; c += vector_size) {
      const V own = V::load(g + c), result = V::load(y + c), t = V::load(total + c - i * width);
      (plain ? (own - t) * result : own - m::exp(result) * t).store(g + c);
    }
  }
}

template <class C>
constexpr SoftmaxRows<C> functions{
    {rows<C, SoftmaxKind::plain>, rows<C, SoftmaxKind::logarithm>},
    {rows_grad<C, SoftmaxKind::plain>, rows_grad<C, SoftmaxKind::logarithm>},
    {columns<C, SoftmaxKind::plain>, columns<C, SoftmaxKind::logarithm>},
    {columns_grad<C, SoftmaxKind::plain>, columns_grad<C, SoftmaxKind::logarithm>}};

}  // namespace

const SoftmaxRows<float>& softmax_rows_f32() { return functions<float>; }
const SoftmaxRows<double>& softmax_rows_f64() { return functions<double>; }

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
