/// \file
/// The memory of values while a program runs.
#pragma once

#include <cstddef>

#include "jit/trace.h"
#include "kernels/view.h"
#include "runtime/results.h"
#include "runtime/storage.h"

namespace sinter::jit {

/// A new value, row-major without gaps, not initialised.
inline Value allocate(const Result& result) {
  const auto count = static_cast<std::size_t>(element_count(result.shape));
  BufferRef buffer = Buffer::allocate(count * item_size(result.dtype));
  return {StorageRef(new Storage(std::move(buffer))), 0, contiguous_strides(result.shape)};
}

inline std::byte* address(const Value& value, DType dtype) {
  return value.storage->data() + value.offset * static_cast<std::int64_t>(item_size(dtype));
}

/// A copy without gaps.
Value packed(const kernels::ConstView& view);

/// The value of the view `node` of an input: its own memory, or that of a copy where strides do not
/// show the elements so.
Value seen(const Node& node, const kernels::ConstView& input, const Value& value);

}  // namespace sinter::jit
