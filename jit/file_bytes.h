/// \file
/// Whole files in one read and one write.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace sinter::jit {

/// A file descriptor that is closed at the end of the scope; -1 for none.
class FileHandle {
 public:
  explicit FileHandle(int file = -1) : file_(file) {}
  ~FileHandle();
  FileHandle(FileHandle&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }

  int get() const { return file_; }
  explicit operator bool() const { return file_ >= 0; }

 private:
  int file_;
};

/// What the system said of the call that failed last.
std::string last_error();

/// Reads from the current position to the end. \return false with errno set.
bool read_all(int file, std::string& bytes);

/// Writes everything. \return false with errno set.
bool write_all(int file, std::string_view bytes);

/// The content of a file. \throws FileError
std::string read_file_bytes(const std::string& path);

/// Makes a new file that only this user may read and write. \throws FileError
void write_file_bytes(const std::string& path, std::string_view bytes);

}  // namespace sinter::jit
