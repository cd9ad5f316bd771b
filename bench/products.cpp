// products: how fast matrix products of given shapes are, each by its fastest run.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/sinter.h>

#include "bench/step_products.h"
#include "models/arguments.h"

namespace sinter::models {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int least_runs = 3;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Product parse_product(std::string_view text) {
  Product product;
  std::string_view rest = text;
  for (std::int64_t* size : {&product.m, &product.k, &product.n}) {
    const char* const end = rest.data() + rest.size();
    const auto [stop, error] = std::from_chars(rest.data(), end, *size);
    const bool last = size == &product.n;
    if (error != std::errc() || *size < 1 || (last ? stop != end : stop == end || *stop != 'x'))
      throw UsageError(fmt::format("--shapes takes shapes such as 64x32x16, not '{}'", text));
    if (!last) rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()) + 1);
  }
  return product;
}

std::vector<Product> parse_products(std::string_view text) {
  std::vector<Product> products;
  while (true) {
    const std::size_t comma = text.find(',');
    products.push_back(parse_product(text.substr(0, comma)));
    if (comma == std::string_view::npos) return products;
    text.remove_prefix(comma + 1);
  }
}

double best_gflops(const Product& product, DType dtype, double seconds) {
  Generator generator(1);
  const Tensor a = cast(normal({product.m, product.k}, generator), dtype).evaluate();
  const Tensor b = cast(normal({product.k, product.n}, generator), dtype).evaluate();
  const Clock::time_point first = Clock::now();
  double best = 0;
  for (int runs = 0; runs < least_runs || seconds_since(first) < seconds; ++runs) {
    const Clock::time_point start = Clock::now();
    matmul(a, b).evaluate();
    best = std::max(best, product.flops() / seconds_since(start) / 1e9);
  }
  return best;
}

int run(std::span<const char* const> arguments) {
  std::string shapes = "1024x1024x1024", dtype = "f32";
  double seconds = 0.5;
  int thread_count = 0;
  bool json = false, help_asked = false;
  const std::vector<Option> options{
      {"shapes", "MxKxN for [M, K] times [K, N], with commas between", shapes},
      {"dtype", "of the operands", dtype, {"f32", "bf16"}},
      {"seconds", "that each is run again and again; the fastest run counts", seconds},
      {"threads", "to run on; 0 for what the process may use", thread_count},
      {"json", "one line of JSON in place of the table", json},
      {"help", "this list", help_asked},
  };
  read_arguments(arguments, options);
  if (help_asked) {
    fmt::print("products [options]\n{}", help(options));
    return 0;
  }
  if (!(seconds >= 0)) throw UsageError("--seconds is at least 0");
  const std::vector<Product> products = parse_products(shapes);
  if (thread_count != 0) set_threads(thread_count);
  nlohmann::ordered_json report{{"dtype", dtype}, {"threads", threads()}, {"gflops", 0.0}};
  double best = 0;
  for (const Product& product : products) {
    const double rate = best_gflops(product, dtype == "bf16" ? bf16 : f32, seconds);
    best = std::max(best, rate);
    report["shapes"][product.text()] = rate;
    if (!json) fmt::print("{:<22}{:>10.1f} GFLOP/s\n", product.text(), rate);
  }
  report["gflops"] = best;
  if (json) fmt::print("{}\n", report.dump());
  return 0;
}

}  // namespace
}  // namespace sinter::models

int main(int count, char** arguments) {
  return sinter::models::run_program("products", sinter::models::run, count, arguments);
}
