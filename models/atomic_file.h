/// \file
/// Writing a file so that it appears whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace sinter::models {

/// An open file; closes itself.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  /// \throws FileError naming the file and the system's reason.
  FileDescriptor(const std::filesystem::path& path, int flags);
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;

  int get() const { return descriptor_; }
  /// Closes now. \throws FileError when the system only then reports a failed write.
  void close(const std::filesystem::path& path);

 private:
  int descriptor_ = -1;
};

/// Throws FileError `path: problem: reason of the last system call`.
[[noreturn]] void file_error(const std::filesystem::path& path, std::string_view problem);

/// Writes the names in a directory to the disk: after this a crash of the machine does not undo a
/// rename.
void sync_directory(const std::filesystem::path& directory);

/// A new file under a temporary name in the directory of its final name. `commit` writes it to the
/// disk and renames it over the final name; without `commit` the destructor removes it, and the
/// file that was there before stays.
class AtomicFile {
 public:
  /// \throws FileError when the directory does not exist or cannot be written.
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// \throws FileError, for example when the disk is full.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  FileDescriptor file_;
};

}  // namespace sinter::models
