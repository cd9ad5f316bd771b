#include "kernels/row_kernels.h"
#include "kernels/row_loops.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace {

SINTER_INLINE VecF draws_as(const VecF& draws, float) { return draws; }
SINTER_INLINE VecD draws_as(const VecF& draws, double) { return to_f64(draws); }

template <class C>
void drop(const C* x, const float* draws, std::int64_t n, float p, C scale, C* y) {
  each_vector(n, [&](std::ptrdiff_t i, auto part) SINTER_LOOP_BODY {
    const Vec<C> u = draws_as(part.load(draws + i, 0.0f), C(0));
    const auto kept = u >= Vec<C>(static_cast<C>(p));
    part.store(select(kept, part.load(x + i, C(0)) * Vec<C>(scale), Vec<C>(C(0))), y + i);
  });
}

template <class C>
constexpr DropoutFunctions<C> functions{drop<C>};

}  // namespace

const DropoutFunctions<float>& dropout_rows_f32() { return functions<float>; }
const DropoutFunctions<double>& dropout_rows_f64() { return functions<double>; }

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
