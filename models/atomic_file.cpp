#include "models/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include <sinter/sinter.h>

namespace sinter::models {
namespace {

/// A name no other writer uses: two programs saving to one path each write their own file.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> count{0};
  return fmt::format("{}.tmp-{}-{}", path.string(), ::getpid(), count++);
}

std::filesystem::path directory_of(const std::filesystem::path& path) {
  const std::filesystem::path parent = path.parent_path();
  return parent.empty() ? std::filesystem::path(".") : parent;
}

}  // namespace

void file_error(const std::filesystem::path& path, std::string_view problem) {
  const std::string reason = std::generic_category().message(errno);
  throw FileError(fmt::format("{}: {}: {}", path.string(), problem, reason));
}

FileDescriptor::FileDescriptor(const std::filesystem::path& path, int flags)
    : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0)
    file_error(path, (flags & O_CREAT) != 0 ? "cannot be created" : "cannot be opened");
}

FileDescriptor::~FileDescriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void FileDescriptor::close(const std::filesystem::path& path) {
  if (::close(std::exchange(descriptor_, -1)) != 0) file_error(path, "cannot be written");
}

void sync_directory(const std::filesystem::path& directory) {
  const FileDescriptor handle(directory, O_RDONLY | O_DIRECTORY);
  // Some file systems refuse to sync a directory (EINVAL); there the rename is as durable as it is.
  if (::fsync(handle.get()) != 0 && errno != EINVAL) file_error(directory, "cannot be synced");
}

AtomicFile::AtomicFile(std::filesystem::path path)
    : path_(std::move(path)),
      temporary_(temporary_name(path_)),
      file_(temporary_, O_WRONLY | O_CREAT | O_EXCL) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) file_error(path_, "cannot be written");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text.data(), text.size())));
}

void AtomicFile::commit() {
  if (::fsync(file_.get()) != 0) file_error(path_, "cannot be written");
  file_.close(path_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) file_error(path_, "cannot be replaced");
  temporary_.clear();
  sync_directory(directory_of(path_));
}

}  // namespace sinter::models
