/// \file
/// Reading and writing tensor files in the safetensors format: eight bytes with the header's length
/// (little endian), a JSON header naming dtype, shape and place of every tensor, then the data.
///
/// Every file is checked in full when it is opened, before anything of the size of its data is
/// allocated. Nothing is assumed of the alignment of the data. This code runs on little-endian
/// machines only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/sinter.h>

#include "models/atomic_file.h"

namespace sinter::models {

/// What the header says of one tensor. `begin` and `end` are byte offsets in the file.
struct StoredTensor {
  DType dtype = DType::f32;
  Shape shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::size_t byte_count() const { return static_cast<std::size_t>(end - begin); }
};

using TensorTable = std::map<std::string, StoredTensor, std::less<>>;
using NamedTensors = std::map<std::string, Tensor, std::less<>>;
using Metadata = std::map<std::string, std::string, std::less<>>;

/// An open tensor file. Data is read when asked for, one tensor at a time; reading from several
/// threads at once is safe.
class Safetensors {
 public:
  /// \throws FileError naming the file, the tensor where one is at fault, and the cause.
  explicit Safetensors(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const TensorTable& tensors() const { return tensors_; }
  const Metadata& metadata() const { return metadata_; }

  bool contains(std::string_view name) const { return tensors_.find(name) != tensors_.end(); }

  /// \throws FileError when the file has no tensor of this name.
  const StoredTensor& info(std::string_view name) const;

  /// Copies the tensor's bytes, row-major and little endian, to `out`, which has `byte_count`
  /// bytes.
  void read(std::string_view name, std::span<std::byte> out) const;
  std::vector<std::byte> read(std::string_view name) const;

  /// The tensor as a value. \throws FileError also for bytes that are no bool in a BOOL tensor.
  Tensor tensor(std::string_view name, Where where = Where::current()) const;

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
  TensorTable tensors_;
  Metadata metadata_;
};

/// One tensor to be written: contiguous row-major bytes that stay alive during the call.
struct TensorBytes {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::span<const std::byte> bytes;
};

/// Writes a tensor file, whole or not at all. The same tensors and metadata in any order give the
/// same bytes: wide dtypes come first, so that all data is aligned, then names in byte order.
/// \throws UsageError for two tensors of one name, a name that is not UTF-8, and bytes that do not
/// fit the shape; FileError when the file cannot be written.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorBytes> tensors,
                       const Metadata& metadata = {}, Where where = Where::current());

/// As above with tensors; evaluates them.
void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const Metadata& metadata = {}, Where where = Where::current());

}  // namespace sinter::models
