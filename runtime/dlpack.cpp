#include "runtime/dlpack.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "runtime/dlpack_layout.h"

namespace sinter {
namespace {

/// Indexed by DType.
constexpr std::array<DLDataType, dtype_count> dlpack_dtypes = {{{kDLBool, 8, 1},
                                                                {kDLUInt, 8, 1},
                                                                {kDLInt, 32, 1},
                                                                {kDLInt, 64, 1},
                                                                {kDLFloat, 16, 1},
                                                                {kDLBfloat, 16, 1},
                                                                {kDLFloat, 32, 1},
                                                                {kDLFloat, 64, 1}}};

/// The structure with all it points to.
struct Exported {
  DLManagedTensor managed{};
  Tensor tensor;  // keeps the elements, and keeps the runtime from writing over them
  std::array<std::int64_t, max_rank> shape{}, strides{};
};

bool has_negative_stride(const Tensor& tensor) {
  const Strides& strides = tensor.node()->value().strides;
  return std::any_of(strides.begin(), strides.end(), [](std::int64_t s) { return s < 0; });
}

Tensor compact_copy(const Tensor& tensor, Where where) {
  const auto count = static_cast<std::size_t>(tensor.element_count());
  std::vector<std::byte> bytes(count * item_size(tensor.dtype()));
  tensor.read_bytes(bytes, where);
  return from_bytes(bytes, tensor.dtype(), tensor.shape(), where);
}

DType dtype_from(const DLDataType& dtype, Where where) {
  for (std::size_t i = 0; i < dlpack_dtypes.size(); ++i) {
    const DLDataType& known = dlpack_dtypes[i];
    if (dtype.code == known.code && dtype.bits == known.bits && dtype.lanes == known.lanes)
      return static_cast<DType>(i);
  }
  usage_error("from_dlpack",
              fmt::format("no dtype of sinter has type code {}, {} bits and {} lanes", dtype.code,
                          dtype.bits, dtype.lanes),
              where);
}

Dims dims_from(const std::int64_t* values, const DLTensor& tensor) {
  return Dims(std::span(values, static_cast<std::size_t>(tensor.ndim)));
}

Shape shape_from(const DLTensor& tensor, Where where) {
  if (tensor.device.device_type != kDLCPU)
    usage_error("from_dlpack",
                fmt::format("the elements are on a device of type {}, not on the CPU",
                            static_cast<int>(tensor.device.device_type)),
                where);
  if (tensor.ndim < 0 || tensor.ndim > max_rank)
    usage_error("from_dlpack",
                fmt::format("{} dimensions, at most {} are possible", tensor.ndim, max_rank),
                where);
  if (tensor.ndim > 0 && tensor.shape == nullptr)
    usage_error("from_dlpack", "the shape is null", where);
  const Shape shape = tensor.ndim == 0 ? Shape{} : dims_from(tensor.shape, tensor);
  check_shape("from_dlpack", shape, where);
  return shape;
}

}  // namespace

DLManagedTensor* to_dlpack(const Tensor& tensor, Where where) {
  if (!tensor.defined()) usage_error("to_dlpack", "the tensor is not defined", where);
  tensor.evaluate(where);
  auto exported = std::make_unique<Exported>();
  exported->tensor = has_negative_stride(tensor) ? compact_copy(tensor, where) : tensor;
  const Value& value = exported->tensor.node()->value();
  std::copy(tensor.shape().begin(), tensor.shape().end(), exported->shape.begin());
  std::copy(value.strides.begin(), value.strides.end(), exported->strides.begin());
  DLTensor& out = exported->managed.dl_tensor;
  const auto item = static_cast<std::int64_t>(item_size(tensor.dtype()));
  // Not byte_offset, which several libraries leave out.
  out.data = value.storage->data() + value.offset * item;
  out.device = {kDLCPU, 0};
  out.ndim = tensor.rank();
  out.dtype = dlpack_dtypes[static_cast<std::size_t>(tensor.dtype())];
  out.shape = exported->shape.data();
  out.strides = exported->strides.data();
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<Exported*>(self->manager_ctx);
  };
  return &exported.release()->managed;
}

Tensor from_dlpack(DLManagedTensor* managed, Where where) {
  if (managed == nullptr) usage_error("from_dlpack", "the structure is null", where);
  const DLTensor& tensor = managed->dl_tensor;
  const DType dtype = dtype_from(tensor.dtype, where);
  const Shape shape = shape_from(tensor, where);
  const bool strided = tensor.strides != nullptr && tensor.ndim > 0;
  const Strides strides = strided ? dims_from(tensor.strides, tensor) : contiguous_strides(shape);
  const auto* data = static_cast<const std::byte*>(tensor.data);
  if (data != nullptr) data += tensor.byte_offset;
  return borrow_strided(
      data, dtype, shape, strides,
      [managed] {
        if (managed->deleter != nullptr) managed->deleter(managed);
      },
      where);
}

}  // namespace sinter
