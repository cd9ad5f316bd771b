// Ops on operands large enough to be divided among threads: the same bits at any thread count, and
// those of the interpreter.
#include <doctest/doctest.h>

#include <functional>

#include "runtime/cpu/pool.h"
#include "runtime/ops.h"
#include "tests/each_level.h"

namespace sinter::tests {
namespace {

constexpr std::int64_t rows = 330, columns = 517;

struct Operands {
  Tensor a, b, weight, indices, classes;
};

/// Sums of these depend on the order of their terms.
Operands draw_operands(DType dtype) {
  Generator generator(7);
  const auto spread = [&](const Shape& shape) {
    const Tensor size = exp2(uniform(shape, generator, -8, 8));
    return cast(size * normal(shape, generator), dtype).evaluate();
  };
  return {spread({rows, columns}), spread({rows, columns}), spread({columns}),
          random_integers({rows}, 0, rows / 3, generator).evaluate(),
          random_integers({rows}, 0, columns, generator).evaluate()};
}

struct LargeOp {
  const char* name;
  std::function<Tensor(const Operands&)> run;
};

const std::vector<LargeOp> large_ops = {
    {"elementwise", [](const Operands& x) { return tanh(x.a) * x.b + x.weight; }},
    {"elementwise on a transposed operand",
     [](const Operands& x) {
       return x.a + reshape(transpose(x.b), {rows, columns});
     }},
    {"cast", [](const Operands& x) { return cast(x.a, f16); }},
    {"sum of rows", [](const Operands& x) { return sum(x.a, {1}); }},
    {"sum of columns", [](const Operands& x) { return sum(x.a, {0}); }},
    {"sum of all", [](const Operands& x) { return sum(x.a); }},
    {"sum of a transposed operand", [](const Operands& x) { return sum(transpose(x.a), {1}); }},
    {"var", [](const Operands& x) { return var(x.a); }},
    {"logsumexp", [](const Operands& x) { return logsumexp(x.a * 0.01, {0}); }},
    {"norm", [](const Operands& x) { return norm(x.a, {1}); }},
    {"argmax", [](const Operands& x) { return argmax(x.a); }},
    {"take", [](const Operands& x) { return take(x.a, x.indices, 0); }},
    {"gather",
     [](const Operands& x) {
       return gather(x.a, 0, expand(unsqueeze(x.indices, 1), {rows, columns}));
     }},
    {"index_add", [](const Operands& x) { return index_add(x.a, 0, x.indices, x.b); }},
    {"scatter_add",
     [](const Operands& x) {
       return scatter_add(x.a, 0, expand(unsqueeze(x.indices, 1), {rows, columns}), x.b);
     }},
    {"cumsum of rows", [](const Operands& x) { return cumsum(x.a, 1); }},
    {"cumsum of columns", [](const Operands& x) { return cumsum(x.a, 0); }},
    {"concatenate",
     [](const Operands& x) {
       return concatenate({x.a, x.b}, 1);
     }},
    {"softmax", [](const Operands& x) { return softmax(x.a); }},
    {"softmax of columns", [](const Operands& x) { return softmax(x.a, 0); }},
    {"log_softmax", [](const Operands& x) { return log_softmax(x.a); }},
    {"layer_norm", [](const Operands& x) { return layer_norm(x.a, x.weight, x.weight); }},
    {"rms_norm", [](const Operands& x) { return rms_norm(x.a, x.weight); }},
    {"cross_entropy", [](const Operands& x) { return cross_entropy(x.a, x.classes); }},
};

std::vector<double> elements(const LargeOp& op, const Operands& operands) {
  return op.run(operands).to_host<double>();
}

/// As ==, but NaN equals NaN.
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i] && (a[i] == a[i] || b[i] == b[i])) return false;
  return true;
}

void check(const LargeOp& op, DType dtype) {
  const Operands operands = draw_operands(dtype);
  std::vector<double> meaning;
  {
    const AtLevel at(Level::interpret);
    meaning = elements(op, operands);
  }
  const int before = cpu::threads();
  for (const int count : {1, 2, 5}) {
    cpu::set_threads(count);
    CHECK_MESSAGE(same(elements(op, operands), meaning),
                  op.name << " of " << to_string(dtype) << " on " << count << " threads");
  }
  cpu::set_threads(before);
}

}  // namespace

TEST_CASE("large operands give the same bits at any thread count") {
  for (const LargeOp& op : large_ops)
    for (const DType dtype : {f32, bf16}) check(op, dtype);
}

TEST_CASE("products of large matrices give the same bits at any thread count") {
  const Operands operands = draw_operands(f32);
  const auto product = [&] { return matmul(operands.a, transpose(operands.b)).to_host<float>(); };
  const int before = cpu::threads();
  cpu::set_threads(1);
  const Floats alone = product();
  for (const int count : {2, 5}) {
    cpu::set_threads(count);
    CHECK(product() == alone);
  }
  cpu::set_threads(before);
}

}  // namespace sinter::tests
