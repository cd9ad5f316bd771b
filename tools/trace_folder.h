/// \file
/// What SINTER_TRACE_DIR has written (jit/report.h), read again.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::tools {

/// A program's folder.
struct TraceFolder {
  std::filesystem::path path;
  std::string prelude;                   ///< the digest of what its kernels begin with
  std::vector<std::string> flags;        ///< that they were compiled with
  std::vector<nlohmann::json> kernels;   ///< the records `kernel`
  std::vector<nlohmann::json> launches;  ///< the records `launch`

  /// The launch of a kernel, or of one with the same source; null where none was kept.
  const nlohmann::json* launch_of(std::size_t kernel) const;
};

/// The programs of a trace directory, oldest first, or the one whose folder it is. Folders without
/// a program are left out. \throws FileError where there is none, or what a file holds is no trace.
std::vector<TraceFolder> read_trace_folders(const std::filesystem::path& directory);

}  // namespace sinter::tools
