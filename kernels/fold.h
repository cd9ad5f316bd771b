/// \file
/// The lanes of a vector combined into one number. Only for files compiled for each instruction
/// set.
#pragma once

#include <utility>

#include "kernels/combine.h"
#include "kernels/vector.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

template <int half, class R, int... lane>
SINTER_INLINE R lowered(R x, std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(x, x, ((lane + half) % int{sizeof...(lane)})...);
}
template <int half, class C, int... part>
SINTER_INLINE Vec<C> lowered_parts(const Vec<C>& x, std::integer_sequence<int, part...>) {
  constexpr int lanes = Vec<C>::lanes;
  Vec<C> result;
  if constexpr (half >= lanes)
    ((result.part[part] = x.part[(part + half / lanes) % Vec<C>::parts]), ...);
  else
    ((result.part[part] = lowered<half>(x.part[part], std::make_integer_sequence<int, lanes>())),
     ...);
  return result;
}

/// Lane i takes lane i + half; what becomes of lanes from `half` on does not matter.
template <class F, int half, class C>
SINTER_INLINE Vec<C> folded_once(const Vec<C>& x) {
  return F::of(x, lowered_parts<half>(x, std::make_integer_sequence<int, Vec<C>::parts>()));
}
/// One number of sixteen, in halves: lane i with lane i + 8, then i + 4, i + 2, i + 1.
template <class F, class C>
SINTER_INLINE C folded(const Vec<C>& x) {
  return folded_once<F, 1>(folded_once<F, 2>(folded_once<F, 4>(folded_once<F, 8>(x)))).part[0][0];
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
