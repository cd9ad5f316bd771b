#include "models/safetensors_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>

#include "models/atomic_file.h"
#include "models/safetensors_header.h"

namespace sinter::models {
namespace {

constexpr std::size_t data_alignment = 8;

/// The header's text, padded so that the data after it is aligned to eight bytes.
std::string header_text(const std::vector<WrittenTensor>& tensors, const Metadata& metadata,
                        Where where) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t offset = 0;
  for (const WrittenTensor& tensor : tensors) {
    const std::string name(tensor.name);
    if (name == "__metadata__" || header.contains(name))
      usage_error("write_safetensors", fmt::format("the name {} is reserved or given twice", name),
                  where);
    nlohmann::ordered_json& written = header[name];
    written["dtype"] = safetensors_dtype_name(tensor.dtype);
    written["shape"] = std::vector<std::int64_t>(tensor.shape.begin(), tensor.shape.end());
    written["data_offsets"] = {offset, offset + tensor.byte_count()};
    offset += tensor.byte_count();
  }
  try {
    std::string text = header.dump();
    text.append((data_alignment - text.size() % data_alignment) % data_alignment, ' ');
    return text;
  } catch (const nlohmann::json::exception& error) {
    usage_error("write_safetensors", fmt::format("a name is not UTF-8: {}", error.what()), where);
  }
}

}  // namespace

void write_tensors(const std::filesystem::path& path, std::vector<WrittenTensor> tensors,
                   const Metadata& metadata, const BytesOf& bytes_of, Where where) {
  std::sort(tensors.begin(), tensors.end(), [](const WrittenTensor& a, const WrittenTensor& b) {
    return std::tuple(item_size(b.dtype), b.dtype, a.name) <
           std::tuple(item_size(a.dtype), a.dtype, b.name);
  });
  const std::string text = header_text(tensors, metadata, where);
  const std::uint64_t length = text.size();
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(text);
  for (const WrittenTensor& tensor : tensors) file.write(bytes_of(tensor.index));
  file.commit();
}

void write_safetensors(const std::filesystem::path& path, std::span<const TensorBytes> tensors,
                       const Metadata& metadata, Where where) {
  std::vector<WrittenTensor> written;
  for (const TensorBytes& tensor : tensors) {
    written.push_back({tensor.name, tensor.dtype, tensor.shape, written.size()});
    check_shape("write_safetensors", tensor.shape, where);
    if (tensor.bytes.size() != written.back().byte_count())
      usage_error("write_safetensors",
                  fmt::format("tensor {} of {} {} needs {} bytes, {} are given", tensor.name,
                              to_string(tensor.dtype), to_string(tensor.shape),
                              written.back().byte_count(), tensor.bytes.size()),
                  where);
  }
  write_tensors(
      path, std::move(written), metadata, [&](std::size_t index) { return tensors[index].bytes; },
      where);
}

}  // namespace sinter::models
