/// \file
/// Where the compiler works.
#pragma once

#include <string>

namespace sinter::jit {

/// A new directory that only this user may enter, removed with what is in it at the end of the
/// scope. A program that ends meanwhile waits for it, for a minute at most.
class HostDirectory {
 public:
  /// \param parent where temporary files go: TMPDIR, or nothing for the system's place.
  /// \throws FileError
  explicit HostDirectory(const std::string& parent);
  ~HostDirectory();
  HostDirectory(const HostDirectory&) = delete;
  HostDirectory& operator=(const HostDirectory&) = delete;

  /// The first call makes the program wait at its end; each constructor calls it.
  static void wait_for_all_at_exit();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The directory that HostDirectory makes its own in.
std::string temporary_directory(const std::string& parent);

}  // namespace sinter::jit
