#include "jit/file_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "runtime/error.h"

namespace sinter::jit {
namespace {

[[noreturn]] void file_error(const std::string& path, std::string_view problem) {
  const std::string reason = last_error();
  throw FileError(fmt::format("{}: {}: {}", path, problem, reason));
}

}  // namespace

std::string last_error() { return std::generic_category().message(errno); }

FileHandle::~FileHandle() {
  if (file_ >= 0) ::close(file_);
}

bool read_all(int file, std::string& bytes) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return false;
  bytes.resize(static_cast<std::size_t>(status.st_size) + 1);  // one more, to see the end at once
  std::size_t filled = 0;
  while (true) {
    const ssize_t count = ::read(file, bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    filled += static_cast<std::size_t>(count);
    if (count == 0) break;
    if (filled == bytes.size()) bytes.resize(2 * bytes.size());
  }
  bytes.resize(filled);
  return true;
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::string read_file_bytes(const std::string& path) {
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes;
  if (!file || !read_all(file.get(), bytes)) file_error(path, "cannot be read");
  return bytes;
}

void write_file_bytes(const std::string& path, std::string_view bytes) {
  const FileHandle file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file || !write_all(file.get(), bytes)) file_error(path, "cannot be written");
}

}  // namespace sinter::jit
