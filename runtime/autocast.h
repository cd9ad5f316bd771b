/// \file
/// Mixed precision by op class, following PyTorch's CPU lists.
#pragma once

#include <optional>

#include "dtype.h"
#include "tensor.h"

namespace sinter {

/// While alive, ops of this thread that profit run in `dtype` (bf16 or f16) and those that need
/// precision in f32: matmul, linear, conv2d_patches and attention cast floating inputs to `dtype`;
/// losses, and what PyTorch lists as f32 ops, cast 16-bit inputs to f32; all others take what
/// comes. Casts are recorded and differentiable: parameters and their gradients stay in their own
/// dtype.
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

/// `a` as an op of the low-precision list takes it: cast when autocast is on and `a` is floating.
Tensor autocast_low(const Tensor& a, Where at);
/// `a` as an op of the f32 list takes it: f16 and bf16 cast to f32 when autocast is on.
Tensor autocast_high(const Tensor& a, Where at);

}  // namespace sinter
