#include "jit/prelude.h"

namespace sinter::jit {

std::string_view prelude() {
  static constexpr char text[] =
#include "jit/prelude.inc"
      ;
  return {text, sizeof text - 1};
}

std::string_view cuda_prelude() {
  static constexpr char text[] =
#include "jit/cuda_prelude.inc"
      ;
  return {text, sizeof text - 1};
}

}  // namespace sinter::jit
