#include "kernels/dropout.h"

#include <algorithm>
#include <array>

#include "kernels/random_tiles.h"
#include "kernels/row_access.h"
#include "kernels/row_kernels.h"
#include "runtime/cpu/pool.h"

namespace sinter::kernels {
namespace {

/// Elements of a task, and of a piece of it.
constexpr std::int64_t task_elements = 8192, piece = 1024;

template <class C>
void drop(const ConstView& x, double p, std::uint64_t seed, std::uint64_t ordinal, const View& y) {
  const RowReader<C> in(x);
  const RowWriter<C> out(y);
  const auto function = dropout_functions<C>().drop;
  const auto uniform = random_tiles().uniform;
  const C scale = static_cast<C>(1 / (1 - p));
  const std::int64_t count = element_count(x.shape);
  cpu::parallel_for((count + task_elements - 1) / task_elements, [&](std::int64_t task) {
    std::array<float, piece> draws;
    std::array<C, piece> buffer;
    const std::int64_t end = std::min(count, (task + 1) * task_elements);
    for (std::int64_t i = task * task_elements; i < end; i += piece) {
      const std::int64_t n = std::min(piece, end - i);
      uniform(seed, ordinal, i, n, draws.data());
      const C* const from = in.load(i, n, buffer.data());
      function(from, draws.data(), n, static_cast<float>(p), scale, out.place(i, buffer.data()));
      out.store(buffer.data(), i, n);
    }
  });
}

}  // namespace

void dropout(const ConstView& x, double p, std::uint64_t seed, std::uint64_t ordinal,
             const View& y) {
  if (element_count(x.shape) == 0) return;
  (x.dtype == DType::f64 ? drop<double> : drop<float>)(x, p, seed, ordinal, y);
}

}  // namespace sinter::kernels
