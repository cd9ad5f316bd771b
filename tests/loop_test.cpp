// Generated kernels against the ops they are made for: the same bits, on every instruction set.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>

#include <sinter/sinter.h>

#include "jit/emit.h"
#include "jit/kernel_cache.h"
#include "jit/launch.h"
#include "jit/loop_builder.h"
#include "jit/prelude.h"
#include "runtime/cpu/probe.h"
#include "tests/each_level.h"
#include "tests/pattern_loops.h"

namespace sinter::tests {
namespace {

using jit::Loop;

/// Sizes around those at which the order of a sum or the cut into units changes.
struct Extents {
  std::int64_t rows, columns;
};
constexpr Extents all_extents[] = {{1, 1},    {3, 5},     {7, 64},   {65, 100},
                                   {130, 33}, {64, 4096}, {2, 4097}, {300, 16}};

class AtInstructionSet {
 public:
  explicit AtInstructionSet(cpu::InstructionSet set) : previous_(cpu::instruction_set()) {
    cpu::set_instruction_set(set);
  }
  ~AtInstructionSet() { cpu::set_instruction_set(previous_); }
  AtInstructionSet(const AtInstructionSet&) = delete;
  AtInstructionSet& operator=(const AtInstructionSet&) = delete;

 private:
  cpu::InstructionSet previous_;
};

/// `body()` with each instruction set that generated code is worth compiling for.
template <class Body>
void on_each_instruction_set(Body body) {
  for (const auto set : {cpu::InstructionSet::avx2, cpu::InstructionSet::avx512}) {
    if (set > cpu::processor().best) continue;
    const AtInstructionSet at(set);
    CAPTURE(cpu::to_string(set));
    body();
  }
}

/// The loop compiled for the instruction set in use; a null one where there is no compiler.
kernels::LoopFunction compiled(const Loop& loop) {
  static jit::KernelCache cache([] {
    Options own = options();
    own.disk_cache = false;
    return own;
  }());
  const jit::KernelSource source{loop.name, jit::emit(loop, "SINTER_KERNEL_NAME")};
  static const std::string prelude =
      std::string(jit::prelude()) + "using namespace sinter::kernels;\n";
  const auto functions = cache.load(std::span(&source, 1), prelude, "strict");
  if (!functions) return nullptr;
  return reinterpret_cast<kernels::LoopFunction>((*functions)[0]);
}

/// Rows of a matrix of so many columns; the same row again and again where `stride` is 0.
template <class T>
kernels::LoopAccess rows_of(std::vector<T>& elements, std::int64_t stride) {
  kernels::LoopAccess access{};
  access.base = elements.data();
  access.row_strides[0] = stride;
  access.column_stride = 1;
  access.index_stride = 1;
  access.index_extent = stride;
  return access;
}

/// Sums of rows by column, one for each block.
template <class T>
kernels::LoopAccess sums_of(std::vector<T>& elements, std::int64_t columns) {
  kernels::LoopAccess access = rows_of(elements, columns);
  access.sums_rows = true;
  return access;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// Operands of the patterns and what they are as tensors.
struct Operands {
  Extents extents;
  Tensor x, g, weight, bias;
  std::vector<float> host_x, host_g, host_weight, host_bias, out;

  explicit Operands(Extents sizes) : extents(sizes) {
    Generator generator(3);
    x = normal({sizes.rows, sizes.columns}, generator);
    g = normal({sizes.rows, sizes.columns}, generator);
    weight = normal({sizes.columns}, generator);
    bias = normal({sizes.columns}, generator);
    host_x = x.to_host<float>();
    host_g = g.to_host<float>();
    host_weight = weight.to_host<float>();
    host_bias = bias.to_host<float>();
    out.resize(host_x.size());
  }

  jit::Launch launch(std::vector<kernels::LoopAccess> accesses,
                     std::vector<kernels::LoopNumber> numbers = {}) const {
    return {{extents.rows}, extents.columns, std::move(accesses), std::move(numbers)};
  }
  std::vector<kernels::LoopNumber> norm_numbers() const {
    return {{.real = static_cast<double>(extents.columns)}, {.real = 1e-5}};
  }
};

/// `check(function, operands)` for every instruction set and all sizes.
template <class Check>
void for_all(const Loop& loop, Check check) {
  on_each_instruction_set([&] {
    const kernels::LoopFunction function = compiled(loop);
    if (function == nullptr) return;
    for (const Extents& extents : all_extents) {
      CAPTURE(extents.rows);
      CAPTURE(extents.columns);
      Operands operands(extents);
      check(function, operands);
    }
  });
}

}  // namespace

TEST_CASE("loop: softmax and its gradient have the bits of the ops") {
  const Loop forward = softmax_loop(f32), backward = softmax_grad_loop(f32);
  for_all(forward, [&](kernels::LoopFunction function, Operands& o) {
    const std::int64_t n = o.extents.columns;
    jit::launch(forward, function, o.launch({rows_of(o.host_x, n), rows_of(o.out, n)}));
    CHECK(same_bits(o.out, softmax(o.x).to_host<float>()));
  });
  for_all(backward, [&](kernels::LoopFunction function, Operands& o) {
    const std::int64_t n = o.extents.columns;
    const Tensor y = softmax(o.x);
    std::vector<float> host_y = y.to_host<float>();
    jit::launch(backward, function,
                o.launch({rows_of(o.host_g, n), rows_of(host_y, n), rows_of(o.out, n)}));
    CHECK(same_bits(o.out, vjp({softmax(o.x)}, {o.g}, {o.x})[0].to_host<float>()));
  });
}

TEST_CASE("loop: layer_norm and its gradient have the bits of the ops") {
  const Loop forward = layer_norm_loop(f32), backward = layer_norm_grad_loop(f32);
  for_all(forward, [&](kernels::LoopFunction function, Operands& o) {
    const std::int64_t n = o.extents.columns;
    jit::launch(forward, function,
                o.launch({rows_of(o.host_x, n), rows_of(o.host_weight, 0), rows_of(o.host_bias, 0),
                          rows_of(o.out, n)},
                         o.norm_numbers()));
    CHECK(same_bits(o.out, layer_norm(o.x, o.weight, o.bias).to_host<float>()));
  });
  const Loop sum_blocks = column_sum_loop(f64);
  for_all(backward, [&](kernels::LoopFunction function, Operands& o) {
    const std::int64_t n = o.extents.columns, blocks = jit::row_block_count({o.extents.rows});
    std::vector<double> dweight(static_cast<std::size_t>(blocks * n)), dbias = dweight;
    jit::launch(backward, function,
                o.launch({rows_of(o.host_g, n), rows_of(o.host_x, n), rows_of(o.host_weight, 0),
                          rows_of(o.out, n), sums_of(dweight, n), sums_of(dbias, n)},
                         o.norm_numbers()));
    const auto total = [&](std::vector<double>& sums) {
      std::vector<double> result(static_cast<std::size_t>(n));
      jit::launch(sum_blocks, compiled(sum_blocks),
                  {{blocks}, n, {rows_of(sums, n), sums_of(result, n)}, {}});
      return std::vector<float>(result.begin(), result.end());
    };
    const auto gradients = vjp({layer_norm(o.x, o.weight, o.bias)}, {o.g}, {o.x, o.weight, o.bias});
    CHECK(same_bits(o.out, gradients[0].to_host<float>()));
    CHECK(same_bits(total(dweight), gradients[1].to_host<float>()));
    CHECK(same_bits(total(dbias), gradients[2].to_host<float>()));
  });
}

TEST_CASE("loop: cross_entropy and its gradient have the bits of the ops") {
  const Loop forward = cross_entropy_loop(f32), backward = cross_entropy_grad_loop(f32);
  const auto targets_of = [](const Operands& o) {
    Generator generator(7);
    return random_integers({o.extents.rows}, 0, o.extents.columns, generator).evaluate();
  };
  for_all(forward, [&](kernels::LoopFunction function, Operands& o) {
    const std::int64_t n = o.extents.columns;
    const Tensor targets = targets_of(o);
    std::vector<std::int64_t> host_targets = targets.to_host<std::int64_t>();
    std::vector<float> loss(static_cast<std::size_t>(o.extents.rows));
    jit::launch(forward, function,
                o.launch({rows_of(o.host_x, n), rows_of(host_targets, 1), rows_of(loss, 1)}));
    const Tensor expected = cross_entropy(o.x, targets, {.reduction = Reduction::none});
    CHECK(same_bits(loss, expected.to_host<float>()));
  });
  for_all(backward, [&](kernels::LoopFunction function, Operands& o) {
    const std::int64_t n = o.extents.columns;
    const Tensor targets = targets_of(o);
    std::vector<std::int64_t> host_targets = targets.to_host<std::int64_t>();
    std::vector<float> scale{0.25f};
    kernels::LoopAccess column{};
    column.column_stride = 1;
    jit::launch(backward, function,
                o.launch({rows_of(scale, 0), rows_of(o.host_x, n), rows_of(host_targets, 1),
                          rows_of(o.out, n), column},
                         {{.real = 1}}));
    const Tensor loss = cross_entropy(o.x, targets, {.reduction = Reduction::sum});
    CHECK(same_bits(o.out, vjp({loss}, {full({}, 0.25)}, {o.x})[0].to_host<float>()));
  });
}

TEST_CASE("loop: dropout, residual and layer_norm in one kernel have the bits of the three ops") {
  const Loop loop = dropout_residual_layer_norm_loop(f32);
  for_all(loop, [&](kernels::LoopFunction function, Operands& o) {
    const std::int64_t n = o.extents.columns;
    std::vector<float> sum(o.out.size());
    kernels::LoopAccess position{};
    position.row_strides[0] = n;
    position.column_stride = 1;
    constexpr std::uint64_t seed = 11;
    Generator generator(seed);
    const double p = 0.25;
    const Tensor added = dropout(o.x, p, generator) + o.g;
    const Tensor expected = layer_norm(added, o.weight, o.bias);
    jit::launch(loop, function,
                o.launch({rows_of(o.host_x, n), rows_of(o.host_g, n), rows_of(o.host_weight, 0),
                          rows_of(o.host_bias, 0), rows_of(o.out, n), rows_of(sum, n), position},
                         {{.real = p},
                          {.real = 1 / (1 - p)},
                          {.real = 0},
                          {.integer = static_cast<std::int64_t>(seed)},
                          {.integer = 0},
                          {.real = static_cast<double>(n)},
                          {.real = 1e-5}}));
    CHECK(same_bits(sum, added.to_host<float>()));
    CHECK(same_bits(o.out, expected.to_host<float>()));
  });
}

TEST_CASE(
    "loop: a chain of elementwise ops has their bits, in f32 and rounded to bf16 after each") {
  for (const DType dtype : {f32, bf16}) {
    CAPTURE(to_string(dtype));
    const Loop loop = gelu_chain_loop(dtype);
    for_all(loop, [&](kernels::LoopFunction function, Operands& o) {
      const std::int64_t n = o.extents.columns;
      const Tensor x = cast(o.x, dtype), weight = cast(o.weight, dtype), bias = cast(o.bias, dtype);
      const Tensor expected = gelu_tanh(x * weight + bias) + x;
      const auto run = [&](auto element) {
        using T = decltype(element);
        std::vector<T> host_x = x.to_host<T>(), host_weight = weight.to_host<T>(),
                       host_bias = bias.to_host<T>(), y(host_x.size());
        jit::launch(loop, function,
                    o.launch({rows_of(host_x, n), rows_of(host_weight, 0), rows_of(host_bias, 0),
                              rows_of(y, n)}));
        CHECK(same_bits(y, expected.to_host<T>()));
      };
      if (dtype == f32) run(float{});
      else run(BFloat16{});
    });
  }
}

TEST_CASE("loop: one thread and two give the same bits") {
  const Loop loop = layer_norm_grad_loop(f32);
  const kernels::LoopFunction function = compiled(loop);
  if (function == nullptr) return;
  std::vector<std::vector<double>> sums;
  const int before = threads();
  for (const int count : {1, 2}) {
    set_threads(count);
    Operands o({1000, 48});
    const std::int64_t n = 48, blocks = jit::row_block_count({1000});
    std::vector<double> dweight(static_cast<std::size_t>(blocks * n)), dbias = dweight;
    jit::launch(loop, function,
                o.launch({rows_of(o.host_g, n), rows_of(o.host_x, n), rows_of(o.host_weight, 0),
                          rows_of(o.out, n), sums_of(dweight, n), sums_of(dbias, n)},
                         o.norm_numbers()));
    dweight.insert(dweight.end(), dbias.begin(), dbias.end());
    dweight.insert(dweight.end(), o.out.begin(), o.out.end());
    sums.push_back(dweight);
  }
  set_threads(before);
  CHECK(same_bits(sums[0], sums[1]));
}

TEST_CASE("loop: an ill-formed loop is refused with its statement") {
  const auto refusal = [](auto build) {
    jit::LoopBuilder b("broken");
    build(b);
    try {
      b.finish();
    } catch (const InternalError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(contains(refusal([](jit::LoopBuilder& b) {
                   const auto x = b.memory(f32);
                   b.begin_columns();
                   const auto total = b.reduce(Op::sum, b.load(x));
                   b.store(total, x);
                 }),
                 "a reduction before its end"));
  CHECK(contains(refusal([](jit::LoopBuilder& b) {
                   const auto x = b.memory(f32);
                   b.begin_columns();
                   const auto value = b.load(x);
                   b.begin_columns();
                   b.store(value, x);
                 }),
                 "a value of other columns"));
  CHECK(contains(refusal([](jit::LoopBuilder& b) {
                   const auto x = b.memory(f32), y = b.memory(f64);
                   b.begin_columns();
                   b.apply(Op::add, b.load(x), b.load(y));
                 }),
                 "another compute type"));
  CHECK(contains(refusal([](jit::LoopBuilder& b) {
                   const auto x = b.memory(f32);
                   b.begin_row();
                   b.reduce(Op::sum, b.load(x));
                 }),
                 "stands in a row section"));
}

}  // namespace sinter::tests
