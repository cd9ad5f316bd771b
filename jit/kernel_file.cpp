#include "jit/kernel_file.h"

#include <fmt/format.h>

#include <cstring>

#include "jit/digest.h"

namespace sinter::jit {
namespace {

constexpr std::string_view format_name = "sinterK1";
constexpr std::size_t header_size = format_name.size() + sizeof(Digest);

void put(std::string& bytes, std::uint64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put(std::string& bytes, std::string_view text) {
  put(bytes, std::uint64_t{text.size()});
  bytes += text;
}

/// Takes numbers and texts from the front, and never reads past the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    if (bytes_.size() < sizeof value) {
      good_ = false;
      return 0;
    }
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }

  std::string text() {
    const std::uint64_t size = number();
    if (size > bytes_.size()) good_ = false;
    if (!good_) return {};
    std::string value(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return value;
  }

  bool good() const { return good_; }
  bool at_end() const { return good_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

std::string checksum(std::string_view bytes) {
  const Digest digest = digest_of(bytes);
  return {reinterpret_cast<const char*>(&digest), sizeof digest};
}

}  // namespace

std::string encode(const KernelFile& file) {
  std::string content;
  put(content, static_cast<std::uint64_t>(file.made));
  put(content, file.ingredients);
  put(content, std::uint64_t{file.kernels.size()});
  for (const StoredKernel& kernel : file.kernels) {
    put(content, kernel.symbol);
    put(content, kernel.body);
  }
  put(content, file.image);
  return std::string(format_name) + checksum(content) + content;
}

std::optional<KernelFile> decode(std::string_view bytes, std::string& problem) {
  if (bytes.size() < header_size) {
    problem = fmt::format("is cut off at {} bytes", bytes.size());
    return std::nullopt;
  }
  if (!bytes.starts_with(format_name)) {
    problem = "has another format";
    return std::nullopt;
  }
  const std::string_view content = bytes.substr(header_size);
  if (checksum(content) != bytes.substr(format_name.size(), sizeof(Digest))) {
    problem = "has a wrong checksum";
    return std::nullopt;
  }
  Reader reader(content);
  KernelFile file;
  file.made = static_cast<std::int64_t>(reader.number());
  file.ingredients = reader.text();
  const std::uint64_t count = reader.number();
  for (std::uint64_t i = 0; i < count && reader.good(); ++i) {
    StoredKernel& kernel = file.kernels.emplace_back();
    kernel.symbol = reader.text();
    kernel.body = reader.text();
  }
  file.image = reader.text();
  if (reader.at_end()) return file;
  problem = "has lengths that do not fit";
  return std::nullopt;
}

}  // namespace sinter::jit
