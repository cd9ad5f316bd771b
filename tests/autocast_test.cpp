// The dtypes ops give under autocast, as PyTorch 2.15 gives them on the CPU.

#include <functional>

#include "tests/each_level.h"

namespace sinter::tests {
namespace {

/// What torch.autocast("cpu", dtype) gives for operands of bf16, f16, f32 and f64: the low dtype
/// but f64 for f64, f32 but f64 for f64, or the operands' own.
enum class Gives { low, f32, own };

struct Row {
  const char* name;
  Gives gives;
  std::function<Tensor(const Tensor&)> run;  ///< on a 4 x 4 tensor
};

const std::vector<Row>& rows() {
  const auto batch = [](const Tensor& x) { return reshape(x, {1, 1, 4, 4}); };
  static const std::vector<Row> all = {
      {"matmul", Gives::low, [](const Tensor& x) { return matmul(x, x); }},
      {"matmul with a vector", Gives::low,
       [](const Tensor& x) { return matmul(x, select(x, 0, 0)); }},
      {"linear", Gives::low, [](const Tensor& x) { return linear(x, x, select(x, 0, 0)); }},
      {"conv2d_patches", Gives::low,
       [=](const Tensor& x) { return conv2d_patches(batch(x), batch(x)); }},
      {"attention", Gives::low,
       [=](const Tensor& x) { return scaled_dot_product_attention(batch(x), batch(x), batch(x)); }},
      {"prod", Gives::f32, [](const Tensor& x) { return prod(x); }},
      {"prod of an axis", Gives::f32, [](const Tensor& x) { return prod(x, {0}, true); }},
      {"cross_entropy", Gives::f32, [](const Tensor& x) { return cross_entropy(x, arange(4)); }},
      {"sum", Gives::own, [](const Tensor& x) { return sum(x); }},
      {"mean", Gives::own, [](const Tensor& x) { return mean(x); }},
      {"var", Gives::own, [](const Tensor& x) { return var(x); }},
      {"std", Gives::own, [](const Tensor& x) { return sinter::std(x); }},
      {"logsumexp", Gives::own, [](const Tensor& x) { return logsumexp(x); }},
      {"norm", Gives::own, [](const Tensor& x) { return norm(x); }},
      {"amax", Gives::own, [](const Tensor& x) { return amax(x); }},
      {"softmax", Gives::own, [](const Tensor& x) { return softmax(x); }},
      {"log_softmax", Gives::own, [](const Tensor& x) { return log_softmax(x); }},
      {"layer_norm", Gives::own, [](const Tensor& x) { return layer_norm(x); }},
      {"rms_norm", Gives::own, [](const Tensor& x) { return rms_norm(x); }},
      {"exp", Gives::own, [](const Tensor& x) { return exp(x); }},
      {"pow", Gives::own, [](const Tensor& x) { return pow(x, 2.5); }},
      {"rsqrt", Gives::own, [](const Tensor& x) { return rsqrt(x); }},
      {"gelu", Gives::own, [](const Tensor& x) { return gelu(x); }},
      {"dropout", Gives::own, [](const Tensor& x) { return dropout(x, 0.5); }},
      {"cumsum", Gives::own, [](const Tensor& x) { return cumsum(x, 0); }},
      {"embedding", Gives::own, [](const Tensor& x) { return embedding(x, arange(4)); }},
      {"sort", Gives::own, [](const Tensor& x) { return sort(x).first; }},
  };
  return all;
}

}  // namespace

TEST_CASE("autocast: each op gives PyTorch's dtype") {
  for (const DType low : {bf16, f16})
    for (const DType dtype : {bf16, f16, f32, f64})
      for (const auto& [name, gives, run] : rows()) {
        const std::string_view to = to_string(low), from = to_string(dtype);
        CAPTURE(name);
        CAPTURE(to);
        CAPTURE(from);
        const Tensor x = full({4, 4}, 0.5, dtype);
        const Autocast autocast(low);
        const DType got = run(x).dtype();
        if (gives == Gives::own || dtype == f64) CHECK(got == dtype);
        else CHECK(got == (gives == Gives::low ? low : f32));
      }
}

TEST_CASE("autocast: operands of two dtypes promote as ever") {
  const Autocast autocast(bf16);
  const Tensor x = ones({4, 4}), low = ones({4, 4}, bf16);
  CHECK((low + x).dtype() == f32);
  CHECK(concatenate({low, x}).dtype() == f32);
  CHECK(matmul(ones({2, 2}, i64), ones({2, 2}, i64)).dtype() == i64);
  CHECK(prod(ones({2}, i64)).dtype() == i64);
}

TEST_CASE("autocast: prod of 16-bit floats is that in f32, its gradient has their dtype") {
  at_each_level([] {
    // 65025 is no bf16; 65280 and 64768 are its neighbours.
    const Variable x(from_host(Floats{255, 255}, {2}));
    const Variable half(cast(x, bf16));
    const Autocast autocast(bf16);
    CHECK(prod(half).item<float>() == 65025);
    const Tensor gradient = grad(prod(half), std::vector<Variable>{half})[0];
    CHECK(gradient.dtype() == bf16);
    CHECK(gradient.to_host<float>() == Floats{255, 255});
  });
}

}  // namespace sinter::tests
