/// \file
/// Report: files that are there as a whole or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "jit/file_bytes.h"

namespace sinter::jit {

/// A file that is written under another name until it is done.
class ReportFile {
 public:
  /// \throws FileError
  explicit ReportFile(std::string path);
  /// Removes what was not done.
  ~ReportFile();
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  /// \throws FileError
  void write(std::string_view bytes);
  /// In the place of bytes that were written. \throws FileError
  void overwrite(std::uint64_t place, std::string_view bytes);
  /// Gives the file its name. \throws FileError
  void done();

 private:
  std::string path_;
  FileHandle file_;
};

/// One warning in a process, with what was wrong the first time.
void warn_of_report(std::string_view problem);

}  // namespace sinter::jit
