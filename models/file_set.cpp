#include "models/file_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>

#include <sinter/sinter.h>

#include "models/atomic_file.h"

namespace sinter::models {
namespace {

constexpr const char* journal_name = "replace.journal";

std::filesystem::path staged_path(const std::filesystem::path& directory, const std::string& name) {
  return directory / (name + ".new");
}

bool is_there(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

void require_file(const std::filesystem::path& path) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw FileError(fmt::format("{}: is no file", path.string()));
}

/// The names in the journal; none where there is none.
std::vector<std::string> journal_of(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  require_file(directory / journal_name);
  std::ifstream file(directory / journal_name);
  for (std::string name; std::getline(file, name);) {
    if (name.find('/') != name.npos)
      throw FileError(fmt::format("{}: names a file of another directory",
                                  (directory / journal_name).string()));
    names.push_back(name);
  }
  return names;
}

void rename_staged(const std::filesystem::path& directory, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::filesystem::path staged = staged_path(directory, name);
    // A name whose staged file is gone has been renamed before the stop.
    if (!is_there(staged)) continue;
    std::error_code error;
    std::filesystem::rename(staged, directory / name, error);
    if (error)
      throw FileError(fmt::format("{}: cannot be renamed: {}", staged.string(), error.message()));
  }
  sync_directory(directory);
  std::error_code error;
  std::filesystem::remove(directory / journal_name, error);
  if (error)
    throw FileError(fmt::format("{}: cannot be removed: {}", (directory / journal_name).string(),
                                error.message()));
  // Otherwise the journal could come back after a power failure and vouch for the next leftovers.
  sync_directory(directory);
}

/// Removes what a stopped program left: files whose names begin with `prefix`.
void remove_leftovers(const std::filesystem::path& directory, const std::string& prefix) {
  std::vector<std::filesystem::path> leftovers;
  std::error_code ignored;  // what cannot be removed only takes disk space
  for (std::filesystem::directory_iterator entry(directory, ignored), end; entry != end;
       entry.increment(ignored))
    if (entry->path().filename().string().starts_with(prefix)) leftovers.push_back(entry->path());
  for (const auto& path : leftovers) std::filesystem::remove(path, ignored);
}

}  // namespace

FileSet::FileSet(std::filesystem::path directory) : directory_(std::move(directory)) {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error)
    throw FileError(fmt::format("{}: cannot be created: {}", directory_.string(), error.message()));
  const std::vector<std::string> unfinished = journal_of(directory_);
  if (!unfinished.empty()) rename_staged(directory_, unfinished);
  remove_leftovers(directory_, std::string(journal_name) + ".tmp-");
}

std::filesystem::path FileSet::stage(const std::string& name) {
  remove_leftovers(directory_, name + ".new");
  names_.push_back(name);
  return staged_path(directory_, name);
}

void FileSet::commit() {
  AtomicFile journal(directory_ / journal_name);
  for (const std::string& name : names_) {
    if (!is_there(staged_path(directory_, name)))
      throw FileError(
          fmt::format("{}: was staged but not written", staged_path(directory_, name).string()));
    journal.write(name + "\n");
  }
  journal.commit();
  rename_staged(directory_, std::exchange(names_, {}));
}

std::filesystem::path committed_path(const std::filesystem::path& directory,
                                     const std::string& name) {
  const std::vector<std::string> names = journal_of(directory);
  const std::filesystem::path staged = staged_path(directory, name);
  const bool listed = std::find(names.begin(), names.end(), name) != names.end();
  std::filesystem::path path = listed && is_there(staged) ? staged : directory / name;
  require_file(path);
  return path;
}

}  // namespace sinter::models
