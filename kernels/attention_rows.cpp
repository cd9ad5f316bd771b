#include "kernels/attention_head.h"
#include "kernels/panel_product.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace {

/// Whether each of sixteen bools is false; lanes past a part are.
template <class C>
SINTER_INLINE MaskOf<C> are_false(const std::uint8_t* from) {
  const VecI32 bools = load_u8(from);
  if constexpr (sizeof(C) == 4) return bools == VecI32(0);
  else return to_i64(bools) == VecI(0);
}
template <class C>
SINTER_INLINE MaskOf<C> are_false(const std::uint8_t* from, Whole) {
  return are_false<C>(from);
}
template <class C>
SINTER_INLINE MaskOf<C> are_false(const std::uint8_t* from, Part part) {
  std::uint8_t bools[vector_size] = {};
  for (std::ptrdiff_t i = 0; i < part.count; ++i) bools[i] = from[i];
  return are_false<C>(bools);
}

/// Keys that query `i` may see by its position; what lies past them is not computed.
template <class C>
SINTER_INLINE std::int64_t visible(const HeadScores<C>& s, std::int64_t i) {
  const std::int64_t reach = s.first_query + i + 1;
  return s.causal && reach < s.keys ? reach : s.keys;
}

/// Products of q and k to scores; -inf in the lanes past n. Returns the largest.
template <class C>
SINTER_INLINE C scale_row(const HeadScores<C>& s, std::int64_t i, std::int64_t n, C* row) {
  using V = Vec<C>;
  constexpr C never = -static_cast<C>(__builtin_inff());
  const V scale = V(s.scale);
  const C* const added = s.added == nullptr ? nullptr : s.added + i * s.mask_step;
  const std::uint8_t* const seen = s.seen == nullptr ? nullptr : s.seen + i * s.mask_step;
  V most = V(never);
  each_vector(n, [&](std::ptrdiff_t j, auto part) SINTER_LOOP_BODY {
    V score = V::load(row + j) * scale;
    if (added != nullptr) score = score + part.load(added + j, C(0));
    if (seen != nullptr) score = select(are_false<C>(seen + j, part), V(never), score);
    score = part.keep(score, never);
    score.store(row + j);
    most = select(most < score, score, most);
  });
  return fold_max(most);
}

/// Scores, the largest of which is `most`, to probabilities before they are divided by their sum,
/// which is returned; zeros from n to `width`. A row that sees nothing gives zeros.
template <class C>
SINTER_INLINE C exponentials(C* row, std::int64_t n, std::int64_t width, C most) {
  using V = Vec<C>;
  const V shift = V(most == -static_cast<C>(__builtin_inff()) ? C(0) : most);
  V sum = V(C(0));
  std::int64_t j = 0;
  for (; j < n; j += vector_size) {
    const V e = m::exp(V::load(row + j) - shift);
    e.store(row + j);
    sum = sum + e;
  }
  for (; j < width; j += vector_size) V(C(0)).store(row + j);
  return fold_sum(sum);
}

/// row *= factor, with dropout where there is any.
template <class C>
SINTER_INLINE void scale_kept(const HeadScores<C>& s, const float* draws, std::int64_t n, C factor,
                              C* row) {
  using V = Vec<C>;
  for (std::int64_t j = 0; j < n; j += vector_size) {
    V value = V::load(row + j) * V(factor);
    if (draws != nullptr) {
      V u;
      if constexpr (sizeof(C) == 4) u = V::load(draws + j);
      else u = to_f64(VecF::load(draws + j));
      value = select(u >= V(static_cast<C>(s.p)), value * V(s.kept), V(C(0)));
    }
    value.store(row + j);
  }
}

/// The draws of a query, or null; `buffer` has room for padded(keys) of them.
template <class C>
SINTER_INLINE const float* draws_of(const HeadScores<C>& s, std::int64_t i, std::int64_t n,
                                    float* buffer) {
  if (s.uniform == nullptr) return nullptr;
  s.uniform(s.seed, s.ordinal, s.first_draw + i * s.keys, n, buffer);
  for (std::int64_t j = n; j < padded(n); ++j) buffer[j] = 0;
  return buffer;
}

template <class C>
SINTER_INLINE C inverse(C sum) {
  return sum == C(0) ? C(0) : C(1) / sum;
}

/// Queries [first, first + rows) against the keys that any of them may see.
template <class C>
struct Block {
  std::int64_t first, rows, keys, panels;

  SINTER_INLINE Block(const HeadScores<C>& s, std::int64_t begin, std::int64_t most) {
    first = begin;
    rows = s.queries - begin < most ? s.queries - begin : most;
    keys = visible(s, begin + rows - 1);
    panels = padded(keys) / vector_size;
  }
};

/// A product with weights of which those that are 0 reach nothing, whatever stands there.
template <class C>
SINTER_INLINE void multiply_weights(const PanelProduct<C>& product, bool finite) {
  if (finite) multiply(product);
  else multiply_reached(product);
}

template <class C>
void forward(const HeadScores<C>& s, HeadRows<C> q, HeadRows<C> k, HeadRows<C> v, C* out, C* work) {
  const std::int64_t width = padded(s.keys), e_width = padded(s.e), height = query_block(s.keys);
  C* const k_panels = work;
  C* const v_panels = k_panels + width * s.d;
  C* const scores = v_panels + s.keys * e_width;
  auto* const buffer = reinterpret_cast<float*>(scores + height * width);
  pack_transposed(k.data, k.step, s.keys, s.d, k_panels);
  pack_rows(v.data, v.step, s.keys, s.e, v_panels);
  const bool v_finite = all_finite(v_panels, s.keys * e_width);
  for (std::int64_t first = 0; first < s.queries; first += height) {
    const Block<C> block(s, first, height);
    C* const to = out + first * e_width;
    multiply<C>({q.data + first * q.step, q.step, 1, block.rows, s.d, k_panels, s.d * vector_size,
                 block.panels, scores, width, false});
    for (std::int64_t i = 0; i < block.rows; ++i) {
      C* const row = scores + i * width;
      const std::int64_t n = visible(s, first + i);
      const C most = scale_row(s, first + i, n, row);
      const C factor = inverse(exponentials(row, n, padded(block.keys), most));
      scale_kept(s, draws_of(s, first + i, n, buffer), n, factor, row);
    }
    multiply_weights<C>({scores, width, 1, block.rows, block.keys, v_panels, s.keys * vector_size,
                         e_width / vector_size, to, e_width, false},
                        v_finite);
  }
}

/// k transposed, v transposed and k, as gradient() multiplies by them.
template <class C>
struct PackedHead {
  const C *k_transposed, *v_transposed, *k_rows;

  SINTER_INLINE PackedHead(const HeadScores<C>& s, const C* packed)
      : k_transposed(packed),
        v_transposed(packed + padded(s.keys) * s.d),
        k_rows(packed + padded(s.keys) * (s.d + s.e)) {}
};

template <class C>
void prepare(const HeadScores<C>& s, HeadRows<C> k, HeadRows<C> v, C* packed) {
  pack_transposed(k.data, k.step, s.keys, s.d, packed);
  pack_transposed(v.data, v.step, s.keys, s.e, packed + padded(s.keys) * s.d);
  pack_rows(k.data, k.step, s.keys, s.d, packed + padded(s.keys) * (s.d + s.e));
}

/// One row of scores and one of dp to p' and scale * ds.
template <class C>
SINTER_INLINE void gradient_of_row(const HeadScores<C>& s, std::int64_t i, std::int64_t width, C* p,
                                   C* ds, C* dropped, float* buffer) {
  using V = Vec<C>;
  const std::int64_t n = visible(s, i);
  const C most = scale_row(s, i, n, p);
  const C factor = inverse(exponentials(p, n, width, most));
  scale_kept(s, nullptr, n, factor, p);
  const float* const draws = draws_of(s, i, n, buffer);
  if (draws != nullptr) {
    for (std::int64_t j = 0; j < width; j += vector_size) V::load(p + j).store(dropped + j);
    scale_kept(s, draws, n, C(1), dropped);
    scale_kept(s, draws, n, C(1), ds);
  }
  // A key without weight takes no part, whatever its dp is.
  V sum = V(C(0));
  each_vector(n, [&](std::ptrdiff_t j, auto part) SINTER_LOOP_BODY {
    const V weight = V::load(p + j);
    const V own = select(weight == V(C(0)), V(C(0)), V::load(ds + j));
    sum = multiply_add(weight, part.keep(own, C(0)), sum);
  });
  const V total = V(fold_sum(sum)), scale = V(s.scale);
  each_vector(n, [&](std::ptrdiff_t j, auto part) SINTER_LOOP_BODY {
    const V weight = V::load(p + j);
    const V own = select(weight == V(C(0)), V(C(0)), weight * (V::load(ds + j) - total) * scale);
    part.keep(own, C(0)).store(ds + j);
  });
  for (std::int64_t j = padded(n); j < width; j += vector_size) V(C(0)).store(ds + j);
}

template <class C>
void gradient(const HeadScores<C>& s, HeadRows<C> q, HeadRows<C> g, const C* packed, C* dq, C* dk,
              C* dv, C* work) {
  const PackedHead<C> head(s, packed);
  const std::int64_t width = padded(s.keys), d_width = padded(s.d), e_width = padded(s.e);
  const std::int64_t height = query_block(s.keys);
  const bool k_finite = all_finite(head.k_rows, s.keys * d_width);
  C* const p = work;
  C* const ds = p + height * width;
  C* const dropped = s.uniform == nullptr ? p : ds + height * width;
  C* const q_panels = ds + 2 * height * width;
  C* const g_panels = q_panels + height * d_width;
  auto* const buffer = reinterpret_cast<float*>(g_panels + height * e_width);
  for (std::int64_t first = 0; first < s.queries; first += height) {
    const Block<C> block(s, first, height);
    const C* const q_rows = q.data + first * q.step;
    const C* const g_rows = g.data + first * g.step;
    multiply<C>({q_rows, q.step, 1, block.rows, s.d, head.k_transposed, s.d * vector_size,
                 block.panels, p, width, false});
    multiply<C>({g_rows, g.step, 1, block.rows, s.e, head.v_transposed, s.e * vector_size,
                 block.panels, ds, width, false});
    for (std::int64_t i = 0; i < block.rows; ++i)
      gradient_of_row(s, first + i, padded(block.keys), p + i * width, ds + i * width,
                      dropped + i * width, buffer);
    multiply_weights<C>({ds, width, 1, block.rows, block.keys, head.k_rows, s.keys * vector_size,
                         d_width / vector_size, dq + first * d_width, d_width, false},
                        k_finite);
    pack_rows(q_rows, q.step, block.rows, s.d, q_panels);
    pack_rows(g_rows, g.step, block.rows, s.e, g_panels);
    multiply_weights<C>({ds, 1, width, block.keys, block.rows, q_panels, block.rows * vector_size,
                         d_width / vector_size, dk, d_width, true},
                        all_finite(q_panels, block.rows * d_width));
    multiply_weights<C>({dropped, 1, width, block.keys, block.rows, g_panels,
                         block.rows * vector_size, e_width / vector_size, dv, e_width, true},
                        all_finite(g_panels, block.rows * e_width));
  }
}

template <class C>
constexpr AttentionFunctions<C> functions{forward<C>, prepare<C>, gradient<C>};

}  // namespace

const AttentionFunctions<float>& attention_rows_f32() { return functions<float>; }
const AttentionFunctions<double>& attention_rows_f64() { return functions<double>; }

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
