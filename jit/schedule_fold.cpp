#include "jit/schedule_fold.h"

#include <string>

#include "jit/loop_builder.h"

namespace sinter::jit {
namespace {

using Steps = std::vector<ListFold::Step>;

Rounded apply(LoopBuilder& builder, Rounded x, const Steps& steps) {
  for (const ListFold::Step& step : steps) {
    if (step.op != Op::cast) x = {builder.apply(step.op, x.value), step.compute};
    x = builder.rounded(x, step.dtype);
  }
  return x;
}

std::string name_of(const ListFold& fold) {
  std::string name = "list";
  for (const ListFold::Step& step : fold.before) append_op(name, step.op);
  append_op(name, Op::sum);
  for (const ListFold::Step& step : fold.after) append_op(name, step.op);
  return name;
}

}  // namespace

FoldLoops schedule_fold(const ListFold& fold) {
  FoldLoops loops;
  LoopBuilder blocks(name_of(fold) + "_blocks");
  const auto elements = blocks.memory(fold.read);
  blocks.begin_columns();
  const Rounded term = apply(blocks, {blocks.load(elements), fold.read}, fold.before);
  const DType compute = compute_dtype(term.dtype);
  const ValueId sum_of_block = blocks.reduce(Op::sum, term.value);
  blocks.begin_row();
  blocks.store(sum_of_block, blocks.memory(compute));
  loops.blocks = blocks.finish();

  LoopBuilder finish(name_of(fold));
  const auto sums = finish.memory(compute);
  finish.begin_columns();
  const ValueId total = finish.reduce(Op::sum, finish.load(sums));
  finish.begin_row();
  const Rounded result = apply(finish, finish.rounded({total, compute}, fold.sum), fold.after);
  finish.store(result.value, finish.memory(result.dtype));
  loops.finish = finish.finish();
  return loops;
}

}  // namespace sinter::jit
