/// \file
/// Replacing several files of a directory as one.
///
/// New contents are first written beside the old under the name with `.new`. A journal file that
/// lists them is then put in place: that is the moment of the change. After it the files are
/// renamed and the journal is removed. Whoever finds a journal knows that the listed `.new` files
/// are whole; without one they are leftovers. So a crash at any point leaves either the old or the
/// new set, and other files of the directory are never touched.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sinter::models {

/// One change to the files of a directory. One program at a time may change a directory.
class FileSet {
 public:
  /// Makes the directory if need be, and finishes the change of a program that stopped during it.
  /// \throws FileError
  explicit FileSet(std::filesystem::path directory);

  /// Where to write the new content of the file `name`. What is not committed stays without effect.
  std::filesystem::path stage(const std::string& name);
  /// Replaces the staged files, all of which have been written.
  void commit();

 private:
  std::filesystem::path directory_;
  std::vector<std::string> names_;
};

/// Where the committed content of the file `name` is now, also after a crash during a change. The
/// file need not exist. \throws FileError where something else than a file is there, a pipe for
/// example, which a reader would wait for.
std::filesystem::path committed_path(const std::filesystem::path& directory,
                                     const std::string& name);

}  // namespace sinter::models
