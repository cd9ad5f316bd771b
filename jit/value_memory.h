/// \file
/// The memory of values while a program runs.
#pragma once

#include <cstddef>

#include "jit/trace.h"
#include "kernels/view.h"
#include "runtime/results.h"
#include "runtime/storage.h"

namespace sinter::jit {

/// Of all elements, without gaps.
inline std::int64_t byte_count(const Result& result) {
  return element_count(result.shape) * static_cast<std::int64_t>(item_size(result.dtype));
}

/// A new value, row-major without gaps, not initialised.
inline Value allocate(const Result& result) {
  BufferRef buffer = Buffer::allocate(static_cast<std::size_t>(byte_count(result)));
  return {StorageRef(new Storage(std::move(buffer))), 0, contiguous_strides(result.shape)};
}

inline std::byte* address(const Value& value, DType dtype) {
  return value.storage->data() + value.offset * static_cast<std::int64_t>(item_size(dtype));
}

inline kernels::View view_of(const Value& value, const Result& result) {
  return {address(value, result.dtype), result.dtype, result.shape, value.strides};
}
inline kernels::View view_of(const Value& value, const Node& node) {
  return view_of(value, Result{node.dtype, node.shape});
}

/// A copy without gaps.
Value packed(const kernels::ConstView& view);

/// The value of the view `node` of an input: its own memory, or that of a copy where strides do not
/// show the elements so.
Value seen(const Node& node, const kernels::ConstView& input, const Value& value);

}  // namespace sinter::jit
