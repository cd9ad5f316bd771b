/// \file
/// The JSON header of a safetensors file: parsed and checked against the size of the data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/safetensors.h"

namespace sinter::models {

/// The format's own limit on the header's length, in bytes.
inline constexpr std::uint64_t longest_safetensors_header = 100'000'000;

/// `F32`, `BOOL` and so on.
std::string_view safetensors_dtype_name(DType dtype);

struct SafetensorsHeader {
  TensorTable tensors;
  Metadata metadata;
};

/// Parses `text`, the header of `file` (named in errors), whose data follows at byte `data_begin`
/// and is `data_size` bytes long. The tensors must fill the data without gap or overlap.
/// \throws FileError naming the file, the tensor and the cause.
SafetensorsHeader parse_safetensors_header(const std::string& file, std::string_view text,
                                           std::uint64_t data_begin, std::uint64_t data_size);

}  // namespace sinter::models
