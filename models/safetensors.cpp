#include "models/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <utility>

#include "models/safetensors_header.h"

namespace sinter::models {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t length_bytes = 8;

std::uint64_t size_of(const std::filesystem::path& path, const FileDescriptor& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) file_error(path, "cannot be read");
  if (!S_ISREG(status.st_mode))
    throw FileError(fmt::format("{}: is not a regular file", path.string()));
  return static_cast<std::uint64_t>(status.st_size);
}

void read_at(const std::filesystem::path& path, const FileDescriptor& file, std::uint64_t offset,
             std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t count = ::pread(file.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) file_error(path, "cannot be read");
    if (count == 0)
      throw FileError(fmt::format("{}: was cut while it was being read", path.string()));
    out = out.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

}  // namespace

Safetensors::Safetensors(std::filesystem::path path)
    : path_(std::move(path)), file_(path_, O_RDONLY) {
  const std::uint64_t size = size_of(path_, file_);
  const std::string file = path_.string();
  if (size < length_bytes)
    throw FileError(fmt::format("{}: {} bytes are too few for a safetensors file", file, size));
  std::array<std::byte, length_bytes> prefix{};
  read_at(path_, file_, 0, prefix);
  const auto length = std::bit_cast<std::uint64_t>(prefix);
  if (length > longest_safetensors_header)
    throw FileError(
        fmt::format("{}: a header of {} bytes is longer than the format allows", file, length));
  if (length > size - length_bytes)
    throw FileError(
        fmt::format("{}: a header of {} bytes does not fit a file of {}", file, length, size));
  std::string text(static_cast<std::size_t>(length), ' ');
  read_at(path_, file_, length_bytes, std::as_writable_bytes(std::span(text)));
  const std::uint64_t begin = length_bytes + length;
  SafetensorsHeader header = parse_safetensors_header(file, text, begin, size - begin);
  tensors_ = std::move(header.tensors);
  metadata_ = std::move(header.metadata);
}

const StoredTensor& Safetensors::info(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end())
    throw FileError(fmt::format("{}: has no tensor {}", path_.string(), name));
  return found->second;
}

void Safetensors::read(std::string_view name, std::span<std::byte> out) const {
  const StoredTensor& tensor = info(name);
  invariant(out.size() == tensor.byte_count(), "the room for a stored tensor has another size");
  read_at(path_, file_, tensor.begin, out);
}

std::vector<std::byte> Safetensors::read(std::string_view name) const {
  std::vector<std::byte> bytes(info(name).byte_count());
  read(name, bytes);
  return bytes;
}

}  // namespace sinter::models
