// Prints the table of largest errors in kernels/MATH.md: math_errors [STEP] looks at every STEP-th
// of the 2^32 floats (1, all of them, if it is not given: half an hour on two cores).
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <string_view>

#include "tests/float_sweep.h"
#include "tests/math_reference.h"
#include "tests/math_table.h"

namespace sinter {
namespace {

struct Worst {
  double error = 0.0;
  float x = 0.0f;
};

Worst worst_error(const MathReference& reference, const MathFunction& function,
                  std::uint32_t step) {
  std::array<Worst, sweep_threads> worst;
  sweep_floats(step, [&](int thread, const FloatBlock& x) {
    FloatBlock y;
    function.vector(x.data(), x.data(), y.data(), static_cast<std::ptrdiff_t>(y.size()));
    Worst& mine = worst[static_cast<std::size_t>(thread)];
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double error = error_in_ulp(reference, x[i], y[i]);
      if (error > mine.error) mine = {error, x[i]};
    }
  });
  return worst[0].error > worst[1].error ? worst[0] : worst[1];
}

void print_table(std::uint32_t step) {
  // All paths give the same bits; the last one that runs here is the fastest.
  MathTable table = math_paths()[0].table();
  for (const MathPath& path : math_paths())
    if (path.runs_here) table = path.table();
  fmt::print("| function | largest error | at x |\n|---|---|---|\n");
  for (const MathReference& reference : math_references()) {
    const Worst worst = worst_error(reference, find(table, reference.name), step);
    fmt::print("| `{}` | {:.3f} | {} |\n", reference.name, worst.error, worst.x);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace sinter

int main(int count, char** arguments) {
  std::uint32_t step = 1;
  if (count > 1) {
    const std::string_view text = arguments[1];
    const auto read = std::from_chars(text.data(), text.data() + text.size(), step);
    if (read.ec != std::errc() || step == 0) {
      fmt::print(stderr, "usage: math_errors [STEP]\n");
      return 2;
    }
  }
  sinter::print_table(step);
  return 0;
}
