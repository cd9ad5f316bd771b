// Calls that have no meaning, of the functions that move elements, of the layers, of
// differentiation and of foreach_map.

#include <cmath>

#include "tests/refusal.h"

namespace sinter::tests {
namespace {

constexpr std::int64_t lowest = INT64_MIN, highest = INT64_MAX;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Tensor f(const Shape& shape) { return ones(shape); }
Tensor n(const Shape& shape) { return zeros(shape, i64); }
Tensor at_index(std::int64_t value) { return full_integer({1}, value); }
const Tensor none;

}  // namespace

TEST_CASE("bad input: joining") {
  const std::int64_t most = highest / 8;
  REFUSES("concatenate", concatenate({}));
  REFUSES("concatenate", concatenate({f({2}), none}));
  REFUSES("concatenate", concatenate({f({2}), f({2, 2})}));
  REFUSES("concatenate", concatenate({f({})}));
  REFUSES("concatenate", concatenate({expand(f({1}), {most}), expand(f({1}), {most})}));
  REFUSES("stack", stack({}));
  REFUSES("stack", stack({f({2}), f({3})}));
  REFUSES("stack", stack({f({2})}, 2));
  REFUSES("stack", stack({f({1, 1, 1, 1, 1, 1, 1, 1})}));
  REFUSES("pad", pad(none, {}, {}));
  REFUSES("pad", pad(f({2}), {1}, {}));
  REFUSES("pad", pad(f({2}), {-1}, {0}));
  REFUSES("pad", pad(f({2}), {highest}, {1}));
  REFUSES("pad", pad(n({2}), {1}, {0}, nan));
  REFUSES("pad", pad(zeros({2}, u8), {1}, {0}, 300));
  REFUSES("slice_update", slice_update(none, f({1}), {0}));
  REFUSES("slice_update", slice_update(f({2}), f({1}), {2}));
  REFUSES("slice_update", slice_update(f({2}), f({2}), {0}, {2}));
  REFUSES("slice_update", slice_update(f({2}), f({2}), {1}, {lowest}));
  REFUSES("slice_update", slice_update(f({2}), f({1}), {0}, {0}));
  REFUSES("slice_update", slice_update(f({2}), n({1}), {0}));
}

TEST_CASE("bad input: indices") {
  REFUSES("take", take(none, n({1}), 0));
  REFUSES("take", take(f({2}), f({2}), 0));
  REFUSES("take", take(f({}), n({1}), 0));
  REFUSES("take", take(f({2, 2}), n({1, 1, 1, 1, 1, 1, 1, 1}), 0));
  for (const std::int64_t index : {std::int64_t{-1}, std::int64_t{2}, lowest, highest}) {
    REFUSES("take", take(f({2}), at_index(index), 0).evaluate());
    REFUSES("gather", gather(f({2}), 0, at_index(index)).evaluate());
    REFUSES("scatter_add", scatter_add(f({2}), 0, at_index(index), f({1})).evaluate());
    REFUSES("index_add", index_add(f({2}), 0, at_index(index), f({1})).evaluate());
  }
  REFUSES("take", take(f({0}), n({1}), 0).evaluate());
  REFUSES("embedding", embedding(f({2}), n({1})));
  REFUSES("embedding", embedding(f({2, 2}), f({1})));
  REFUSES("index_select", index_select(f({2}), 0, n({1, 1})));
  REFUSES("index_select", index_select(f({2}), 3, n({1})));
  REFUSES("index_add", index_add(f({2}), 0, n({1}), none));
  REFUSES("index_add", index_add(f({2}), 0, n({1}), f({2})));
  REFUSES("index_add", index_add(f({2}), 0, n({1}), n({1})));
  REFUSES("gather", gather(f({2}), 0, n({1, 1})));
  REFUSES("gather", gather(f({2, 2}), 0, n({2, 3})));
  REFUSES("scatter_add", scatter_add(f({2}), 0, n({1}), f({2})));
}

TEST_CASE("bad input: order") {
  REFUSES("tril", tril(f({2})));
  REFUSES("triu", triu(none));
  REFUSES("cumsum", cumsum(f({}), 0));
  REFUSES("sort", sort(f({2}), 1));
  REFUSES("argsort", argsort(none));
  REFUSES("topk", topk(f({2}), 3));
  REFUSES("topk", topk(f({2}), -1));
  REFUSES("topk", topk(f({}), 1));
}

TEST_CASE("bad input: products") {
  REFUSES("matmul", matmul(f({}), f({2})));
  REFUSES("matmul", matmul(f({2, 3}), f({4, 5})));
  REFUSES("matmul", matmul(f({2, 2, 3}), f({3, 3, 2})));
  REFUSES("matmul", matmul(f({2}) > 0, f({2}) > 0));
  REFUSES("linear", linear(f({}), f({2, 2})));
  REFUSES("linear", linear(f({3}), f({2, 2})));
  REFUSES("linear", linear(n({2}), f({2, 2})));
  REFUSES("linear", linear(f({2}), f({2, 2}), f({3})));
  REFUSES("linear", linear(f({2}), f({2, 2}), {}, Activation::none, f({3})));
  REFUSES("conv2d_patches", conv2d_patches(f({1, 1, 1}), f({1, 1, 1, 1})));
  REFUSES("conv2d_patches", conv2d_patches(f({1, 1, 3, 3}), f({1, 1, 2, 2})));
  REFUSES("conv2d_patches", conv2d_patches(f({1, 1, 2, 2}), f({1, 1, 0, 2})));
  REFUSES("conv2d_patches", conv2d_patches(f({1, 1, 2, 2}), f({1, 1, 2, 2}), f({2})));
  REFUSES("conv2d_patches", conv2d_patches(f({1, 1, 2, 2}), f({1, 1, 2, 2}), n({1})));
}

TEST_CASE("bad input: norms and losses") {
  REFUSES("softmax", softmax(f({})));
  REFUSES("softmax", softmax(n({2})));
  REFUSES("log_softmax", log_softmax(f({2}), -2));
  REFUSES("layer_norm", layer_norm(f({})));
  REFUSES("layer_norm", layer_norm(f({2}), f({3})));
  REFUSES("layer_norm", layer_norm(f({2}), f({}), {}));
  REFUSES("layer_norm", layer_norm(f({2}), {}, {}, nan));
  REFUSES("rms_norm", rms_norm(n({2})));
  REFUSES("rms_norm", rms_norm(f({2}), {}, -1));
  REFUSES("cross_entropy", cross_entropy(f({}), n({})));
  REFUSES("cross_entropy", cross_entropy(f({1, 2}), n({2})));
  REFUSES("cross_entropy", cross_entropy(f({1, 0}), n({1})));
  REFUSES("cross_entropy", cross_entropy(f({1, 2}), at_index(2)).evaluate());
  REFUSES("cross_entropy", cross_entropy(f({1, 2}), n({1}), {.label_smoothing = nan}));
  REFUSES("cross_entropy", cross_entropy(f({1, 2}), n({1}), {.weight = f({3})}));
  REFUSES("dropout", dropout(f({2}), nan));
  REFUSES("dropout", dropout(n({2}), 0.5));
}

TEST_CASE("bad input: attention") {
  constexpr std::string_view op = "scaled_dot_product_attention";
  const Tensor q = f({1, 1, 2, 2});
  REFUSES(op, scaled_dot_product_attention(none, q, q));
  REFUSES(op, scaled_dot_product_attention(f({2, 2}), q, q));
  REFUSES(op, scaled_dot_product_attention(f({2, 1, 2, 2}), q, q));
  REFUSES(op, scaled_dot_product_attention(q, f({1, 0, 2, 2}), f({1, 0, 2, 2})));
  REFUSES(op, scaled_dot_product_attention(q, q, f({1, 1, 3, 2})));
  REFUSES(op, scaled_dot_product_attention(q, q, q, {.mask = n({2, 2})}));
  REFUSES(op, scaled_dot_product_attention(q, q, q, {.mask = f({1, 1, 1, 2, 2})}));
  REFUSES(op, scaled_dot_product_attention(q, q, q, {.dropout = nan}));
}

TEST_CASE("bad input: gradients") {
  const Variable w(f({2}), "w"), absent;
  REFUSES("grad", grad(none, std::vector<Tensor>{f({2})}));
  REFUSES("grad", grad(f({2}), std::vector<Tensor>{f({2})}));
  REFUSES("grad", grad(sum(w), std::vector<Tensor>{none}));
  REFUSES("Variable", grad(sum(w), std::vector<Variable>{absent}));
  REFUSES("vjp", vjp({w * 2}, {}, {w}));
  REFUSES("vjp", vjp({w * 2}, {f({3})}, {w}));
  REFUSES("vjp", vjp({w * 2}, {n({2})}, {w}));
  const auto twice = [](const std::vector<Tensor>& in) { return in[0] * 2; };
  const auto nothing = [](const std::vector<Tensor>&, const Tensor&, const Tensor&) {
    return std::vector<Tensor>{};
  };
  REFUSES("custom_gradient", custom_gradient(nullptr, nothing, {w}));
  REFUSES("custom_gradient", custom_gradient(twice, nullptr, {w}));
  REFUSES("custom_gradient", custom_gradient(twice, nothing, {none}));
  REFUSES("custom_gradient",
          grad(sum(custom_gradient(twice, nothing, {w})), std::vector<Variable>{w}));
  REFUSES("Autocast", Autocast(i32));
}

TEST_CASE("bad input: foreach_map") {
  using Values = std::vector<Tensor>;
  const std::vector<Values> lists{{f({2}), f({3})}};
  const auto same = [](const Values& x) { return x; };
  constexpr std::string_view op = "foreach_map";
  REFUSES(op, foreach_map(nullptr, lists));
  REFUSES(op, foreach_map(same, {}));
  REFUSES(op, foreach_map(same, {{none}}));
  REFUSES(op, foreach_map(same, {{f({2})}, {}}));
  REFUSES(op, foreach_map(same, {{f({2})}, {f({3})}}));
  REFUSES(op, foreach_map(same, {{f({2}), n({2})}}));
  REFUSES(op, foreach_map([](const Values&) { return Values{none}; }, lists));
  REFUSES(op, foreach_map([](const Values&) { return Values{f({2})}; }, lists));
  REFUSES(op, foreach_map([](const Values& x) { return Values{x[0] + f({2})}; }, lists));
  REFUSES(op, foreach_map([](const Values& x) { return Values{sum(x[0])}; }, lists));
  at_each_level([&] {  // a stand-in has no value to read, and outside of the body no meaning
    Tensor kept;
    CHECK_THROWS_AS(
        foreach_map([](const Values& x) { return Values{x[0] * x[0].item<float>()}; }, lists),
        UsageError);
    foreach_map(
        [&](const Values& x) {
          kept = x[0] + 1;
          return x;
        },
        lists);
    CHECK((f({2}) + 1).to_host<float>() == std::vector<float>(2, f({2}).to_host<float>()[0] + 1));
    CHECK_THROWS_WITH_AS(kept.item<float>(), doctest::Contains("foreach_map: "), UsageError);
    CHECK_THROWS_WITH_AS((kept * 2).evaluate(), doctest::Contains("foreach_map: "), UsageError);
    CHECK((f({2}) + 1).to_host<float>().size() == 2);  // although `kept` is still held
    kept = Tensor();
    const Tensor scale = f({}) + 1;
    const auto reads_another = [&](const Values& x) {
      const Tensor doubled = x[0] * 2;
      return Values{doubled * scale.item<float>()};
    };
    CHECK(foreach_map(reads_another, lists)[0][0].to_host<float>().size() == 2);
    CHECK_THROWS_AS(
        foreach_map([](const Values&) -> Values { throw std::logic_error("mine"); }, lists),
        std::logic_error);
    CHECK(grad_enabled());
  });
}

}  // namespace sinter::tests
