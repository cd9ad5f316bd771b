#include "kernels/row_kernels.h"

#include "kernels/by_isa.h"

namespace sinter::kernels {

SINTER_DECLARE_BY_ISA(const SoftmaxRows<float>& softmax_rows_f32();
                      const SoftmaxRows<double>& softmax_rows_f64();
                      const NormFunctions<float>& norm_rows_f32();
                      const NormFunctions<double>& norm_rows_f64();
                      const LossFunctions<float>& loss_rows_f32();
                      const LossFunctions<double>& loss_rows_f64();
                      const DropoutFunctions<float>& dropout_rows_f32();
                      const DropoutFunctions<double>& dropout_rows_f64();)

template <>
const SoftmaxRows<float>& softmax_functions() {
  return SINTER_CALL_BY_ISA(softmax_rows_f32);
}
template <>
const SoftmaxRows<double>& softmax_functions() {
  return SINTER_CALL_BY_ISA(softmax_rows_f64);
}
template <>
const NormFunctions<float>& norm_functions() {
  return SINTER_CALL_BY_ISA(norm_rows_f32);
}
template <>
const NormFunctions<double>& norm_functions() {
  return SINTER_CALL_BY_ISA(norm_rows_f64);
}
template <>
const LossFunctions<float>& loss_functions() {
  return SINTER_CALL_BY_ISA(loss_rows_f32);
}
template <>
const LossFunctions<double>& loss_functions() {
  return SINTER_CALL_BY_ISA(loss_rows_f64);
}

template <>
const DropoutFunctions<float>& dropout_functions() {
  return SINTER_CALL_BY_ISA(dropout_rows_f32);
}
template <>
const DropoutFunctions<double>& dropout_functions() {
  return SINTER_CALL_BY_ISA(dropout_rows_f64);
}

}  // namespace sinter::kernels
