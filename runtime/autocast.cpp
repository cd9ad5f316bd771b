#include "runtime/autocast.h"

#include <fmt/format.h>

#include "runtime/record.h"

namespace sinter {
namespace {

thread_local std::optional<DType> autocast;

}  // namespace

Autocast::Autocast(DType dtype, Where at) : previous_(autocast) {
  if (dtype != DType::bf16 && dtype != DType::f16)
    usage_error("Autocast", fmt::format("to bf16 or f16, not {}", to_string(dtype)), at);
  autocast = dtype;
}

Autocast::~Autocast() { autocast = previous_; }

NoAutocast::NoAutocast() : previous_(autocast) { autocast.reset(); }

NoAutocast::~NoAutocast() { autocast = previous_; }

std::optional<DType> autocast_dtype() { return autocast; }

Tensor autocast_low(const Tensor& a, Where at) {
  const bool casts = autocast && a.defined() && is_floating(a.dtype()) && a.dtype() != DType::f64;
  return casts ? in_dtype(a, *autocast, at) : a;
}

Tensor autocast_high(const Tensor& a, Where at) {
  const bool casts =
      autocast && a.defined() && (a.dtype() == DType::f16 || a.dtype() == DType::bf16);
  return casts ? in_dtype(a, DType::f32, at) : a;
}

}  // namespace sinter
