#include "bench/step_products.h"

#include <fmt/format.h>

#include <algorithm>

namespace sinter::models {
namespace {

constexpr std::size_t most_largest = 5;

class Count {
 public:
  /// `layers` times a linear layer from `in` to `out` on so many rows.
  void linear(std::int64_t layers, std::int64_t rows, std::int64_t in, std::int64_t out) {
    projection(layers, rows, in, out);
    add(layers, {rows, out, in});
  }

  /// The same without a gradient of the input.
  void projection(std::int64_t layers, std::int64_t rows, std::int64_t in, std::int64_t out) {
    add(layers, {rows, in, out});
    add(layers, {in, rows, out});
  }

  /// Of all heads together: `width` is theirs, `pairs` how many queries see how many keys.
  void attention(std::int64_t layers, double pairs, std::int64_t width) {
    constexpr double products = 6, operations = 2;
    flops_ += products * operations * pairs * static_cast<double>(layers * width);
  }

  StepProducts result() {
    std::stable_sort(products_.begin(), products_.end(),
                     [](const Product& a, const Product& b) { return a.flops() > b.flops(); });
    if (products_.size() > most_largest) products_.resize(most_largest);
    return {flops_, products_};
  }

 private:
  void add(std::int64_t count, const Product& product) {
    flops_ += static_cast<double>(count) * product.flops();
    if (std::find(products_.begin(), products_.end(), product) == products_.end())
      products_.push_back(product);
  }

  double flops_ = 0;
  std::vector<Product> products_;
};

}  // namespace

double Product::flops() const {
  return 2 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
}

std::string Product::text() const { return fmt::format("{}x{}x{}", m, k, n); }

StepProducts step_products(const CaptionerConfig& config, std::int64_t images,
                           std::int64_t columns) {
  const VitConfig& vit = config.encoder;
  const Gpt2Config& gpt2 = config.decoder;
  const std::int64_t side = vit.image_size / vit.patch_size, patches = side * side,
                     states = patches + 1;
  const auto pairs = [&](std::int64_t queries, std::int64_t keys) {
    return static_cast<double>(images * queries) * static_cast<double>(keys);
  };
  Count count;
  count.projection(1, images * patches, vit.channels * vit.patch_size * vit.patch_size, vit.width);
  count.linear(4 * vit.layers, images * states, vit.width, vit.width);
  count.attention(vit.layers, pairs(states, states), vit.width);
  count.linear(vit.layers, images * states, vit.width, vit.inner_width);
  count.linear(vit.layers, images * states, vit.inner_width, vit.width);

  const std::int64_t tokens = images * columns;
  count.linear(gpt2.layers, tokens, gpt2.width, 3 * gpt2.width);
  count.attention(gpt2.layers, pairs(columns, columns + 1) / 2, gpt2.width);
  count.linear(gpt2.layers, images * states, vit.width, 2 * gpt2.width);
  count.attention(gpt2.layers, pairs(columns, states), gpt2.width);
  count.linear(3 * gpt2.layers, tokens, gpt2.width, gpt2.width);
  count.linear(gpt2.layers, tokens, gpt2.width, gpt2.inner_width);
  count.linear(gpt2.layers, tokens, gpt2.inner_width, gpt2.width);
  count.linear(1, tokens, gpt2.width, gpt2.vocabulary);
  return count.result();
}

}  // namespace sinter::models
