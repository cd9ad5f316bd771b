/// \file
/// How kernels see memory: a pointer, a dtype, sizes and strides. A view owns nothing.
#pragma once

#include "runtime/dtype.h"
#include "runtime/shape.h"

namespace sinter::kernels {

/// Elements to read: element [i, j, ...] is at `data` + (i*strides[0] + j*strides[1] + ...)
/// items of `dtype`. Strides may be 0 (broadcast) or negative (flipped).
struct ConstView {
  const void* data = nullptr;
  DType dtype = DType::f32;
  Shape shape;
  Strides strides;
};

/// Elements to write; no two indices address the same element.
struct View {
  void* data = nullptr;
  DType dtype = DType::f32;
  Shape shape;
  Strides strides;

  operator ConstView() const { return {data, dtype, shape, strides}; }
};

}  // namespace sinter::kernels
