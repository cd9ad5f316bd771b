/// \file
/// Elements of views, one at a time: what the interpreter is written in.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/view.h"
#include "runtime/element.h"

namespace sinter::jit {

using kernels::ConstView;
using kernels::View;

inline std::int64_t offset_of(const Strides& strides, const Dims& index) {
  std::int64_t offset = 0;
  for (int axis = 0; axis < index.rank(); ++axis) offset += index[axis] * strides[axis];
  return offset;
}

/// The element at `index`, as the compute type C.
template <typename C>
C read(const ConstView& view, const Dims& index) {
  return with_storage_type(view.dtype, [&]<typename T>(T) {
    return converted<C>(element_at<T>(view.data, offset_of(view.strides, index)));
  });
}

template <typename C>
void write(const View& view, const Dims& index, C value) {
  with_storage_type(view.dtype, [&]<typename T>(T) {
    static_cast<T*>(view.data)[offset_of(view.strides, index)] = converted<T>(value);
  });
}

/// The part of an index of a larger shape that a broadcast operand is read at.
inline Dims broadcast_index(const Dims& index, const Shape& own) {
  Dims result = own;
  const int added = index.rank() - own.rank();
  for (int axis = 0; axis < own.rank(); ++axis)
    result[axis] = own[axis] == 1 ? 0 : index[axis + added];
  return result;
}

/// Calls body(index) for every index of the shape in row-major order.
template <typename Body>
void for_each_index(const Shape& shape, Body&& body) {
  if (element_count(shape) == 0) return;
  Dims index = Dims::filled(shape.rank(), 0);
  for (;;) {
    body(index);
    int axis = shape.rank() - 1;
    while (axis >= 0 && ++index[axis] == shape[axis]) index[axis--] = 0;
    if (axis < 0) return;
  }
}

/// All elements in row-major order.
template <typename C>
std::vector<C> read_all(const ConstView& view) {
  std::vector<C> elements;
  elements.reserve(static_cast<std::size_t>(element_count(view.shape)));
  for_each_index(view.shape, [&](const Dims& index) { elements.push_back(read<C>(view, index)); });
  return elements;
}

template <typename C>
void write_all(const View& view, const std::vector<C>& elements) {
  auto next = elements.begin();
  for_each_index(view.shape, [&](const Dims& index) { write<C>(view, index, *next++); });
}

/// Copies one element between views of one dtype, bit for bit.
inline void copy_element(const ConstView& from, const Dims& at, const View& to, const Dims& place) {
  const auto size = static_cast<std::int64_t>(item_size(from.dtype));
  std::memcpy(static_cast<std::byte*>(to.data) + size * offset_of(to.strides, place),
              static_cast<const std::byte*>(from.data) + size * offset_of(from.strides, at),
              item_size(from.dtype));
}

}  // namespace sinter::jit
