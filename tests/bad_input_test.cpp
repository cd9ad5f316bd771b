// Calls that have no meaning: each function refuses them with its name and the caller's line, at
// every level, and never crashes.

#include <cmath>
#include <thread>

#include "tests/refusal.h"

namespace sinter::tests {
namespace {

constexpr std::int64_t huge = std::int64_t{1} << 40;
constexpr std::int64_t lowest = INT64_MIN, highest = INT64_MAX;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

Tensor f(const Shape& shape) { return ones(shape); }
Tensor indices(std::int64_t value = 0) { return full_integer({1}, value); }
const Tensor none;

}  // namespace

TEST_CASE("bad input: tensors and Variables that are not there") {
  const Variable absent;
  REFUSES("shape", none.shape());
  REFUSES("rank", none.rank());
  REFUSES("dtype", none.dtype());
  REFUSES("element_count", none.element_count());
  REFUSES("requires_grad", none.requires_grad());
  REFUSES("size", none.size(0));
  REFUSES("item", none.item<float>());
  REFUSES("to_host", none.to_host<float>());
  REFUSES("evaluate", none.evaluate());
  REFUSES("Variable", Variable{none});
  REFUSES("Variable", absent.value());
  REFUSES("Variable", absent.shape());
  REFUSES("Variable", absent.dtype());
  REFUSES("Variable", absent.name());
  REFUSES("Variable", absent.set(f({2})));
  REFUSES("Variable", absent + 1);
  REFUSES("Variable", exp(absent));
  REFUSES("Variable", Variable(f({2})).set(none));
  REFUSES("Variable", Variable(f({2})).set(f({3})));
  REFUSES("Variable", Variable(f({2})).set(cast(f({2}), i64)));
  REFUSES("to_dlpack", to_dlpack(none));
}

TEST_CASE("bad input: elementwise ops") {
#define SINTER_UNARY(name, ...) REFUSES(#name, sinter::name(none));
#define SINTER_BINARY(name, ...)              \
  REFUSES(#name, sinter::name(none, f({2}))); \
  REFUSES(#name, sinter::name(f({2}), none)); \
  REFUSES(#name, sinter::name(1, 2));         \
  REFUSES(#name, sinter::name(cast(f({2}), i32), cast(f({3}), i32)));
#define SINTER_TERNARY(name, ...) REFUSES(#name, sinter::name(none, f({2}), f({2})));
#include "runtime/ops.def"
  REFUSES("neg", -none);
  REFUSES("logical_not", !none);
  REFUSES("bitwise_not", ~none);
  REFUSES("neg", -(f({2}) > 0));
  REFUSES("sub", (f({2}) > 0) - (f({2}) > 0));
  REFUSES("bitwise_and", f({2}) & f({2}));
  REFUSES("add", f({2}) + none);
  REFUSES("mul", 2 * none);
  REFUSES("where", where(f({2}), 1, 2));
  REFUSES("clamp", clamp(none, 0, 1));
  REFUSES("lerp", lerp(f({2}), none, 0.5));
  REFUSES("elu", elu(none));
  REFUSES("leaky_relu", leaky_relu(none));
  REFUSES("cast", cast(none, f32));
  REFUSES("add", expand(f({1}), {huge, 1}) + expand(f({1}), {1, huge}));
  Tensor t = f({2});
  REFUSES("mul", t *= f({3}));
  CHECK(t.shape() == Shape{2});
}

TEST_CASE("bad input: a not of a tensor is a tensor") {
  at_each_level([] { CHECK((!floats({0, 2})).to_host<bool>() == std::vector<bool>{true, false}); });
}

TEST_CASE("bad input: shapes and views") {
  const Tensor eight = f({1, 1, 1, 1, 1, 1, 1, 1});
  REFUSES("shape", f({1, 1, 1, 1, 1, 1, 1, 1, 1}));
  REFUSES("ones", ones({-1}));
  REFUSES("ones", ones({huge, huge}));
  REFUSES("reshape", reshape(f({0}), {std::int64_t{1} << 32, std::int64_t{1} << 32}));
  REFUSES("reshape", reshape(f({1}), {static_cast<std::int64_t>(0xAAAAAAAAAAAAAAABu), 3}));
  REFUSES("reshape", reshape(f({6}), {-1, -1}));
  REFUSES("reshape", reshape(f({0}), {-1, 0}));
  REFUSES("reshape", reshape(f({6}), {-1, 4}));
  REFUSES("reshape", reshape(none, {1}));
  REFUSES("flatten", flatten(none));
  REFUSES("flatten", flatten(f({2, 3}), 1, 0));
  REFUSES("flatten", flatten(f({}), 0, 0));
  REFUSES("squeeze", squeeze(f({2}), 0));
  REFUSES("squeeze", squeeze(f({}), 0));
  REFUSES("unsqueeze", unsqueeze(f({}), 2));
  REFUSES("unsqueeze", unsqueeze(eight, 0));
  REFUSES("permute", permute(f({2, 3}), {0, 0}));
  REFUSES("permute", permute(f({2, 3}), {0}));
  REFUSES("transpose", transpose(f({2})));
  REFUSES("move_axis", move_axis(f({2, 3}), 0, 2));
  REFUSES("expand", expand(f({2}), {3}));
  REFUSES("expand", expand(f({1}), {huge, huge}));
  REFUSES("expand", expand(f({1}), {-2}));
  REFUSES("slice", slice(f({2}), 0, 0, 1, 0));
  REFUSES("slice", slice(f({}), 0, 0));
  REFUSES("narrow", narrow(f({2}), 0, highest, highest));
  REFUSES("narrow", narrow(f({2}), 0, lowest, highest));
  REFUSES("select", select(f({2}), 0, lowest));
  REFUSES("select", select(f({0}), 0, 0));
  REFUSES("flip", flip(f({2}), {0, 0}));
  REFUSES("split", split(f({4}), 0));
  REFUSES("split", split(f({4}), Integers{5, -1}));
  REFUSES("split", split(f({4}), Integers{highest, highest, 6}));
  REFUSES("detach", detach(none));
  REFUSES("size", f({2}).size(1));
  at_each_level([] {  // bounds of a slice clip, whatever they are
    CHECK(slice(floats({1, 2}), 0, lowest, highest, highest).to_host<float>() == Floats{1});
    CHECK(slice(floats({1, 2}), 0, highest, lowest, lowest).to_host<float>() == Floats{2});
  });
}

TEST_CASE("bad input: creation") {
  Generator g(1);
  REFUSES("full", full({2}, nan, i32));
  REFUSES("full", full({2}, 1e30, i64));
  REFUSES("full", full({2}, 300, u8));
  REFUSES("full", full({2}, 1.5, i32));
  REFUSES("full_integer", full_integer({2}, -1, u8));
  REFUSES("zeros_like", zeros_like(none));
  REFUSES("ones_like", ones_like(none));
  REFUSES("arange", arange(0, 10, 0));
  REFUSES("arange", arange(0, inf));
  REFUSES("arange", arange(inf, 0, -1, f32));
  REFUSES("arange", arange(0, -inf));
  REFUSES("arange", arange(0, nan));
  REFUSES("arange", arange(1e300, 1e301, 1e300));
  REFUSES("arange", arange(0, 5, 0.5, i64));
  REFUSES("arange", arange(-1));
  REFUSES("arange", arange(300, u8));
  REFUSES("eye", eye(-1, 2));
  REFUSES("one_hot", one_hot(f({2}), 2));
  REFUSES("uniform", uniform({2}, g, nan, 1));
  REFUSES("uniform", uniform({2}, g, 2, 1));
  REFUSES("uniform", uniform({2}, g, 0, inf));
  REFUSES("uniform", uniform({2}, g, 0, 1, i32));
  REFUSES("normal", normal({2}, g, 0, -1));
  REFUSES("normal", normal({2}, g, 0, 1, i64));
  REFUSES("bernoulli", bernoulli({2}, nan, g));
  REFUSES("random_integers", random_integers({2}, 3, 3, g));
  REFUSES("random_integers", random_integers({2}, lowest, highest, g));
  REFUSES("random_integers", random_integers({2}, 0, 1000, g, u8));
  REFUSES("random_integers", random_integers({2}, 0, 2, g, f32));
  CHECK(g.ordinal() == 0);  // what is refused draws nothing
}

TEST_CASE("bad input: reductions") {
  using Reduce = Tensor (*)(const Tensor&, const Dims&, bool, Where);
  for (const auto& [name, reduce] :
       std::initializer_list<std::pair<const char*, Reduce>>{{"sum", sum},
                                                             {"prod", prod},
                                                             {"mean", mean},
                                                             {"amax", amax},
                                                             {"amin", amin},
                                                             {"any", any},
                                                             {"all", all},
                                                             {"logsumexp", logsumexp},
                                                             {"norm", norm}}) {
    REFUSES(name, reduce(none, {}, false, Where::current()));
    REFUSES(name, reduce(f({2}), {1}, false, Where::current()));
    REFUSES(name, reduce(f({2}), {0, 0}, false, Where::current()));
    REFUSES(name, reduce(f({}), {0}, false, Where::current()));
  }
  REFUSES("var", var(none));
  REFUSES("std", sinter::std(f({2}), {1}));
  REFUSES("var", var(indices()));
  REFUSES("mean", mean(indices()));
  REFUSES("amax", amax(f({0})));
  REFUSES("amin", amin(f({2, 0}), {1}));
  REFUSES("argmax", argmax(f({0})));
  REFUSES("argmax", argmax(f({2}), 1));
  REFUSES("argmin", argmin(f({}), 0));
}

TEST_CASE("bad input: host memory") {
  const Floats four{1, 2, 3, 4};
  std::byte bytes[4];
  REFUSES("item", f({2}).item<float>());
  REFUSES("item", f({0}).item<float>());
  REFUSES("read_bytes", f({2}).read_bytes(bytes));
  REFUSES("from_host", from_host(four, {3}));
  REFUSES("from_host", from_host(four, {-4}));
  REFUSES("borrow", borrow(nullptr, f32, {2}, nullptr));
  REFUSES("borrow", borrow(reinterpret_cast<const char*>(four.data()) + 1, f32, {2}, nullptr));
  REFUSES("borrow", borrow_strided(four.data(), f32, {2}, {1, 1}, nullptr));
  REFUSES("borrow", borrow_strided(four.data(), f32, {4}, {std::int64_t{1} << 61}, nullptr));
  REFUSES("borrow", borrow_strided(four.data(), f32, {2, 2}, {lowest, 1}, nullptr));
  REFUSES("from_dlpack", from_dlpack(nullptr));
  REFUSES("set_threads", set_threads(0));
  REFUSES("set_threads", set_threads(100'000));
  REFUSES("set_logs", set_logs("nope"));
}

TEST_CASE("bad input: levels, autocast and blocks of memory") {
  for (const int no_level : {3, 7, 255})
    REFUSES("set_level", set_level(static_cast<Level>(no_level)));
  for (const DType dtype : {boolean, u8, i32, i64, f32, f64}) {
    REFUSES("Autocast", Autocast(dtype));
    CHECK_FALSE(autocast_dtype().has_value());
  }
  REFUSES("Buffer", Buffer::borrow(nullptr, 1, nullptr));
  CHECK(Buffer::borrow(nullptr, 0, nullptr)->bytes() == 0);
  at_each_level([] {
    CHECK_THROWS_WITH_AS(Buffer::allocate(~std::size_t{0}), doctest::Contains("memory: "), Error);
    const auto product = [] { return matmul(f({2, 2}), f({2, 2})).dtype(); };
    const NoAutocast without_any;
    CHECK(product() == f32);
    {
      const Autocast low(bf16);
      CHECK(product() == bf16);
      try {
        const NoAutocast exact;
        CHECK(product() == f32);
        const Autocast lower(f16);
        CHECK(product() == f16);
        matmul(f({2, 2}), f({3, 2}));
      } catch (const UsageError&) {
        CHECK(product() == bf16);  // an exception leaves no mode behind
      }
      std::thread([&] { CHECK(product() == f32); }).join();
    }
    CHECK(product() == f32);
  });
}

TEST_CASE("a level that is set counts from the next evaluation on, whoever recorded") {
  const AtLevel before(Level::interpret);
  const Tensor recorded = exp(floats({0, 1})) * 2;
  const Tensor kept = recorded + 1;
  REFUSES("set_level", set_level(static_cast<Level>(9)));
  CHECK(level() == Level::interpret);
  set_level(Level::eager);
  CHECK(kept.to_host<float>()[0] == 3);
  set_level(Level::interpret);
  CHECK((recorded + kept).to_host<float>()[0] == 5);
}

TEST_CASE("bad input: what memory does not hold fails alone") {
  at_each_level([] {
    const Tensor large = full({huge}, 1);
    CHECK_THROWS_WITH_AS(large.evaluate(), doctest::Contains("bad_input_test.cpp"), Error);
    CHECK(sum(floats({1, 2})).item<float>() == 3);  // although `large` is still held
    CHECK_THROWS_WITH_AS(large.evaluate(), doctest::Contains("could not be allocated"), Error);
  });
}

}  // namespace sinter::tests
