// What elementwise ops give at both levels: NaN, rounding, conversions, wrapping integers and the
// extremes of activations.

#include "runtime/elementwise.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "runtime/foreach.h"
#include "tests/nn_checks.h"

namespace sinter::tests {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr DType floating_dtypes[] = {f16, bf16, f32, f64};
constexpr std::int64_t sizes_around_vectors[] = {1, 3, 7, 8, 9, 15, 16, 17, 33};

Tensor reals(const std::vector<double>& elements, DType dtype = f32) {
  return cast(from_host(elements, {static_cast<std::int64_t>(elements.size())}), dtype);
}

Tensor from_bits(const std::vector<std::uint32_t>& bits) {
  return from_bytes(std::as_bytes(std::span(bits)), f32, {static_cast<std::int64_t>(bits.size())});
}

std::vector<std::uint16_t> bits_of(const Tensor& halves) {
  std::vector<std::uint16_t> bits(static_cast<std::size_t>(halves.element_count()));
  halves.read_bytes(std::as_writable_bytes(std::span(bits)));
  return bits;
}

/// `body` as it is, and as a body of foreach_map.
template <typename Body>
void alone_and_mapped(const std::vector<Tensor>& operands, Body&& body) {
  body(operands, [](const auto& f, const std::vector<Tensor>& x) { return f(x); });
  body(operands, [](const auto& f, const std::vector<Tensor>& x) {
    std::vector<std::vector<Tensor>> lists;
    for (const Tensor& each : x) lists.push_back({each});
    return foreach_map([&](const std::vector<Tensor>& at) { return std::vector<Tensor>{f(at)}; },
                       lists)[0][0];
  });
}

}  // namespace

TEST_CASE("NaN stays NaN at every position of minimum, maximum, relu and clamp, and only there") {
  at_each_level([] {
    for (const DType dtype : floating_dtypes)
      for (const std::int64_t n : sizes_around_vectors)
        for (std::int64_t p = 0; p < n; ++p) {
          CAPTURE(to_string(dtype));
          CAPTURE(n);
          CAPTURE(p);
          const Tensor x = where(arange(n) == p, nan, arange(n, dtype)), one = ones({}, dtype);
          const std::vector<Tensor> results{
              maximum(x, 1), maximum(1, x), maximum(x, one), maximum(one, x),
              minimum(x, 1), minimum(1, x), minimum(x, one), minimum(one, x),
              relu(x),       relu(-x),      clamp(x, 0, 1),  clamp(x, zeros({n}, dtype), one)};
          for (const Tensor& result : results) {
            CHECK(result.dtype() == dtype);
            std::int64_t wrong = 0, at = 0;
            for (const double value : result.to_host<double>())
              wrong += std::isnan(value) != (at++ == p);
            CHECK(wrong == 0);
          }
        }
    for (const Tensor& result :
         {clamp(ones({}), nan, 2), clamp(ones({}), 0, nan), clamp(ones({}), full({}, nan), 2),
          clamp(ones({}), 0, full({}, nan))})
      CHECK(std::isnan(result.item<float>()));
  });
}

TEST_CASE("a chain over every length up to 67 writes its elements and no other") {
  at_each_level([] {
    for (const DType dtype : {f32, f64, bf16, i32})
      for (std::int64_t n = 1; n <= 67; ++n) {
        const Tensor x = arange(n, dtype);
        const Tensor y = where(x % 3 == 0, abs(x - 20) * 2, maximum(x, 7) - 1);
        const std::size_t bytes = static_cast<std::size_t>(n) * item_size(dtype);
        std::vector<std::byte> around(bytes + 128, std::byte{0x5a});
        y.read_bytes(std::span(around).subspan(64, bytes));
        for (std::size_t i = 0; i < 64; ++i)
          CHECK((around[i] == std::byte{0x5a} && around[64 + bytes + i] == std::byte{0x5a}));
        const std::vector<double> values = y.to_host<double>();
        for (std::int64_t i = 0; i < n; ++i)
          CHECK(values[static_cast<std::size_t>(i)] ==
                (i % 3 == 0 ? std::abs(i - 20) * 2 : std::max<std::int64_t>(i, 7) - 1));
      }
  });
}

TEST_CASE("a multiplication and an addition are two roundings") {
  at_each_level([] {
    for (const std::int64_t n : {1, 17, 67})
      for (const DType dtype : {f32, f64}) {
        const std::vector<Tensor> operands{full({n}, -0.25, dtype), full({n}, 0.75, dtype),
                                           full({n}, 0.25, dtype), full({n}, 1.1, dtype),
                                           full({n}, 1.3, dtype)};
        alone_and_mapped(operands, [&](const auto& x, const auto& call) {
          const Tensor root =
              call([](const auto& v) { return sqrt((v[0] / v[1]) * v[1] + v[2]); }, x);
          if (dtype == f32) check_close(root, std::vector(static_cast<std::size_t>(n), 0.0), 0);
          const Tensor zero = call([](const auto& v) { return v[3] * v[4] - v[3] * v[4]; }, x);
          check_close(zero, std::vector(static_cast<std::size_t>(n), 0.0), 0);
        });
      }
    // Against the host: a product of two floats is exact in double.
    const Tensor a = sample({500}, 1) / 7, b = sample({500}, 2) / 3, c = sample({500}, 3) / 11;
    const Floats x = a.to_host<float>(), y = b.to_host<float>(), z = c.to_host<float>();
    Floats sums, differences;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double product = static_cast<double>(
          static_cast<float>(static_cast<double>(x[i]) * static_cast<double>(y[i])));
      sums.push_back(static_cast<float>(product + static_cast<double>(z[i])));
      differences.push_back(static_cast<float>(static_cast<double>(z[i]) - product));
    }
    alone_and_mapped({a, b, c}, [&](const auto& in, const auto& call) {
      CHECK(call([](const auto& v) { return v[0] * v[1] + v[2]; }, in).template to_host<float>() ==
            sums);
      CHECK(call([](const auto& v) { return v[2] - v[0] * v[1]; }, in).template to_host<float>() ==
            differences);
    });
  });
}

TEST_CASE("denormals, NaN and infinities are what they are in the host and in every op") {
  volatile float tiny = 1e-40f;
  at_each_level([&] {
    CHECK(tiny * 1.0f == 1e-40f);
    for (const DType dtype : {f32, f64, bf16}) {
      const Tensor x = reals({1e-40, -1e-40, 3e-39}, dtype);
      const std::vector<double> before = x.to_host<double>();
      CHECK(before[0] != 0);
      check_same((x * 1).to_host<double>(), before);
      check_same((x + 0).to_host<double>(), before);
      check_same(maximum(x, -1).to_host<double>(), before);
      check_same(reshape(amax(stack({x, x}), {0}), {3}).to_host<double>(), before);
      // The processor's products of bf16 take denormals for 0.
      if (dtype != bf16) check_same(matmul(x, eye(3, 3, 0, dtype)).to_host<double>(), before);
    }
    for (const DType dtype : floating_dtypes) {
      const Tensor x = reals({nan, 1, nan, infinity, -infinity}, dtype);
      CHECK(sum(isnan(x)).item<int>() == 2);
      CHECK(sum(x != x).item<int>() == 2);
      CHECK(isinf(x).to_host<int>() == std::vector{0, 0, 0, 1, 1});
      CHECK(isfinite(x).to_host<int>() == std::vector{0, 1, 0, 0, 0});
      check_close(where(isnan(x), 0, x), {0, 1, 0, infinity, -infinity}, 0);
    }
    CHECK(tiny * 1.0f == 1e-40f);
  });
}

TEST_CASE("16-bit floats are rounded before anything looks at them") {
  at_each_level([] {
    for (const auto& [dtype, large] : {std::pair(bf16, 256.0), std::pair(f16, 2048.0)}) {
      const std::vector<Tensor> operands{full({33}, large, dtype), ones({33}, dtype)};
      alone_and_mapped(operands, [](const auto& x, const auto& call) {
        const Tensor same = call([](const auto& v) { return v[0] + v[1] == v[0]; }, x);
        CHECK(sum(same).template item<int>() == 33);
        const Tensor chosen =
            call([](const auto& v) { return where(v[0] + v[1] > v[0], 1, 0); }, x);
        CHECK(sum(chosen).template item<int>() == 0);
      });
      // Each op of a chain rounds as if its value had been stored.
      const auto stored = [&, dtype = dtype](const Tensor& wide) { return cast(wide, dtype); };
      const std::vector<Tensor> chain{stored(sample({200}, 1) / 3), stored(sample({200}, 2) / 7)};
      const Tensor a = cast(chain[0], f32), b = cast(chain[1], f32);
      const Tensor product = cast(stored(a * b), f32);
      const Tensor sums = cast(stored(product + a), f32);
      const Tensor expected = stored(cast(stored(exp(sums)), f32) - b);
      alone_and_mapped(chain, [&](const auto& x, const auto& call) {
        const Tensor y = call([](const auto& v) { return exp(v[0] * v[1] + v[0]) - v[1]; }, x);
        CHECK(bits_of(y) == bits_of(expected));
      });
    }
  });
}

TEST_CASE("conversions to 16-bit floats") {
  at_each_level([] {
    const std::vector<std::uint16_t> converted = bits_of(cast(
        from_bits({0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF, 0xFF800001, 0x7F7FFFFF, 0xFF7FFFFF}), bf16));
    for (std::size_t i = 0; i < 4; ++i) CHECK((converted[i] & 0x7FFF) > 0x7F80);
    CHECK(converted[4] == 0x7F80);
    CHECK(converted[5] == 0xFF80);
    for (const std::uint16_t half : bits_of(cast(from_bits({0x7F800001, 0x7FFFFFFF}), f16)))
      CHECK((half & 0x7FFF) > 0x7C00);
    CHECK(cast(full({}, 65520), f16).item<double>() == infinity);
    CHECK(cast(full({}, 65519), f16).item<double>() == 65504);
    CHECK(cast(full({}, 1 + 0x1p-8), bf16).item<double>() == 1);
    CHECK(cast(full({}, 1 + 0x1p-11), f16).item<double>() == 1);
  });
}

TEST_CASE("f64 becomes a 16-bit float by way of f32, wherever it comes from") {
  for (const auto& [dtype, half_unit] : {std::pair(bf16, 0x1p-8), std::pair(f16, 0x1p-11)})
    at_each_level([dtype = dtype, half_unit = half_unit] {
      const double above = 1 + half_unit + 0x1p-30;  // rounded once it would be the next number
      const Tensor wide = full({20}, above, f64);
      const std::vector<Tensor> ways{cast(wide, dtype),
                                     cast(from_host(std::vector(20, above), {20}), dtype),
                                     cast(cast(wide, f32), dtype),
                                     full({20}, above, dtype),
                                     ones({20}, dtype) * above,
                                     zeros({20}, dtype) + above,
                                     where(ones({20}, boolean), above, zeros({20}, dtype)),
                                     pad(zeros({0}, dtype), {20}, {0}, above),
                                     expand(cast(slice(wide, 0, 3, 4), dtype), {20})};
      for (const Tensor& way : ways) {
        CHECK(way.dtype() == dtype);
        check_close(way, std::vector(20, 1.0), 0);
      }
      const auto mapped = foreach_map(
          [&](const std::vector<Tensor>& x) { return std::vector{cast(x[0], dtype)}; }, {{wide}});
      check_close(mapped[0][0], std::vector(20, 1.0), 0);
    });
}

TEST_CASE("integers wrap, and a division by zero is an error") {
  at_each_level([] {
    for (const std::int64_t n : {1, 17, 67}) {
      const Tensor most = full_integer({n}, INT32_MAX, i32),
                   low = full_integer({n}, INT32_MIN, i32);
      alone_and_mapped({most, low}, [&](const auto& x, const auto& call) {
        const auto all_are = [&](const Tensor& y, std::int64_t value) {
          CHECK(y.to_host<std::int64_t>() == Integers(static_cast<std::size_t>(n), value));
        };
        all_are(call([](const auto& v) { return floor_divide(v[0] * 2, 2); }, x), -1);
        all_are(call([](const auto& v) { return v[0] + 1 > v[0]; }, x), 0);
        all_are(call([](const auto& v) { return cast(v[0] + 1, i64); }, x), INT32_MIN);
        all_are(call([](const auto& v) { return floor_divide(v[1], -1); }, x), INT32_MIN);
        all_are(call([](const auto& v) { return remainder(v[1], -1); }, x), 0);
        all_are(call([](const auto& v) { return fmod(v[1], -1); }, x), 0);
        all_are(call([](const auto& v) { return -v[1]; }, x), INT32_MIN);
        all_are(call([](const auto& v) { return abs(v[1]); }, x), INT32_MIN);
        all_are(call([](const auto& v) { return square(v[0]); }, x), 1);
        all_are(call([](const auto& v) { return pow(v[0], 3); }, x), INT32_MAX);
      });
    }
    const Tensor lowest = full_integer({3}, INT64_MIN);
    CHECK(floor_divide(lowest, -1).to_host<std::int64_t>() == Integers(3, INT64_MIN));
    CHECK((lowest % -1).to_host<std::int64_t>() == Integers(3, 0));
    CHECK((full_integer({1}, 200, u8) + full_integer({1}, 100, u8)).item<int>() == 44);
    for (const DType dtype : {u8, i32, i64}) {
      const Tensor five = full_integer({9}, 5, dtype), zero = zeros({}, dtype);
      using Divide = Tensor (*)(Operand, Operand, Where);
      for (const auto& [name, op] : std::initializer_list<std::pair<const char*, Divide>>{
               {"floor_divide", floor_divide}, {"remainder", remainder}, {"fmod", fmod}}) {
        const auto read = [&, op = op] { op(five, zero, Where::current()).evaluate(); };
        CHECK(contains(usage_message(read), std::string(name) + ": integer division by zero"));
      }
    }
  });
}

TEST_CASE("activations at the extremes") {
  at_each_level([] {
    for (const DType dtype : floating_dtypes) {
      CAPTURE(to_string(dtype));
      const double tolerance = dtype == f32 ? 1e-6 : dtype == f64 ? 1e-7 : 1e-2;
      const double far = dtype == f16 ? 6e4 : 1e20;
      const double distance = cast(full({}, far), dtype).item<double>();
      const Tensor x = reals({infinity, -infinity, far, -far, -1e4, 1, -1}, dtype);
      check_close(gelu(x), {infinity, 0, distance, 0, 0, 0.8413447, -0.1586553}, tolerance);
      check_close(gelu_tanh(x), {infinity, 0, distance, 0, 0, 0.8411920, -0.1588080}, tolerance);
      check_close(silu(x), {infinity, 0, distance, 0, 0, 0.7310586, -0.2689414}, tolerance);
      check_close(tanh(x), {1, -1, 1, -1, -1, 0.7615942, -0.7615942}, tolerance);
      check_close(sigmoid(x), {1, 0, 1, 0, 0, 0.7310586, 0.2689414}, tolerance);
      check_close(tanh(reals({1e4, -1e4}, dtype)), {1, -1}, 0);
      check_close(sigmoid(reals({-200}, dtype)), {0}, dtype == f64 ? 1e-80 : 0);
      check_close(silu(reals({-1e4}, dtype)), {0}, 0);
    }
  });
}

TEST_CASE("derivatives of activations at the extremes, alone and inside of linear") {
  const std::vector<double> gelu_slopes{1, 0, 1, 0, 0, 1.0833155, -0.0833155};
  const std::vector<double> tanh_slopes{1, 0, 1, 0, 0, 1.0829641, -0.0829641};
  const std::vector<double> silu_slopes{1, 0, 1, 0, 0, 0.9276706, 0.0723294};
  at_each_level([&] {
    for (const DType dtype : floating_dtypes) {
      CAPTURE(to_string(dtype));
      const double tolerance = dtype == f32 ? 1e-6 : dtype == f64 ? 1e-7 : 1e-2;
      const double far = dtype == f16 ? 6e4 : 1e20;
      const Tensor x = reals({infinity, -infinity, far, -far, -1e4, 1, -1}, dtype);
      const auto slopes = [&](const Tensor& y) { return grad(sum(y), std::vector<Tensor>{x})[0]; };
      check_close(slopes(gelu(x)), gelu_slopes, tolerance);
      check_close(slopes(gelu_tanh(x)), tanh_slopes, tolerance);
      check_close(slopes(silu(x)), silu_slopes, tolerance);
      const Tensor one = ones({1, 1}, dtype);
      const auto through = [&](Activation activation) {
        return slopes(linear(unsqueeze(x, 1), one, {}, activation));
      };
      check_close(through(Activation::gelu), gelu_slopes, tolerance);
      check_close(through(Activation::gelu_tanh), tanh_slopes, tolerance);
      check_close(through(Activation::silu), silu_slopes, tolerance);
      const Tensor again =
          grad(sum(gelu_tanh(x)), std::vector<Tensor>{x}, {.create_graph = true})[0];
      for (const double value : slopes(again).to_host<double>()) CHECK(std::isfinite(value));
    }
  });
}

}  // namespace sinter::tests
