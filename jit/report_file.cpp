#include "jit/report_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "runtime/error.h"
#include "runtime/log.h"

namespace sinter::jit {
namespace {

std::string unfinished(const std::string& path) { return path + ".new"; }

[[noreturn]] void file_error(const std::string& path) {
  const std::string reason = last_error();
  throw FileError(fmt::format("{}: cannot be written: {}", path, reason));
}

}  // namespace

ReportFile::ReportFile(std::string path)
    : path_(std::move(path)),
      file_(::open(unfinished(path_).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
  if (!file_) file_error(path_);
}

ReportFile::~ReportFile() {
  if (!path_.empty()) ::unlink(unfinished(path_).c_str());
}

void ReportFile::write(std::string_view bytes) {
  if (!write_all(file_.get(), bytes)) file_error(path_);
}

void ReportFile::overwrite(std::uint64_t place, std::string_view bytes) {
  if (::lseek(file_.get(), static_cast<off_t>(place), SEEK_SET) < 0) file_error(path_);
  write(bytes);
  if (::lseek(file_.get(), 0, SEEK_END) < 0) file_error(path_);
}

void ReportFile::done() {
  if (std::rename(unfinished(path_).c_str(), path_.c_str()) != 0) file_error(path_);
  path_.clear();
}

void warn_of_report(std::string_view problem) {
  warn("trace directory", fmt::format("SINTER_TRACE_DIR: {}; not every program is there", problem));
}

}  // namespace sinter::jit
