#include "tests/pattern_loops.h"

#include "jit/loop_builder.h"

namespace sinter::tests {
namespace {

using jit::Loop;
using jit::LoopBuilder;
using jit::ValueId;

/// The distances from the mean of a row in f64, and what they are scaled by: layer_norm's passes.
struct Normalised {
  LoopBuilder& b;
  ValueId mean, rest, factor;

  /// `x` makes an element of the row in f64, in the section that is open.
  template <class X>
  Normalised(LoopBuilder& builder, X x, std::uint32_t count, std::uint32_t epsilon) : b(builder) {
    b.begin_columns();
    const ValueId sum = b.reduce(Op::sum, x());
    b.begin_row();
    const ValueId n = b.number(count);
    mean = b.apply(Op::div, sum, n);
    b.begin_columns();
    const ValueId leftover = b.reduce(Op::sum, b.apply(Op::sub, x(), mean));
    b.begin_row();
    rest = b.apply(Op::div, leftover, n);
    b.begin_columns();
    const ValueId squares = b.reduce(Op::sum, b.apply(Op::square, distance(x())));
    b.begin_row();
    const ValueId spread = b.apply(Op::add, b.apply(Op::div, squares, n), b.number(epsilon));
    factor = b.apply(Op::reciprocal, b.apply(Op::sqrt, spread));
  }

  ValueId distance(ValueId x) { return b.apply(Op::sub, b.apply(Op::sub, x, mean), rest); }
  ValueId scaled(ValueId x) { return b.apply(Op::mul, distance(x), factor); }
};

}  // namespace

Loop softmax_loop(DType dtype) {
  LoopBuilder b("softmax");
  const auto x = b.memory(dtype), y = b.memory(dtype), buffer = b.row_buffer();
  b.begin_columns();
  const ValueId most = b.reduce(Op::amax, b.load(x));
  b.begin_columns();
  const ValueId e = b.apply(Op::exp, b.apply(Op::sub, b.load(x), most));
  b.keep(e, buffer);
  const ValueId total = b.reduce(Op::sum, e);
  b.begin_columns();
  b.store(b.apply(Op::div, b.recall(buffer), total), y);
  return b.finish();
}

Loop softmax_grad_loop(DType dtype) {
  LoopBuilder b("softmax_grad");
  const auto g = b.memory(dtype), y = b.memory(dtype), dx = b.memory(dtype);
  b.begin_columns();
  const ValueId total = b.reduce(Op::sum, b.apply(Op::mul, b.load(g), b.load(y)));
  b.begin_columns();
  const ValueId own = b.apply(Op::sub, b.load(g), total);
  b.store(b.apply(Op::mul, own, b.load(y)), dx);
  return b.finish();
}

Loop layer_norm_loop(DType dtype) {
  LoopBuilder b("layer_norm");
  const auto x = b.memory(dtype), weight = b.memory(dtype), bias = b.memory(dtype),
             y = b.memory(dtype);
  const auto count = b.argument(DType::f64), epsilon = b.argument(DType::f64);
  const auto wide = [&](std::uint32_t access) { return b.cast(b.load(access), DType::f64); };
  Normalised norm(
      b, [&] { return wide(x); }, count, epsilon);
  b.begin_columns();
  const ValueId scaled = b.apply(Op::mul, norm.scaled(wide(x)), wide(weight));
  b.store(b.apply(Op::add, scaled, wide(bias)), y);
  return b.finish();
}

Loop layer_norm_grad_loop(DType dtype) {
  LoopBuilder b("layer_norm_grad");
  const auto g = b.memory(dtype), x = b.memory(dtype), weight = b.memory(dtype),
             dx = b.memory(dtype), dweight = b.memory(DType::f64), dbias = b.memory(DType::f64);
  const auto count = b.argument(DType::f64), epsilon = b.argument(DType::f64);
  const auto wide = [&](std::uint32_t access) { return b.cast(b.load(access), DType::f64); };
  Normalised norm(
      b, [&] { return wide(x); }, count, epsilon);
  b.begin_columns();
  const ValueId z = norm.scaled(wide(x)), own = wide(g);
  b.add_rows(b.apply(Op::mul, own, z), dweight);
  b.add_rows(own, dbias);
  const ValueId h = b.apply(Op::mul, own, wide(weight));
  const ValueId sum_h = b.reduce(Op::sum, h);
  const ValueId sum_hz = b.reduce(Op::sum, b.apply(Op::mul, h, z));
  b.begin_row();
  const ValueId n = b.number(count);
  const ValueId mean_h = b.apply(Op::div, sum_h, n), mean_hz = b.apply(Op::div, sum_hz, n);
  b.begin_columns();
  const ValueId again = norm.scaled(wide(x));
  const ValueId weighted = b.apply(Op::mul, wide(g), wide(weight));
  const ValueId pull = b.apply(Op::mul, again, mean_hz);
  const ValueId inner = b.apply(Op::sub, b.apply(Op::sub, weighted, mean_h), pull);
  b.store(b.apply(Op::mul, inner, norm.factor), dx);
  return b.finish();
}

Loop cross_entropy_loop(DType dtype) {
  LoopBuilder b("cross_entropy");
  const auto logits = b.memory(dtype), targets = b.memory(DType::i64), loss = b.memory(dtype);
  b.begin_columns();
  const ValueId most = b.reduce(Op::amax, b.load(logits));
  b.begin_columns();
  const ValueId total = b.reduce(Op::sum, b.apply(Op::exp, b.apply(Op::sub, b.load(logits), most)));
  b.begin_row();
  const ValueId own = b.fetch(logits, b.load(targets));
  const ValueId q = b.apply(Op::sub, b.apply(Op::sub, own, most), b.apply(Op::log, total));
  b.store(b.apply(Op::neg, q), loss);
  return b.finish();
}

Loop cross_entropy_grad_loop(DType dtype) {
  LoopBuilder b("cross_entropy_grad");
  const auto scale = b.memory(DType::f32), logits = b.memory(dtype), targets = b.memory(DType::i64),
             dlogits = b.memory(dtype), column = b.position(), buffer = b.row_buffer(),
             one = b.argument(DType::f32);
  b.begin_columns();
  const ValueId most = b.reduce(Op::amax, b.load(logits));
  b.begin_columns();
  const ValueId e = b.apply(Op::exp, b.apply(Op::sub, b.load(logits), most));
  b.keep(e, buffer);
  const ValueId total = b.reduce(Op::sum, e);
  b.begin_row();
  const ValueId h = b.load(scale), target = b.load(targets), whole = b.number(one);
  b.begin_columns();
  const ValueId p = b.apply(Op::div, b.recall(buffer), total);
  const ValueId hit = b.cast(b.apply(Op::equal, b.coordinate(column), target), DType::f32);
  const ValueId u = b.apply(Op::where, hit, b.apply(Op::sub, p, whole), p);
  b.store(b.apply(Op::mul, h, u), dlogits);
  return b.finish();
}

Loop dropout_residual_layer_norm_loop(DType dtype) {
  LoopBuilder b("dropout_residual_layer_norm");
  const auto x = b.memory(dtype), residual = b.memory(dtype), weight = b.memory(dtype),
             bias = b.memory(dtype), y = b.memory(dtype), sum = b.memory(dtype),
             position = b.position(), buffer = b.row_buffer();
  const auto p = b.argument(DType::f32), keep = b.argument(DType::f32),
             zero = b.argument(DType::f32), seed = b.argument(DType::i64),
             ordinal = b.argument(DType::i64), count = b.argument(DType::f64),
             epsilon = b.argument(DType::f64);
  b.begin_row();
  const ValueId rate = b.number(p), scale = b.number(keep), none = b.number(zero);
  const ValueId key = b.number(seed), draw = b.number(ordinal);
  b.begin_columns();
  const ValueId uniform = b.uniform(position, key, draw);
  const ValueId kept = b.apply(Op::greater_equal, uniform, rate);
  const ValueId dropped = b.apply(Op::where, kept, b.apply(Op::mul, b.load(x), scale), none);
  const ValueId added = b.cast(b.apply(Op::add, b.cast(dropped, dtype), b.load(residual)), dtype);
  b.store(added, sum);
  b.keep(added, buffer);
  const auto wide = [&](ValueId value) { return b.cast(value, DType::f64); };
  Normalised norm(
      b, [&] { return wide(b.recall(buffer)); }, count, epsilon);
  b.begin_columns();
  const ValueId scaled =
      b.apply(Op::mul, norm.scaled(wide(b.recall(buffer))), wide(b.load(weight)));
  b.store(b.apply(Op::add, scaled, wide(b.load(bias))), y);
  return b.finish();
}

Loop adam_loop() {
  LoopBuilder b("adam");
  const auto p = b.memory(DType::f32), g = b.memory(DType::f32), m = b.memory(DType::f32),
             v = b.memory(DType::f32), new_p = b.memory(DType::f32), new_m = b.memory(DType::f32),
             new_v = b.memory(DType::f32);
  b.begin_row();
  std::array<ValueId, 8> number{};
  for (ValueId& value : number) value = b.number(b.argument(DType::f32));
  const auto [lr, b1, rest1, b2, rest2, c1, c2, eps] = number;
  b.begin_columns();
  const ValueId gradient = b.load(g);
  const ValueId first =
      b.apply(Op::add, b.apply(Op::mul, b.load(m), b1), b.apply(Op::mul, gradient, rest1));
  const ValueId second = b.apply(Op::add, b.apply(Op::mul, b.load(v), b2),
                                 b.apply(Op::mul, b.apply(Op::square, gradient), rest2));
  b.store(first, new_m);
  b.store(second, new_v);
  const ValueId root = b.apply(Op::add, b.apply(Op::sqrt, b.apply(Op::div, second, c2)), eps);
  const ValueId step = b.apply(Op::div, b.apply(Op::div, first, c1), root);
  b.store(b.apply(Op::sub, b.load(p), b.apply(Op::mul, lr, step)), new_p);
  return b.finish();
}

Loop gelu_chain_loop(DType dtype) {
  LoopBuilder b("gelu_chain");
  const auto x = b.memory(dtype), w = b.memory(dtype), bias = b.memory(dtype), y = b.memory(dtype);
  b.begin_columns();
  const ValueId own = b.load(x);
  const ValueId product = b.cast(b.apply(Op::mul, own, b.load(w)), dtype);
  const ValueId sum = b.cast(b.apply(Op::add, product, b.load(bias)), dtype);
  const ValueId gelu = b.cast(b.apply(Op::gelu_tanh, sum), dtype);
  b.store(b.apply(Op::add, gelu, own), y);
  return b.finish();
}

Loop column_sum_loop(DType dtype) {
  LoopBuilder b("column_sum");
  const auto x = b.memory(dtype), sums = b.memory(compute_dtype(dtype));
  b.begin_columns();
  b.add_rows(b.load(x), sums);
  return b.finish();
}

}  // namespace sinter::tests
