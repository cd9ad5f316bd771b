#include "tests/pattern_chains.h"

#include "jit/loop_builder.h"
#include "tests/pattern_loops.h"

namespace sinter::tests {
namespace {

using jit::Columns;
using jit::Loop;
using jit::LoopBuilder;
using jit::ValueId;

}  // namespace

Loop embedding_loop(DType dtype) {
  LoopBuilder b("embedding");
  const auto table = b.memory(dtype), ids = b.memory(DType::i64), y = b.memory(dtype);
  b.begin_row();
  const ValueId id = b.load(ids);
  b.begin_columns();
  b.store(b.fetch(table, id), y);
  return b.finish();
}

Loop gather_loop(DType dtype) {
  LoopBuilder b("gather");
  const auto x = b.memory(dtype), ids = b.memory(DType::i64), y = b.memory(dtype);
  b.begin_columns();
  b.store(b.fetch(x, b.load(ids)), y);
  return b.finish();
}

Loop strided_where_loop() {
  LoopBuilder b("strided_where");
  const auto x = b.memory(DType::f16, Columns::strided), mask = b.memory(DType::boolean),
             other = b.memory(DType::f32), y = b.memory(DType::f16, Columns::strided);
  b.begin_columns();
  const ValueId taken = b.cast(b.load(mask), DType::f32);
  b.store(b.apply(Op::where, taken, b.load(x), b.load(other)), y);
  return b.finish();
}

Loop function_chain_loop() {
  LoopBuilder b("function_chain");
  const auto x = b.memory(DType::f32), y = b.memory(DType::f32), z = b.memory(DType::f32);
  b.begin_columns();
  const ValueId a = b.load(x), c = b.load(y);
  ValueId sum = b.apply(Op::pow, b.apply(Op::abs, a), c);
  for (const Op op : {Op::sin, Op::tan, Op::log1p, Op::erf, Op::atan, Op::expm1, Op::gelu,
                      Op::silu_derivative, Op::rsqrt})
    sum = b.apply(Op::add, sum, b.apply(op, a));
  b.store(b.apply(Op::atan2, sum, b.apply(Op::remainder, a, c)), z);
  return b.finish();
}

Loop integer_chain_loop() {
  LoopBuilder b("integer_chain");
  const auto x = b.memory(DType::i64), y = b.memory(DType::i32), z = b.memory(DType::i64),
             bytes = b.memory(DType::u8), place = b.position();
  b.begin_columns();
  const ValueId a = b.load(x), c = b.load(y);
  const ValueId quotient = b.apply(Op::floor_divide, a, c), rest = b.apply(Op::remainder, a, c);
  const ValueId shifted = b.apply(Op::shift_left, quotient, b.apply(Op::minimum, c, rest));
  const ValueId power = b.apply(Op::pow, rest, b.apply(Op::abs, c));
  const ValueId sum = b.apply(Op::sub, b.apply(Op::mul, shifted, power), b.coordinate(place));
  b.store(sum, z);
  b.store(sum, bytes);
  return b.finish();
}

Loop row_extremes_loop() {
  LoopBuilder b("row_extremes");
  const auto x = b.memory(DType::f32), n = b.memory(DType::i64), most = b.memory(DType::f32),
             least = b.memory(DType::i64), product = b.memory(DType::f32),
             total = b.memory(DType::i64);
  b.begin_columns();
  const ValueId value = b.load(x), number = b.load(n);
  const ValueId largest = b.reduce(Op::amax, value), all = b.reduce(Op::prod, value);
  const ValueId smallest = b.reduce(Op::amin, number), sum = b.reduce(Op::sum, number);
  b.begin_row();
  b.store(largest, most);
  b.store(smallest, least);
  b.store(all, product);
  b.store(sum, total);
  return b.finish();
}

std::vector<NamedLoop> named_loops() {
  std::vector<NamedLoop> loops = {{"adam", adam_loop()},
                                  {"strided_where", strided_where_loop()},
                                  {"function_chain", function_chain_loop()},
                                  {"integer_chain", integer_chain_loop()},
                                  {"row_extremes", row_extremes_loop()}};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const auto add = [&](Loop loop) {
      std::string name = loop.name + "_" + std::string(to_string(dtype));
      loops.push_back({std::move(name), std::move(loop)});
    };
    add(softmax_loop(dtype));
    add(softmax_grad_loop(dtype));
    add(layer_norm_loop(dtype));
    add(layer_norm_grad_loop(dtype));
    add(cross_entropy_loop(dtype));
    add(cross_entropy_grad_loop(dtype));
    add(dropout_residual_layer_norm_loop(dtype));
    add(gelu_chain_loop(dtype));
    add(column_sum_loop(dtype));
    add(embedding_loop(dtype));
    add(gather_loop(dtype));
  }
  return loops;
}

}  // namespace sinter::tests
