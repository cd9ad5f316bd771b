/// \file
/// A directory for one test case.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <system_error>

namespace sinter {

/// An empty directory, removed with its content at the end of the scope. In memory where the
/// machine has a place for that, so that no test waits for a disk.
class TemporaryDirectory {
 public:
  TemporaryDirectory() : TemporaryDirectory(place_in_memory()) {}
  /// In memory no program may run on some machines, so tests that write one name another place.
  explicit TemporaryDirectory(const std::filesystem::path& parent) {
    static int count = 0;
    path_ = parent / ("sinter-test-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  static std::filesystem::path place_in_memory() {
    const std::filesystem::path memory = "/dev/shm";
    return ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
  }

  std::filesystem::path path_;
};

/// The old file is removed first: ext4 writes a truncated and refilled file to the disk at once.
inline void write_file(const std::filesystem::path& path, const std::string& content) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary).write(content.data(), std::ssize(content));
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace sinter
