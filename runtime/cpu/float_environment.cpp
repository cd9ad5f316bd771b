#include "runtime/cpu/pool.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace sinter::cpu {

#if defined(__x86_64__)

namespace {
constexpr unsigned default_mode = 0x1f80;  // all exceptions masked, nearest, denormals kept
}

FloatEnvironment::FloatEnvironment() : saved_(_mm_getcsr()) {
  if (saved_ != default_mode) _mm_setcsr(default_mode);
}

FloatEnvironment::~FloatEnvironment() {
  if (_mm_getcsr() != saved_) _mm_setcsr(saved_);
}

#else

FloatEnvironment::FloatEnvironment() : saved_(static_cast<unsigned>(std::fegetround())) {
  std::fesetround(FE_TONEAREST);
}

FloatEnvironment::~FloatEnvironment() { std::fesetround(static_cast<int>(saved_)); }

#endif

}  // namespace sinter::cpu
