#include "jit/kernel_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <functional>
#include <tuple>

namespace sinter::jit {
namespace {

/// More than any batch has; a file of this size is none.
constexpr off_t largest_batch = off_t{1} << 30;
constexpr std::int64_t nanoseconds = 1'000'000'000;
constexpr std::int64_t writer_is_dead_after = 3600 * nanoseconds;

/// Like mkdir -p; each new directory is this user's alone.
void make_directories(const std::string& path) {
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
    ::mkdir(path.substr(0, end).c_str(), 0700);
  ::mkdir(path.c_str(), 0700);
}

FileHandle open_part(const FileHandle& top, const char* name, bool make) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
  FileHandle part(::openat(top.get(), name, flags));
  if (part || !make || errno != ENOENT) return part;
  ::mkdirat(top.get(), name, 0700);
  return FileHandle(::openat(top.get(), name, flags));
}

/// Why a directory may not be used, or nothing.
std::string objection(const struct stat& status) {
  if (status.st_uid != ::geteuid())
    return fmt::format("belongs to user {}, not to {}", status.st_uid, ::geteuid());
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fmt::format("may be written by others (mode {:o})", status.st_mode & 07777u);
  return {};
}

/// Calls `visit` with each name in a directory; none where it cannot be read.
void for_each_name(const FileHandle& directory, const std::function<void(const char*)>& visit) {
  const int copy = ::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = copy < 0 ? nullptr : ::fdopendir(copy);
  if (stream == nullptr) {
    if (copy >= 0) ::close(copy);
    return;
  }
  while (const dirent* item = ::readdir(stream))
    if (item->d_name[0] != '.') visit(item->d_name);
  ::closedir(stream);
}

std::int64_t now() { return std::int64_t{::time(nullptr)} * nanoseconds; }

void remove_dangling_links(const KernelDirectory& directory) {
  std::vector<std::string> dangling;
  for_each_name(directory.kernels, [&](const char* name) {
    if (::faccessat(directory.kernels.get(), name, F_OK, 0) != 0 && errno == ENOENT)
      dangling.emplace_back(name);
  });
  for (const std::string& name : dangling) ::unlinkat(directory.kernels.get(), name.c_str(), 0);
}

std::vector<BatchStatus> list_files(const KernelDirectory& directory) {
  std::vector<BatchStatus> found;
  for_each_name(directory.batches, [&](const char* name) {
    struct stat status {};
    if (::fstatat(directory.batches.get(), name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    const std::int64_t used = status.st_mtim.tv_sec * nanoseconds + status.st_mtim.tv_nsec;
    found.push_back({name, static_cast<std::uint64_t>(status.st_size), used});
  });
  std::sort(found.begin(), found.end(), [](const BatchStatus& a, const BatchStatus& b) {
    return std::tie(a.used, a.name) < std::tie(b.used, b.name);
  });
  return found;
}

}  // namespace

std::optional<std::string> cache_directory(const Options& options, std::string& problem) {
  const Surroundings& surroundings = options.surroundings;
  if (!options.cache_directory.empty()) return options.cache_directory;
  if (surroundings.cache_home.starts_with('/')) return surroundings.cache_home + "/sinter";
  if (surroundings.home.starts_with('/')) return surroundings.home + "/.cache/sinter";
  problem = "neither SINTER_CACHE nor XDG_CACHE_HOME nor HOME names a directory";
  return std::nullopt;
}

std::optional<KernelDirectory> open_directory(const std::string& path, bool make,
                                              std::string& problem) {
  if (make) make_directories(path);
  const FileHandle top(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  if (!top || ::fstat(top.get(), &status) != 0) {
    if (make || errno != ENOENT)
      problem = fmt::format("{}: cannot be opened: {}", path, last_error());
    return std::nullopt;
  }
  if (const std::string refused = objection(status); !refused.empty()) {
    problem = fmt::format("{}: {}", path, refused);
    return std::nullopt;
  }
  KernelDirectory directory{path, open_part(top, "batches", make), FileHandle()};
  if (directory.batches) directory.kernels = open_part(top, "kernels", make);
  if (directory.kernels) return directory;
  if (make || errno != ENOENT)
    problem = fmt::format("{}/{}: cannot be opened: {}", path,
                          directory.batches ? "kernels" : "batches", last_error());
  return std::nullopt;
}

std::optional<BatchFile> read_batch(const KernelDirectory& directory, const std::string& name,
                                    Trouble& trouble) {
  BatchFile batch{FileHandle(::openat(directory.batches.get(), name.c_str(),
                                      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)),
                  {}};
  struct stat status {};
  if (!batch.file) {
    trouble = {errno == ENOENT, errno == ENOENT ? "its batch was removed to make room"
                                                : "cannot be opened: " + last_error()};
    return std::nullopt;
  }
  if (::fstat(batch.file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size > largest_batch) {
    trouble = {false, "is no file of a batch"};
    return std::nullopt;
  }
  if (!read_all(batch.file.get(), batch.bytes)) {
    trouble = {false, "cannot be read: " + last_error()};
    return std::nullopt;
  }
  trouble = {};
  return batch;
}

std::vector<BatchStatus> list_batches(const KernelDirectory& directory) {
  std::vector<BatchStatus> found = list_files(directory);
  std::erase_if(found, [](const BatchStatus& file) { return file.name.starts_with(unfinished); });
  return found;
}

std::vector<BatchStatus> evict(const KernelDirectory& directory, std::uint64_t bytes,
                               std::string_view keep) {
  const std::vector<BatchStatus> files = list_files(directory);
  const std::int64_t dead = now() - writer_is_dead_after;
  std::uint64_t total = 0;
  for (const BatchStatus& file : files) total += file.bytes;
  std::vector<BatchStatus> removed;
  for (const BatchStatus& file : files) {
    const bool writing = file.name.starts_with(unfinished);
    const bool stays = writing ? file.used >= dead : total <= bytes || file.name == keep;
    if (stays || !remove_file(directory.batches, file.name)) continue;
    total -= file.bytes;
    if (!writing) removed.push_back(file);
  }
  if (!removed.empty()) remove_dangling_links(directory);
  return removed;
}

bool remove_file(const FileHandle& directory, const std::string& name) {
  return ::unlinkat(directory.get(), name.c_str(), 0) == 0 ||
         ::unlinkat(directory.get(), name.c_str(), AT_REMOVEDIR) == 0;
}

}  // namespace sinter::jit
