#include "kernels/reduce.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "runtime/cpu/pool.h"
#include "runtime/cpu/probe.h"
#include "tests/kernel_array.h"

namespace sinter::kernels {
namespace {

using tests::all_dtypes;
using tests::all_layouts;
using tests::KernelArray;
using tests::Layout;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

template <typename C>
using Combiner = std::function<C(C, C)>;

/// The order of reduce.h in plain words, for elements at x[0], x[stride], ...
template <typename C>
C in_order(const std::vector<C>& x, bool row, const Combiner<C>& combine) {
  const std::size_t block = row ? 4096 : 64;
  std::vector<C> partial;
  for (std::size_t begin = 0; begin < x.size(); begin += block) {
    const std::size_t size = std::min(block, x.size() - begin);
    std::vector<C> lanes;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t lane = row ? i % 64 : 0;
      if (lane == lanes.size()) lanes.push_back(x[begin + i]);
      else lanes[lane] = combine(lanes[lane], x[begin + i]);
    }
    for (std::size_t half = 32; half > 0; half /= 2)
      for (std::size_t lane = 0; lane < half && lane + half < lanes.size(); ++lane)
        lanes[lane] = combine(lanes[lane], lanes[lane + half]);
    partial.push_back(lanes[0]);
  }
  return partial.size() == 1 ? partial[0] : in_order(partial, row, combine);
}

/// [outer, extent, inner] to [outer, inner].
template <typename C>
std::vector<C> one_pass(const std::vector<C>& x, std::int64_t outer, std::int64_t extent,
                        std::int64_t inner, const Combiner<C>& combine) {
  std::vector<C> result;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      std::vector<C> line;
      for (std::int64_t e = 0; e < extent; ++e)
        line.push_back(x[static_cast<std::size_t>((o * extent + e) * inner + i)]);
      result.push_back(in_order(line, inner == 1, combine));
    }
  return result;
}

template <typename C>
bool same_bits(const std::vector<C>& a, const std::vector<C>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(C)) == 0;
}

Shape reduced(const Shape& shape, std::int64_t mask) {
  Shape out = shape;
  for (int i = 0; i < shape.rank(); ++i)
    if ((mask >> i) & 1) out[i] = 1;
  return out;
}

KernelArray run(Op op, const ConstView& in, std::int64_t mask, DType dtype,
                std::int64_t correction = 0) {
  KernelArray out(dtype, reduced(in.shape, mask));
  reduce(op, in, mask, correction, out.view());
  CHECK(out.surroundings_intact());
  return out;
}

KernelArray random_array(DType dtype, const Shape& shape, Layout layout = Layout::contiguous) {
  std::mt19937 random(static_cast<unsigned>(element_count(shape)));
  KernelArray array(dtype, shape, layout);
  array.fill([&](std::int64_t) { return static_cast<double>(random() % 20001) / 1e4 - 1.0; });
  return array;
}

TEST_CASE("reduce: the documented order, bit for bit") {
  struct Case {
    Shape shape;
    std::int64_t mask;
    std::vector<std::array<std::int64_t, 3>> passes;  // outer, extent, inner
  };
  const std::vector<Case> cases = {
      {{1}, 1, {{1, 1, 1}}},
      {{17}, 1, {{1, 17, 1}}},
      {{63}, 1, {{1, 63, 1}}},
      {{64}, 1, {{1, 64, 1}}},
      {{67}, 1, {{1, 67, 1}}},
      {{4096}, 1, {{1, 4096, 1}}},
      {{4097}, 1, {{1, 4097, 1}}},
      {{300000}, 1, {{1, 300000, 1}}},
      {{5, 130}, 2, {{5, 130, 1}}},
      {{3, 9001}, 2, {{3, 9001, 1}}},
      {{5, 33}, 1, {{1, 5, 33}}},
      {{64, 3}, 1, {{1, 64, 3}}},
      {{65, 16}, 1, {{1, 65, 16}}},
      {{5000, 35}, 1, {{1, 5000, 35}}},
      {{70, 5001}, 1, {{1, 70, 5001}}},
      {{4, 100, 20}, 2, {{4, 100, 20}}},
      {{4, 10, 20}, 6, {{4, 200, 1}}},
      {{70, 1, 8}, 1, {{1, 70, 8}}},
      {{6, 1, 70}, 5, {{1, 420, 1}}},
      {{70, 3, 100}, 5, {{210, 100, 1}, {1, 70, 3}}},
      {{70, 3, 80, 2}, 5, {{210, 80, 2}, {1, 70, 6}}},
  };
  const Combiner<float> add = [](float a, float b) { return a + b; };
  for (const Case& c : cases)
    for (const DType dtype : {f32, bf16}) {
      CAPTURE(to_string(c.shape));
      const KernelArray in = random_array(dtype, c.shape);
      std::vector<float> want = in.values<float>();
      for (const auto& [outer, extent, inner] : c.passes)
        want = one_pass(want, outer, extent, inner, add);
      if (dtype == f32) {
        CHECK(same_bits(run(Op::sum, in.const_view(), c.mask, f32).values<float>(), want));
      } else {
        KernelArray rounded(bf16, {static_cast<std::int64_t>(want.size())});
        rounded.fill([&](std::int64_t i) { return want[static_cast<std::size_t>(i)]; });
        CHECK(run(Op::sum, in.const_view(), c.mask, bf16).values<float>() ==
              rounded.values<float>());
      }
    }
}

TEST_CASE("reduce: every op in the documented order") {
  const Combiner<double> add = [](double a, double b) { return a + b; };
  const Combiner<double> multiply = [](double a, double b) { return a * b; };
  const KernelArray in = random_array(f64, {150, 7});
  const std::vector<double> x = in.values<double>();
  const auto mapped = [&](auto f) {
    std::vector<double> y;
    for (std::size_t i = 0; i < x.size(); ++i) y.push_back(f(x[i], i % 7));
    return y;
  };
  const auto column = [&](const std::vector<double>& y) { return one_pass(y, 1, 150, 7, add); };
  CHECK(run(Op::prod, in.const_view(), 1, f64).values<double>() ==
        one_pass(x, 1, 150, 7, multiply));
  std::vector<double> mean = column(x);
  for (double& m : mean) m /= 150;
  CHECK(run(Op::mean, in.const_view(), 1, f64).values<double>() == mean);
  for (const std::int64_t correction : {0, 1, 150, 151}) {
    std::vector<double> var =
        column(mapped([&](double v, std::size_t i) { return (v - mean[i]) * (v - mean[i]); }));
    for (double& v : var) v /= static_cast<double>(std::max<std::int64_t>(0, 150 - correction));
    CHECK(run(Op::var, in.const_view(), 1, f64, correction).values<double>() == var);
  }
  std::vector<double> norm = column(mapped([](double v, std::size_t) { return v * v; }));
  for (double& v : norm) v = std::sqrt(v);
  CHECK(run(Op::norm, in.const_view(), 1, f64).values<double>() == norm);
  const KernelArray log_sum = run(Op::logsumexp, in.const_view(), 1, f64);
  for (std::int64_t i = 0; i < 7; ++i) {
    double sum = 0;
    for (std::size_t r = 0; r < 150; ++r) sum += std::exp(x[r * 7 + static_cast<std::size_t>(i)]);
    CHECK(log_sum.get<double>(i) == doctest::Approx(std::log(sum)).epsilon(1e-12));
  }
}

TEST_CASE("reduce: every dtype and layout") {
  for (const DType dtype : all_dtypes)
    for (const Layout layout : all_layouts)
      for (const Shape& shape : {Shape{5, 6, 7}, Shape{3, 2, 70}, Shape{90, 1, 3}})
        for (std::int64_t mask = 0; mask < 8; ++mask) {
          CAPTURE(to_string(dtype));
          CAPTURE(to_string(shape));
          CAPTURE(mask);
          KernelArray in(dtype, shape, layout);
          in.fill([](std::int64_t i) { return i * 7 % 5 % 3; });
          const DType out = is_floating(dtype) ? dtype : i64;
          const KernelArray sum = run(Op::sum, in.const_view(), mask, out);
          const KernelArray most = run(Op::amax, in.const_view(), mask, dtype);
          const KernelArray least = run(Op::amin, in.const_view(), mask, dtype);
          const KernelArray some = run(Op::any, in.const_view(), mask, boolean);
          const KernelArray every = run(Op::all, in.const_view(), mask, boolean);
          std::vector<std::vector<double>> groups(static_cast<std::size_t>(sum.size()));
          for (std::int64_t i = 0; i < in.size(); ++i) {
            const std::int64_t at[] = {i / shape[2] / shape[1], i / shape[2] % shape[1],
                                       i % shape[2]};
            std::int64_t group = 0;
            for (int axis = 0; axis < 3; ++axis)
              group = group * sum.shape()[axis] + (((mask >> axis) & 1) ? 0 : at[axis]);
            groups[static_cast<std::size_t>(group)].push_back(in.get<double>(i));
          }
          for (std::size_t g = 0; g < groups.size(); ++g) {
            const auto i = static_cast<std::int64_t>(g);
            const auto& x = groups[g];
            double total = 0;
            for (const double v : x) total += v;
            KernelArray rounded(out, {});
            rounded.set(0, total);
            CHECK(sum.get<double>(i) == rounded.get<double>(0));
            CHECK(most.get<double>(i) == *std::max_element(x.begin(), x.end()));
            CHECK(least.get<double>(i) == *std::min_element(x.begin(), x.end()));
            CHECK(some.get<int>(i) == (total > 0));
            CHECK(every.get<int>(i) == (std::count(x.begin(), x.end(), 0.0) == 0));
          }
        }
}

TEST_CASE("reduce: 16-bit floats accumulate in f32") {
  KernelArray one(f16, {}), two(f16, {}), one_b(bf16, {}), one_f(f32, {});
  one.set(0, 1);
  two.set(0, 2);
  one_b.set(0, 1);
  one_f.set(0, 1);
  CHECK(run(Op::sum, one.expanded({4096}), 1, f16).get<double>(0) == 4096);
  CHECK(run(Op::mean, one_b.expanded({70000}), 1, bf16).get<double>(0) == 1);
  CHECK(run(Op::mean, two.expanded({70000}), 1, f16).get<double>(0) == 2);
  CHECK(run(Op::sum, one_f.expanded({20000000}), 1, f32).get<double>(0) == 20000000);
  KernelArray zero(f16, {});
  zero.set(0, 0);
  CHECK(run(Op::logsumexp, zero.expanded({65536}), 1, f16).get<double>(0) == 11.09375);
}

TEST_CASE("reduce: bool and integers accumulate in i64") {
  KernelArray large(i32, {2}), counting(i32, {100000}), truth(boolean, {}), byte(u8, {});
  large.fill([](std::int64_t) { return INT32_MAX; });
  counting.fill([](std::int64_t i) { return i; });
  truth.set(0, true);
  byte.set(0, 255);
  CHECK(run(Op::sum, large.const_view(), 1, i64).get<std::int64_t>(0) == 4294967294);
  CHECK(run(Op::sum, counting.const_view(), 1, i64).get<std::int64_t>(0) == 4999950000);
  CHECK(run(Op::sum, truth.expanded({300}), 1, i64).get<std::int64_t>(0) == 300);
  CHECK(run(Op::sum, byte.expanded({256}), 1, i64).get<std::int64_t>(0) == 65280);
}

TEST_CASE("reduce: more than 2^31 elements") {
  KernelArray one(u8, {});
  one.set(0, 1);
  const std::int64_t count = (std::int64_t{1} << 31) + 8;
  CHECK(run(Op::sum, one.expanded({count}), 1, i64).get<std::int64_t>(0) == count);
}

TEST_CASE("reduce: NaN wins amax and amin at every position") {
  for (const std::int64_t n : {1, 3, 7, 8, 9, 15, 16, 17, 33, 65, 130})
    for (std::int64_t p = 0; p < n; ++p) {
      KernelArray row(f32, {n});
      row.fill([&](std::int64_t i) { return i == p ? nan : static_cast<float>(i); });
      ConstView column = row.const_view();
      column.shape = {n, 2};
      column.strides = {1, 0};
      for (const Op op : {Op::amax, Op::amin}) {
        CHECK(std::isnan(run(op, row.const_view(), 1, f32).get<float>(0)));
        CHECK(std::isnan(run(op, column, 1, f32).get<float>(1)));
      }
      KernelArray at(i64, {1});
      for (const Op op : {Op::argmax, Op::argmin}) {
        arg_reduce(op, row.const_view(), 0, at.view());
        CHECK(at.get<std::int64_t>(0) == p);
      }
    }
}

TEST_CASE("reduce: of zeros, amax takes +0 and amin -0") {
  for (const std::int64_t n : {2, 17, 64, 200})
    for (std::int64_t p = 0; p < n; ++p) {
      KernelArray row(f32, {n});
      row.fill([&](std::int64_t i) { return i == p ? 0.0 : -0.0; });
      CHECK(!std::signbit(run(Op::amax, row.const_view(), 1, f32).get<float>(0)));
      row.fill([&](std::int64_t i) { return i == p ? -0.0 : 0.0; });
      CHECK(std::signbit(run(Op::amin, row.const_view(), 1, f32).get<float>(0)));
    }
}

TEST_CASE("reduce: tails have no element of their own") {
  KernelArray twos(f32, {17}), up(f32, {19}), down(f32, {19}), truths(boolean, {19});
  twos.fill([](std::int64_t) { return 2; });
  up.fill([](std::int64_t i) { return i + 5; });
  down.fill([](std::int64_t i) { return -5 - i; });
  CHECK(run(Op::prod, twos.const_view(), 1, f32).get<float>(0) == 131072);
  CHECK(run(Op::amin, up.const_view(), 1, f32).get<float>(0) == 5);
  CHECK(run(Op::amax, down.const_view(), 1, f32).get<float>(0) == -5);
  for (const bool value : {false, true}) {
    truths.fill([&](std::int64_t) { return value; });
    CHECK(run(Op::any, truths.const_view(), 1, boolean).get<int>(0) == value);
    CHECK(run(Op::all, truths.const_view(), 1, boolean).get<int>(0) == value);
  }
  KernelArray minus_zero(f32, {3});
  minus_zero.fill([](std::int64_t) { return -0.0; });
  CHECK(std::signbit(run(Op::sum, minus_zero.const_view(), 1, f32).get<float>(0)));
}

TEST_CASE("reduce: an empty extent gives the identity") {
  KernelArray none(f32, {3, 0}), no_result(f32, {0, 3});
  const auto first = [&](Op op, DType dtype) {
    const KernelArray out = run(op, none.const_view(), 2, dtype);
    CHECK(out.size() == 3);
    return out.get<double>(2);
  };
  CHECK(first(Op::sum, f32) == 0);
  CHECK(first(Op::prod, f32) == 1);
  CHECK(first(Op::any, boolean) == 0);
  CHECK(first(Op::all, boolean) == 1);
  CHECK(first(Op::norm, f32) == 0);
  CHECK(first(Op::logsumexp, f32) == -infinity);
  CHECK(std::isnan(first(Op::mean, f32)));
  CHECK(run(Op::sum, no_result.const_view(), 2, f32).size() == 0);
}

TEST_CASE("var: no cancellation far from zero") {
  KernelArray far(f32, {16}), constant(f32, {256});
  far.fill([](std::int64_t i) { return 8192.0 + static_cast<double>(i) / 1024; });
  constant.fill([](std::int64_t) { return 1e6; });
  CHECK(run(Op::var, far.const_view(), 1, f32).get<double>(0) ==
        doctest::Approx(21.25 / 1024 / 1024).epsilon(1e-7).scale(0));
  CHECK(run(Op::var, constant.const_view(), 1, f32).get<double>(0) == 0);
}

TEST_CASE("logsumexp: infinities") {
  const auto of = [](float a, float b) {
    KernelArray in(f32, {2});
    in.fill([&](std::int64_t i) { return i == 0 ? a : b; });
    return run(Op::logsumexp, in.const_view(), 1, f32).get<float>(0);
  };
  CHECK(of(-infinity, -infinity) == -infinity);
  CHECK(of(-infinity, 0) == 0);
  CHECK(of(infinity, 1) == infinity);
  CHECK(of(1000, 1000) == doctest::Approx(1000.6931));
  CHECK(std::isnan(of(nan, 1)));
}

TEST_CASE("argmax: the first of equals, along any axis, at any thread count") {
  const int before = cpu::threads();
  for (const int threads : {1, 2}) {
    cpu::set_threads(threads);
    KernelArray zeros(f32, {10007}), at(i64, {1});
    zeros.fill([](std::int64_t i) { return i == 17 || i == 4097 || i == 9999 ? 7 : 0; });
    arg_reduce(Op::argmax, zeros.const_view(), 0, at.view());
    CHECK(at.get<int>(0) == 17);
    arg_reduce(Op::argmin, zeros.const_view(), 0, at.view());
    CHECK(at.get<int>(0) == 0);
  }
  cpu::set_threads(before);
  KernelArray low(f32, {5}), negative(i32, {3}), at(i64, {1});
  low.fill([](std::int64_t) { return -infinity; });
  negative.fill([](std::int64_t i) { return std::array{-5, -3, -9}[static_cast<std::size_t>(i)]; });
  arg_reduce(Op::argmax, low.const_view(), 0, at.view());
  CHECK(at.get<int>(0) == 0);
  arg_reduce(Op::argmax, negative.const_view(), 0, at.view());
  CHECK(at.get<int>(0) == 1);
  for (const Layout layout : all_layouts) {
    KernelArray cube(i32, {3, 9, 4}, layout), along(i64, {3, 1, 4});
    cube.fill([](std::int64_t i) { return i * 11 % 17; });
    arg_reduce(Op::argmin, cube.const_view(), 1, along.view());
    for (std::int64_t i = 0; i < 12; ++i) {
      std::int64_t best = 0;
      const auto value = [&](std::int64_t k) { return cube.get<int>((i / 4 * 9 + k) * 4 + i % 4); };
      for (std::int64_t k = 1; k < 9; ++k)
        if (value(k) < value(best)) best = k;
      CHECK(along.get<std::int64_t>(i) == best);
    }
  }
}

/// Bits of every reduction of some shapes.
std::vector<std::uint64_t> all_reductions() {
  std::vector<std::uint64_t> bits;
  for (const Shape& shape : {Shape{3, 17}, Shape{70, 40}, Shape{9001}, Shape{4100, 65}})
    for (const DType dtype : {f32, f64, i32})
      for (const Op op :
           {Op::sum, Op::prod, Op::amax, Op::amin, Op::mean, Op::var, Op::logsumexp, Op::norm})
        for (const std::int64_t mask : {1, 2}) {
          if (mask >> shape.rank() || (dtype == i32 && op != Op::sum && op != Op::amax)) continue;
          const KernelArray in = random_array(dtype, shape);
          const KernelArray out = run(op, in.const_view(), mask, is_floating(dtype) ? dtype : i64);
          for (std::int64_t i = 0; i < out.size(); ++i) bits.push_back(out.bits(i));
        }
  return bits;
}

TEST_CASE("reduce: the same bits from every instruction set and thread count") {
  const cpu::InstructionSet before = cpu::instruction_set();
  const int threads = cpu::threads();
  cpu::set_instruction_set(cpu::InstructionSet::portable);
  cpu::set_threads(1);
  const auto want = all_reductions();
  for (const auto set : {cpu::InstructionSet::avx2, cpu::InstructionSet::avx512})
    for (const int count : {1, 2}) {
      if (set > cpu::processor().best) continue;
      cpu::set_instruction_set(set);
      cpu::set_threads(count);
      CHECK(all_reductions() == want);
    }
  cpu::set_instruction_set(before);
  cpu::set_threads(threads);
}

}  // namespace
}  // namespace sinter::kernels
