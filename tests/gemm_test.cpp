#include "kernels/gemm.h"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kernels/elementwise.h"
#include "runtime/cpu/pool.h"
#include "runtime/cpu/probe.h"
#include "tests/kernel_array.h"

namespace sinter::kernels {
namespace {

using tests::KernelArray;
using tests::Layout;

constexpr DType float_dtypes[] = {f16, bf16, f32, f64};

/// Small integers, of which every sum in these tests is exact, so that the order does not matter.
std::int64_t small(std::int64_t i, std::int64_t seed) { return (i * 7 + seed) * 5 % 11 % 7 - 3; }

KernelArray small_array(DType dtype, const Shape& shape, Layout layout, std::int64_t seed) {
  const bool is_signed = dtype != u8 && dtype != boolean;
  return KernelArray(dtype, shape, layout).fill([&](std::int64_t i) {
    return is_signed ? small(i, seed) : std::abs(small(i, seed));
  });
}

/// Numbers in -1..1 that look random.
double real(std::int64_t i, std::int64_t seed) {
  return std::sin(static_cast<double>(i * 37 + seed * 1009) * 1.7) * 0.9;
}

KernelArray real_array(DType dtype, const Shape& shape, std::int64_t seed) {
  return KernelArray(dtype, shape).fill([&](std::int64_t i) { return real(i, seed); });
}

/// The bits of `value`, rounded once, in `dtype`.
std::uint64_t bits_of(DType dtype, std::int64_t value) {
  return KernelArray(dtype, {1}).fill([&](std::int64_t) { return value; }).bits(0);
}

struct Sizes {
  std::int64_t m, n, k;
};

/// One product of small integers, compared bit by bit.
bool exact(DType dtype, const Sizes& s, Layout a_layout, Layout b_layout, Layout out_layout) {
  const KernelArray a = small_array(dtype, {s.m, s.k}, a_layout, 1);
  const KernelArray b = small_array(dtype, {s.k, s.n}, b_layout, 2);
  KernelArray out(dtype, {s.m, s.n}, out_layout);
  matmul(a.const_view(), b.const_view(), out.view());
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t j = 0; j < s.n; ++j) {
      std::int64_t sum = 0;
      for (std::int64_t k = 0; k < s.k; ++k)
        sum += a.get<std::int64_t>(i * s.k + k) * b.get<std::int64_t>(k * s.n + j);
      if (out.bits(i * s.n + j) != bits_of(dtype, sum)) return false;
    }
  return out.surroundings_intact();
}

TEST_CASE("gemm: every dtype, layout and odd size") {
  constexpr Sizes all_sizes[] = {{1, 1, 1},   {3, 5, 7},  {17, 17, 16}, {33, 1, 65}, {1, 40, 9},
                                 {5, 67, 33}, {40, 3, 1}, {0, 3, 4},    {3, 0, 4},   {3, 4, 0}};
  for (const DType dtype : tests::all_dtypes)
    for (const Sizes& sizes : all_sizes) {
      CAPTURE(to_string(dtype));
      CAPTURE(to_string(Shape{sizes.m, sizes.n, sizes.k}));
      for (const Layout a : tests::all_layouts)
        for (const Layout b : tests::all_layouts)
          CHECK(exact(dtype, sizes, a, b, Layout::contiguous));
      for (const Layout out : tests::all_layouts)
        CHECK(exact(dtype, sizes, Layout::contiguous, Layout::contiguous, out));
    }
}

TEST_CASE("gemm: sizes that are cut into several parts") {
  for (const DType dtype : {i32, f16, bf16, f32, f64})
    for (const Sizes& sizes : {Sizes{300, 200, 70}, Sizes{2, 700, 900}, Sizes{513, 40, 65}})
      for (const Layout layout : {Layout::contiguous, Layout::transposed, Layout::padded}) {
        CAPTURE(to_string(dtype));
        CHECK(exact(dtype, sizes, layout, Layout::contiguous, Layout::contiguous));
        CHECK(exact(dtype, sizes, Layout::contiguous, layout, Layout::padded));
      }
}

/// A batch of products of small integers; a and b are broadcast to out's leading axes.
bool batch_exact(const ConstView& a, const ConstView& b, const View& out) {
  matmul(a, b, out);
  KernelArray got(out.dtype, out.shape), left(a.dtype, a.shape), right(b.dtype, b.shape);
  copy(out, got.view());
  copy(a, left.view());
  copy(b, right.view());
  const std::int64_t m = a.shape[a.shape.rank() - 2], k = a.shape.back(), n = b.shape.back();
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const std::int64_t matrix = i / (m * n), row = i / n % m, column = i % n;
    std::int64_t sum = 0;
    for (std::int64_t j = 0; j < k; ++j)
      sum += left.get<std::int64_t>((matrix * m + row) * k + j) *
             right.get<std::int64_t>((matrix * k + j) * n + column);
    if (got.bits(i) != bits_of(out.dtype, sum)) return false;
  }
  return true;
}

ConstView permuted(const ConstView& view, std::initializer_list<int> axes) {
  ConstView result{view.data, view.dtype, {}, {}};
  for (const int axis : axes) {
    result.shape.push_back(view.shape[axis]);
    result.strides.push_back(view.strides[axis]);
  }
  return result;
}

TEST_CASE("gemm: batches, broadcast and permuted") {
  for (const DType dtype : {i64, f16, bf16, f32, f64}) {
    CAPTURE(to_string(dtype));
    KernelArray out(dtype, {3, 4, 17, 9});
    const auto array = [&](const Shape& shape) {
      return small_array(dtype, shape, Layout::contiguous, 3);
    };
    const KernelArray a = array({3, 4, 17, 8}), b = array({3, 4, 8, 9});
    CHECK(batch_exact(a.const_view(), b.const_view(), out.view()));
    const KernelArray b_one = array({8, 9}), b_inner = array({4, 8, 9}),
                      a_one = array({1, 4, 17, 8});
    CHECK(batch_exact(a.const_view(), b_one.expanded({3, 4, 8, 9}), out.view()));
    CHECK(batch_exact(a.const_view(), b_inner.expanded({3, 4, 8, 9}), out.view()));
    CHECK(batch_exact(a_one.expanded({3, 4, 17, 8}), b.const_view(), out.view()));
    CHECK(batch_exact(a_one.expanded({3, 4, 17, 8}), b_one.expanded({3, 4, 8, 9}), out.view()));
    // The layout of attention: [batch, tokens, heads, width] seen as [batch, heads, tokens, width].
    const KernelArray q = array({3, 17, 4, 8}), key = array({3, 9, 4, 8});
    CHECK(batch_exact(permuted(q.const_view(), {0, 2, 1, 3}),
                      permuted(key.const_view(), {0, 2, 3, 1}), out.view()));
    KernelArray tokens(dtype, {3, 17, 4, 9});
    const ConstView heads = permuted(tokens.const_view(), {0, 2, 1, 3});
    CHECK(batch_exact(a.const_view(), b.const_view(),
                      {const_cast<void*>(heads.data), dtype, heads.shape, heads.strides}));
  }
}

TEST_CASE("gemm: more batch axes than the library has, single rows, one matrix for all") {
  for (const DType dtype : {bf16, f32, i32}) {
    CAPTURE(to_string(dtype));
    const Shape batch{2, 3, 2, 5};
    const KernelArray a = small_array(dtype, {2, 5, 2, 3, 4, 6}, Layout::contiguous, 1);
    const KernelArray b = small_array(dtype, {3, 1, 5, 6, 7}, Layout::contiguous, 2);
    KernelArray out(dtype, {2, 3, 2, 5, 4, 7});
    CHECK(batch_exact(permuted(a.const_view(), {0, 3, 2, 1, 4, 5}), b.expanded({2, 3, 2, 5, 6, 7}),
                      out.view()));
    const KernelArray row = small_array(dtype, {30, 1, 40}, Layout::padded, 1);
    const KernelArray one = small_array(dtype, {40, 33}, Layout::transposed, 2);
    KernelArray rows(dtype, {30, 1, 33});
    CHECK(batch_exact(row.const_view(), one.expanded({30, 40, 33}), rows.view()));
    CHECK(batch_exact(small_array(dtype, {1, 1, 40}, Layout::contiguous, 4).expanded({30, 1, 40}),
                      one.expanded({30, 40, 33}), rows.view()));
  }
}

/// max |error| / sum of |a b|, against sums in double.
double relative_error(DType dtype, const Sizes& s) {
  const KernelArray a = real_array(dtype, {s.m, s.k}, 1), b = real_array(dtype, {s.k, s.n}, 2);
  KernelArray out(dtype, {s.m, s.n});
  matmul(a.const_view(), b.const_view(), out.view());
  double worst = 0;
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t j = 0; j < s.n; ++j) {
      double sum = 0, size = 0;
      for (std::int64_t k = 0; k < s.k; ++k) {
        const double term = a.get<double>(i * s.k + k) * b.get<double>(k * s.n + j);
        sum += term;
        size += std::abs(term);
      }
      // The one rounding of the result, to half a unit in its last place, is not an error.
      const double unit = dtype == f16 ? 0x1p-11 : dtype == bf16 ? 0x1p-8 : 0;
      const double error = std::abs(out.get<double>(i * s.n + j) - sum) - unit * std::abs(sum);
      worst = std::max(worst, error / size);
    }
  return worst;
}

TEST_CASE("gemm: sums of real numbers are accurate") {
  for (const Sizes& sizes : {Sizes{65, 70, 300}, Sizes{7, 33, 1025}, Sizes{260, 130, 64}}) {
    for (const DType dtype : {f16, bf16, f32}) CHECK(relative_error(dtype, sizes) < 1e-6);
    CHECK(relative_error(f64, sizes) < 1e-14);
  }
}

std::vector<std::uint64_t> product_bits(const KernelArray& a, const KernelArray& b) {
  Shape shape = a.shape();
  shape[shape.rank() - 1] = b.shape().back();
  KernelArray out(a.dtype(), shape);
  matmul(a.const_view(), b.const_view(), out.view());
  std::vector<std::uint64_t> bits;
  for (std::int64_t i = 0; i < out.size(); ++i) bits.push_back(out.bits(i));
  return bits;
}

TEST_CASE("gemm: the same bits for any number of threads") {
  const int before = cpu::threads();
  const std::pair<Shape, Shape> products[] = {{{301, 129}, {129, 200}},
                                              {{3, 300}, {300, 400}},
                                              {{4, 4, 65, 64}, {4, 4, 64, 65}},
                                              {{5, 3, 17, 33}, {5, 3, 33, 19}}};
  for (const DType dtype : float_dtypes)
    for (const auto& [a_shape, b_shape] : products) {
      const KernelArray a = real_array(dtype, a_shape, 1), b = real_array(dtype, b_shape, 2);
      cpu::set_threads(1);
      const auto one = product_bits(a, b);
      for (const int count : {2, 3, 1}) {
        cpu::set_threads(count);
        CHECK(product_bits(a, b) == one);
      }
    }
  cpu::set_threads(before);
}

TEST_CASE("gemm: paths for machines with less") {
  const cpu::InstructionSet before = cpu::instruction_set();
  const KernelArray a = real_array(f64, {33, 100}, 1), b = real_array(f64, {100, 47}, 2);
  const auto expected = product_bits(a, b);
  for (const auto set : {cpu::InstructionSet::avx2, cpu::InstructionSet::portable}) {
    if (set > cpu::processor().best) continue;
    cpu::set_instruction_set(set);
    CAPTURE(to_string(set));
    for (const DType dtype : tests::all_dtypes) {
      CAPTURE(to_string(dtype));
      CHECK(exact(dtype, {33, 19, 47}, Layout::contiguous, Layout::transposed, Layout::contiguous));
      CHECK(exact(dtype, {70, 90, 65}, Layout::transposed, Layout::padded, Layout::padded));
    }
    CHECK(relative_error(bf16, {65, 70, 300}) < 1e-6);
    CHECK(product_bits(a, b) == expected);
  }
  cpu::set_instruction_set(before);
}

TEST_CASE("linear: f32 epilogue, one rounding at the end") {
  const cpu::InstructionSet before = cpu::instruction_set();
  for (const auto set : {before, cpu::InstructionSet::portable})
    for (const DType dtype : {bf16, f32, f64}) {
      cpu::set_instruction_set(set);
      KernelArray x(dtype, {1, 2}), w(dtype, {2, 1}), bias(dtype, {1}), out(dtype, {1, 1});
      x.set(0, 1);
      x.set(1, 256);
      w.fill([](std::int64_t) { return 1; });
      bias.set(0, 1);
      const ConstView bias_view = bias.const_view();
      for (const auto activation :
           {LinearActivation::none, LinearActivation::relu, LinearActivation::gelu,
            LinearActivation::gelu_tanh, LinearActivation::silu}) {
        linear(x.const_view(), w.const_view(), &bias_view, activation, nullptr, out.view());
        CHECK(out.get<double>(0) == 258);
        KernelArray residual(dtype, {1, 1});
        residual.set(0, 2);
        const ConstView residual_view = residual.const_view();
        linear(x.const_view(), w.const_view(), &bias_view, activation, &residual_view, out.view());
        CHECK(out.get<double>(0) == 260);
      }
    }
  cpu::set_instruction_set(before);
}

/// What linear must give for f32: the product, then one op after the other.
std::vector<float> by_ops(const KernelArray& x, const KernelArray& w, const KernelArray* bias,
                          LinearActivation activation, const KernelArray* residual) {
  KernelArray out(f32, {x.shape()[0], w.shape()[1]});
  Fault fault;
  matmul(x.const_view(), w.const_view(), out.view());
  const auto apply = [&](Op op, std::vector<ConstView> inputs) {
    inputs.insert(inputs.begin(), out.const_view());
    elementwise(op, f32, inputs, out.view(), fault);
  };
  if (bias) apply(Op::add, {bias->expanded(out.shape())});
  if (activation == LinearActivation::relu) apply(Op::relu, {});
  if (activation == LinearActivation::gelu) apply(Op::gelu, {});
  if (activation == LinearActivation::gelu_tanh) apply(Op::gelu_tanh, {});
  if (activation == LinearActivation::silu) apply(Op::silu, {});
  if (residual) apply(Op::add, {residual->const_view()});
  return out.values<float>();
}

TEST_CASE("linear: large f32 products have the same bits as its ops, in any layout") {
  const KernelArray x = real_array(f32, {2200, 50}, 1), bias = real_array(f32, {77}, 3);
  const KernelArray residual = real_array(f32, {2200, 77}, 4);
  KernelArray w(f32, {50, 77}, Layout::transposed), padded(f32, {2200, 77}, Layout::padded);
  w.fill([](std::int64_t i) { return real(i, 2); });
  padded.fill([&](std::int64_t i) { return residual.get<float>(i); });
  const ConstView bias_view = bias.const_view(), padded_view = padded.const_view();
  for (const auto activation :
       {LinearActivation::none, LinearActivation::relu, LinearActivation::gelu,
        LinearActivation::gelu_tanh, LinearActivation::silu})
    for (const bool has_bias : {false, true})
      for (const bool has_residual : {false, true}) {
        const auto expected = by_ops(x, w, has_bias ? &bias : nullptr, activation,
                                     has_residual ? &residual : nullptr);
        for (const Layout layout : {Layout::contiguous, Layout::transposed, Layout::padded}) {
          KernelArray out(f32, {2200, 77}, layout);
          linear(x.const_view(), w.const_view(), has_bias ? &bias_view : nullptr, activation,
                 has_residual ? &padded_view : nullptr, out.view());
          CHECK(out.values<float>() == expected);
          CHECK(out.surroundings_intact());
        }
      }
}

/// The f32 nearest to what linear gives without rounding, x, w and bias being f32.
float in_f64(const KernelArray& x, const KernelArray& w, const KernelArray& bias,
             const KernelArray& residual, std::int64_t row, std::int64_t column) {
  double sum = 0;
  for (std::int64_t k = 0; k < x.shape()[1]; ++k)
    sum += x.get<double>(row * x.shape()[1] + k) * w.get<double>(k * w.shape()[1] + column);
  sum += bias.get<double>(column);
  return static_cast<float>(sum + residual.get<double>(row * w.shape()[1] + column));
}

TEST_CASE("linear: small f32 products are summed in f64 and rounded once, on every path") {
  const cpu::InstructionSet before = cpu::instruction_set();
  for (const auto set : {before, cpu::InstructionSet::portable})
    for (const auto& [m, n, k] :
         {Sizes{8, 1, 3}, Sizes{51, 192, 48}, Sizes{136, 77, 65}, Sizes{136, 256, 64}}) {
      cpu::set_instruction_set(set);
      for (const Layout x_layout : tests::all_layouts)
        for (const Layout w_layout : tests::all_layouts) {
          KernelArray x(f32, {m, k}, x_layout), w(f32, {k, n}, w_layout), out(f32, {m, n});
          x.fill([](std::int64_t i) { return real(i, 1); });
          w.fill([](std::int64_t i) { return real(i, 2); });
          const KernelArray bias = real_array(f32, {n}, 3), residual = real_array(f32, {m, n}, 4);
          const ConstView bias_view = bias.const_view(), residual_view = residual.const_view();
          linear(x.const_view(), w.const_view(), &bias_view, LinearActivation::none, &residual_view,
                 out.view());
          bool right = true;
          for (std::int64_t i = 0; i < m * n; ++i)
            right &= out.get<float>(i) == in_f64(x, w, bias, residual, i / n, i % n);
          CHECK(right);
        }
    }
  cpu::set_instruction_set(before);
}

TEST_CASE("linear: the output may be the residual's memory, and x may have leading axes") {
  for (const DType dtype : {bf16, f32, f64, i32}) {
    const KernelArray x = small_array(dtype, {4, 5, 33, 20}, Layout::contiguous, 1);
    const KernelArray w = small_array(dtype, {20, 37}, Layout::transposed, 2);
    const KernelArray bias = small_array(dtype, {37}, Layout::strided, 3);
    KernelArray out = small_array(dtype, {4, 5, 33, 37}, Layout::contiguous, 4);
    const KernelArray residual = out;
    const ConstView bias_view = bias.const_view(), out_view = out.const_view();
    linear(x.const_view(), w.const_view(), &bias_view, LinearActivation::relu, &out_view,
           out.view());
    bool right = true;
    for (std::int64_t i = 0; i < out.size(); ++i) {
      std::int64_t sum = bias.get<std::int64_t>(i % 37);
      for (std::int64_t k = 0; k < 20; ++k)
        sum += x.get<std::int64_t>(i / 37 * 20 + k) * w.get<std::int64_t>(k * 37 + i % 37);
      sum = std::max<std::int64_t>(sum, 0) + residual.get<std::int64_t>(i);
      right &= out.bits(i) == bits_of(dtype, sum);
    }
    CHECK(right);
  }
}

TEST_CASE("linear: nothing to sum over leaves bias and residual") {
  const KernelArray x(f32, {3, 0}), w(f32, {0, 2}), bias = real_array(f32, {2}, 1);
  KernelArray out(f32, {3, 2});
  const ConstView bias_view = bias.const_view();
  linear(x.const_view(), w.const_view(), &bias_view, LinearActivation::none, nullptr, out.view());
  for (std::int64_t i = 0; i < 6; ++i) CHECK(out.get<float>(i) == bias.get<float>(i % 2));
}

TEST_CASE("gemm: offsets beyond 32 bits") {
  // Rows so far apart that their byte offsets, and with three rows their element offsets, need more
  // than 32 bits; only the pages that are written take memory.
  constexpr std::int64_t far = (std::int64_t{1} << 31) + 16;
  constexpr std::size_t bytes = 2 * far * sizeof(float) + 4096;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto* const rows = static_cast<float*>(memory);
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 2; ++j) rows[i * far + j] = static_cast<float>(10 * i + j);
  const ConstView tall{memory, f32, {3, 2}, {far, 1}}, wide{memory, f32, {2, 3}, {1, far}};
  KernelArray out(f32, {3, 3});
  matmul(tall, wide, out.view());
  CHECK(out.values<float>() == std::vector<float>{1, 11, 21, 11, 221, 431, 21, 431, 841});
  KernelArray identity(f32, {2, 2});
  for (std::int64_t i = 0; i < 4; ++i) identity.set(i, i % 3 == 0);
  matmul(KernelArray(small_array(f32, {3, 2}, Layout::contiguous, 1)).const_view(),
         identity.const_view(), {memory, f32, {3, 2}, {far, 1}});
  CHECK(rows[2 * far + 1] == static_cast<float>(small(5, 1)));
  munmap(memory, bytes);
}

}  // namespace
}  // namespace sinter::kernels
