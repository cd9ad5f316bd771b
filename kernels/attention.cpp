#include "kernels/attention.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kernels/attention_head.h"
#include "kernels/elementwise.h"
#include "kernels/row_access.h"
#include "runtime/cpu/pool.h"

namespace sinter::kernels {
namespace {

/// Queries of one head that make a task of their own.
constexpr std::int64_t task_queries = 192;

/// Which of its memories a thread uses for what.
enum Slot { operands = 0, results = 1, packed = 2, work = 3 };

const void* element(const ConstView& view, std::int64_t offset) {
  return static_cast<const std::byte*>(view.data) +
         offset * static_cast<std::int64_t>(item_size(view.dtype));
}

/// The rows [first, first + rows) of head [b, h] of an operand: in place, or copied to `buffer`.
template <class C>
HeadRows<C> rows_of(const ConstView& view, std::int64_t b, std::int64_t h, std::int64_t first,
                    std::int64_t rows, C* buffer) {
  const Strides& strides = view.strides;
  const std::int64_t n = view.shape[3];
  const void* const data = element(view, b * strides[0] + h * strides[1] + first * strides[2]);
  if (view.dtype == dtype_of<C> && (strides[3] == 1 || n == 1))
    return {static_cast<const C*>(data), strides[2]};
  if (rows * n > 0)
    TileReader({data, view.dtype, {rows, n}, {strides[2], strides[3]}}, dtype_of<C>, tiles())
        .load_into(0, rows * n, buffer);
  return {buffer, n};
}

/// The mask with rows of contiguous elements: bytes, or numbers in the compute type.
template <class C>
class Mask {
 public:
  Mask(const ConstView& mask, std::int64_t keys) {
    if (mask.data == nullptr) return;
    bools_ = mask.dtype == DType::boolean;
    view_ = {mask.data, mask.dtype, Shape::filled(4, 1), Strides::filled(4, 0)};
    const int missing = 4 - mask.shape.rank();
    for (int axis = 0; axis < mask.shape.rank(); ++axis) {
      view_.shape[axis + missing] = mask.shape[axis];
      if (mask.shape[axis] != 1) view_.strides[axis + missing] = mask.strides[axis];
    }
    view_.shape[3] = keys;
    const DType wanted = bools_ ? DType::boolean : dtype_of<C>;
    if (view_.dtype != wanted || (view_.strides[3] != 1 && keys > 1)) make_rows(wanted);
  }

  void apply(HeadScores<C>& scores, std::int64_t b, std::int64_t h, std::int64_t query) const {
    if (view_.data == nullptr) return;
    const Strides& strides = view_.strides;
    const void* const row = element(view_, b * strides[0] + h * strides[1] + query * strides[2]);
    if (bools_) scores.seen = static_cast<const std::uint8_t*>(row);
    else scores.added = static_cast<const C*>(row);
    scores.mask_step = strides[2];
  }

 private:
  void make_rows(DType wanted) {
    copy_.resize(static_cast<std::size_t>(element_count(view_.shape)) * item_size(wanted));
    const View rows{copy_.data(), wanted, view_.shape, contiguous_strides(view_.shape)};
    copy(view_, rows);
    Strides strides = rows.strides;
    for (int axis = 0; axis < 3; ++axis)
      if (view_.shape[axis] == 1) strides[axis] = 0;
    view_ = {copy_.data(), wanted, view_.shape, strides};
  }

  ConstView view_;
  bool bools_ = false;
  std::vector<std::byte> copy_;
};

/// A call's sizes, and what its heads share.
template <class C>
class Attention {
 public:
  explicit Attention(const AttentionOperands& operands)
      : o(operands),
        batch(o.q.shape[0]),
        heads(o.q.shape[1]),
        kv_heads(o.k.shape[1]),
        queries(o.q.shape[2]),
        keys(o.k.shape[2]),
        d(o.q.shape[3]),
        e(o.v.shape[3]),
        functions(attention_functions<C>()),
        mask_(o.mask, keys) {}

  HeadScores<C> scores(std::int64_t b, std::int64_t h, std::int64_t first,
                       std::int64_t count) const {
    HeadScores<C> s{};
    s.queries = count;
    s.keys = keys;
    s.d = d;
    s.e = e;
    s.first_query = first;
    s.causal = o.causal;
    s.scale = static_cast<C>(o.scale);
    mask_.apply(s, b, h, first);
    if (o.dropout > 0) {
      s.uniform = random_tiles().uniform;
      s.seed = o.seed;
      s.ordinal = o.ordinal;
      s.first_draw = ((b * heads + h) * queries + first) * keys;
      s.p = static_cast<float>(o.dropout);
      s.kept = static_cast<C>(1 / (1 - o.dropout));
    }
    return s;
  }

  const AttentionOperands& o;
  std::int64_t batch, heads, kv_heads, queries, keys, d, e;
  const AttentionFunctions<C>& functions;

 private:
  Mask<C> mask_;
};

/// Padded rows to the elements of `out` from `first` on, row by row.
template <class C>
void store_rows(const RowWriter<C>& out, std::int64_t first, const C* from, std::int64_t rows,
                std::int64_t n) {
  for (std::int64_t i = 0; i < rows; ++i, from += padded(n), first += n) {
    if (C* const to = out.place(first, nullptr)) std::copy_n(from, n, to);
    else out.store(from, first, n);
  }
}

template <class C>
void forward(const AttentionOperands& given, const View& out) {
  const Attention<C> a(given);
  const RowWriter<C> writer(out);
  const std::int64_t pieces = (a.queries + task_queries - 1) / task_queries;
  const std::int64_t shared = a.heads / std::max<std::int64_t>(1, a.kv_heads);
  cpu::parallel_for(a.batch * a.heads * pieces, [&](std::int64_t task) {
    const std::int64_t first = task % pieces * task_queries, head = task / pieces;
    const std::int64_t b = head / a.heads, h = head % a.heads, kv = h / shared;
    const std::int64_t count = std::min(task_queries, a.queries - first);
    C* const q_buffer = scratch<C>(operands, count * a.d + a.keys * (a.d + a.e));
    C* const k_buffer = q_buffer + count * a.d;
    C* const rows = scratch<C>(results, count * padded(a.e));
    a.functions.forward(a.scores(b, h, first, count),
                        rows_of(given.q, b, h, first, count, q_buffer),
                        rows_of(given.k, b, kv, 0, a.keys, k_buffer),
                        rows_of(given.v, b, kv, 0, a.keys, k_buffer + a.keys * a.d), rows,
                        scratch<C>(work, forward_work(a.keys, a.d, a.e)));
    store_rows(writer, (head * a.queries + first) * a.e, rows, count, a.e);
  });
}

/// dq, dk and dv of all heads that read one kv head.
template <class C>
class GradientTask {
 public:
  GradientTask(const Attention<C>& a, const ConstView& g, const View& dq, const View& dk,
               const View& dv)
      : a_(a), g_(g), dq_(dq), dk_(dk), dv_(dv) {}

  void run(std::int64_t task) const {
    const std::int64_t b = task / a_.kv_heads, kv = task % a_.kv_heads;
    const std::int64_t keys = a_.keys, d = a_.d, e = a_.e, queries = a_.queries;
    C* const q_buffer = scratch<C>(operands, (keys + queries) * (d + e));
    C* const g_buffer = q_buffer + queries * d;
    C* const k_buffer = g_buffer + queries * e;
    C* const dq = scratch<C>(results, (queries + keys) * padded(d) + keys * padded(e));
    C* const dk = dq + queries * padded(d);
    C* const dv = dk + keys * padded(d);
    std::fill(dk, dv + keys * padded(e), C(0));
    C* const head = scratch<C>(packed, packed_size(keys, d, e));
    a_.functions.prepare(a_.scores(b, 0, 0, 0), rows_of(a_.o.k, b, kv, 0, keys, k_buffer),
                         rows_of(a_.o.v, b, kv, 0, keys, k_buffer + keys * d), head);
    const std::int64_t shared = a_.heads / a_.kv_heads;
    for (std::int64_t h = kv * shared; h < (kv + 1) * shared; ++h) {
      a_.functions.gradient(a_.scores(b, h, 0, queries),
                            rows_of(a_.o.q, b, h, 0, queries, q_buffer),
                            rows_of(g_, b, h, 0, queries, g_buffer), head, dq, dk, dv,
                            scratch<C>(work, gradient_work(keys, d, e)));
      store_rows(dq_, (b * a_.heads + h) * queries * d, dq, queries, d);
    }
    store_rows(dk_, task * keys * d, dk, keys, d);
    store_rows(dv_, task * keys * e, dv, keys, e);
  }

 private:
  const Attention<C>& a_;
  const ConstView& g_;
  RowWriter<C> dq_, dk_, dv_;
};

void write_zeros(const View& view) {
  std::fill_n(static_cast<std::byte*>(view.data),
              static_cast<std::size_t>(element_count(view.shape)) * item_size(view.dtype),
              std::byte{0});
}

template <class C>
void gradient(const ConstView& g, const AttentionOperands& given, const View& dq, const View& dk,
              const View& dv) {
  const Attention<C> a(given);
  const GradientTask<C> task(a, g, dq, dk, dv);
  cpu::parallel_for(a.batch * a.kv_heads, [&](std::int64_t i) { task.run(i); });
}

}  // namespace

namespace {

/// Whether the arithmetic is in double: for double itself, and for float where there is so little
/// of it that the step it belongs to is mostly calls.
bool is_wide(const AttentionOperands& given) {
  if (given.q.dtype == DType::f64) return true;
  constexpr std::int64_t most_products = 1 << 21;
  const std::int64_t sizes = given.q.shape[3] + given.v.shape[3];
  const std::int64_t rows = given.q.shape[0] * given.q.shape[1] * given.q.shape[2];
  return given.q.dtype == DType::f32 && rows * given.k.shape[2] * sizes <= most_products;
}

}  // namespace

void attention(const AttentionOperands& given, const View& out) {
  if (element_count(out.shape) == 0) return;
  if (given.k.shape[2] == 0) return write_zeros(out);
  (is_wide(given) ? forward<double> : forward<float>)(given, out);
}

void attention_grad(const ConstView& g, const AttentionOperands& given, const View& dq,
                    const View& dk, const View& dv) {
  if (element_count(g.shape) == 0 || given.k.shape[2] == 0) {
    for (const View* view : {&dq, &dk, &dv}) write_zeros(*view);
    return;
  }
  (is_wide(given) ? gradient<double> : gradient<float>)(g, given, dq, dk, dv);
}

}  // namespace sinter::kernels
