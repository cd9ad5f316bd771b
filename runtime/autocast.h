/// \file
/// Mixed precision by op class, following PyTorch's CPU lists.
#pragma once

#include <optional>

#include "dtype.h"
#include "tensor.h"

namespace sinter {

/// While alive, ops of this thread that profit run in `dtype` (bf16 or f16) and those that need
/// precision in f32:
///   to `dtype`  matmul, linear (x, weight, bias), conv2d_patches, scaled_dot_product_attention
///               (q, k, v; a mask stays): inputs of f32, f16 and bf16
///   in f32      prod, whose 16-bit inputs are cast, and cross_entropy, which always computes in
///               f32 and gives it
/// All others take what comes and promote as ever, among them sums, means, norms, softmax,
/// elementwise functions and concatenate. f64 and integers stay. Casts are recorded and
/// differentiable: parameters and their gradients stay in their own dtype.
class Autocast {
 public:
  explicit Autocast(DType dtype, Where at = Where::current());
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  std::optional<DType> previous_;
};

/// While alive, ops of this thread take what comes, as if no autocast were open.
class NoAutocast {
 public:
  NoAutocast();
  ~NoAutocast();
  NoAutocast(const NoAutocast&) = delete;
  NoAutocast& operator=(const NoAutocast&) = delete;

 private:
  std::optional<DType> previous_;
};

/// What the thread's autocast says, if one is open.
std::optional<DType> autocast_dtype();

/// `a` as an op of the low-precision list takes it: cast when autocast is on and `a` is floating
/// but not f64.
Tensor autocast_low(const Tensor& a, Where at);
/// `a` as an op of the f32 list takes it: f16 and bf16 cast to f32 when autocast is on.
Tensor autocast_high(const Tensor& a, Where at);

}  // namespace sinter
