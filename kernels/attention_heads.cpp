#include "kernels/attention_head.h"
#include "kernels/by_isa.h"

namespace sinter::kernels {

SINTER_DECLARE_BY_ISA(const AttentionFunctions<float>& attention_rows_f32();
                      const AttentionFunctions<double>& attention_rows_f64();)

template <>
const AttentionFunctions<float>& attention_functions() {
  return SINTER_CALL_BY_ISA(attention_rows_f32);
}
template <>
const AttentionFunctions<double>& attention_functions() {
  return SINTER_CALL_BY_ISA(attention_rows_f64);
}

}  // namespace sinter::kernels
