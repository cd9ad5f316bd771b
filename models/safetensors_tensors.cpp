#include "models/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "models/safetensors_writer.h"

namespace sinter::models {

Tensor Safetensors::tensor(std::string_view name, Where where) const {
  const StoredTensor& stored = info(name);
  const std::vector<std::byte> bytes = read(name);
  const auto is_bool = [](std::byte byte) { return byte <= std::byte{1}; };
  if (stored.dtype == boolean && !std::all_of(bytes.begin(), bytes.end(), is_bool))
    throw FileError(
        fmt::format("{}: tensor {}: has bools other than 0 and 1", path_.string(), name));
  return from_bytes(bytes, stored.dtype, stored.shape, where);
}

void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const Metadata& metadata, Where where) {
  std::vector<WrittenTensor> written;
  std::vector<const Tensor*> values;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.defined())
      usage_error("write_safetensors", fmt::format("the tensor {} is not defined", name), where);
    written.push_back({name, tensor.dtype(), tensor.shape(), written.size()});
    values.push_back(&tensor);
  }
  // One tensor at a time is copied out: a large model is not held twice.
  std::vector<std::byte> bytes;
  const auto bytes_of = [&](std::size_t index) {
    const Tensor& tensor = *values[index];
    bytes.resize(static_cast<std::size_t>(tensor.element_count()) * item_size(tensor.dtype()));
    tensor.read_bytes(bytes, where);
    return std::span<const std::byte>(bytes);
  };
  write_tensors(path, std::move(written), metadata, bytes_of, where);
}

}  // namespace sinter::models
