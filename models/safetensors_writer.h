/// \file
/// Writing a safetensors file whose data is fetched one tensor at a time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <sinter/sinter.h>

#include "models/safetensors.h"

namespace sinter::models {

/// What the header says of one tensor to be written.
struct WrittenTensor {
  std::string_view name;
  DType dtype;
  Shape shape;
  std::size_t index;  ///< among the tensors as they were given

  std::size_t byte_count() const {
    return static_cast<std::size_t>(element_count(shape)) * item_size(dtype);
  }
};

/// The contiguous bytes of tensor `index`; they stay until the next call.
using BytesOf = std::function<std::span<const std::byte>(std::size_t index)>;

/// Writes the file, whole or not at all, in the order that write_safetensors promises. `bytes_of`
/// is called once for each tensor, when the file is open and its header is written.
void write_tensors(const std::filesystem::path& path, std::vector<WrittenTensor> tensors,
                   const Metadata& metadata, const BytesOf& bytes_of, Where where);

}  // namespace sinter::models
