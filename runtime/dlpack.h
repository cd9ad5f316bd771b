/// \file
/// Exchange of tensors with other libraries in one process without copying: the DLPack protocol,
/// in its unversioned form (structure DLManagedTensor), on the CPU.
///
/// Only the name of the structure is declared here, so that DLPack's own `dlpack.h` can be included
/// beside this file; who has none finds the same structure in `dlpack_layout.h`.
#pragma once

#include "tensor.h"

struct DLManagedTensor;

namespace sinter {

/// The elements of `tensor` for another library; evaluates. They stay where they are, except those
/// of a tensor with negative strides, which many readers refuse: they are copied. The receiver
/// calls the structure's deleter once, on any thread, and must not write to the elements: values of
/// sinter do not change. \throws UsageError when `tensor` is not defined.
DLManagedTensor* to_dlpack(const Tensor& tensor, Where where = Where::current());

/// A tensor on the elements of another library, which must not change while any value made from
/// them is alive; then the structure's deleter is called. When this throws, it has not been called
/// and the caller still owns the structure.
/// \throws UsageError for null, a device that is not the CPU, more than eight dimensions, negative
/// sizes, vectors as elements, a dtype that sinter has not, and elements that are not aligned.
Tensor from_dlpack(DLManagedTensor* managed, Where where = Where::current());

}  // namespace sinter
