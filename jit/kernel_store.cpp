#include "jit/kernel_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <map>
#include <string_view>

#include "jit/kernel_directory.h"
#include "runtime/log.h"

namespace sinter::jit {
namespace {

constexpr std::string_view link_prefix = "../batches/";
constexpr std::size_t name_size = 32;

/// A warning for each kind of trouble, and a record every time.
void report(std::string_view kind, std::string_view problem, std::string_view consequence) {
  write_log({LogChannel::cache, {}, "refused", {{"reason", std::string(problem)}}});
  warn(fmt::format("kernel cache: {}", kind),
       fmt::format("kernel cache: {}; {}", problem, consequence));
}

/// The batch that a kernel's link names.
std::optional<std::string> batch_of(const KernelDirectory& directory, const std::string& kernel,
                                    Trouble& trouble) {
  std::array<char, link_prefix.size() + name_size + 1> target;
  const ssize_t size =
      ::readlinkat(directory.kernels.get(), kernel.c_str(), target.data(), target.size());
  if (size < 0) {
    trouble = {errno == ENOENT, errno == ENOENT ? "not on disk" : "is no link: " + last_error()};
    return std::nullopt;
  }
  const std::string_view text(target.data(), static_cast<std::size_t>(size));
  const std::string_view name = text.substr(std::min(text.size(), link_prefix.size()));
  const bool plain = name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (text.starts_with(link_prefix) && name.size() == name_size && plain) return std::string(name);
  trouble = {false, "leads to no batch"};
  return std::nullopt;
}

/// Reads and checks an entry.
std::optional<KernelFile> read_entry(const KernelDirectory& directory, const std::string& name,
                                     Trouble& trouble) {
  const std::optional<BatchFile> batch = read_batch(directory, name, trouble);
  if (!batch) return std::nullopt;
  std::optional<KernelFile> entry = decode(batch->bytes, trouble.problem);
  if (entry) ::futimens(batch->file.get(), nullptr);  // used now; may fail on a read-only disk
  return entry;
}

/// Names of no other writer, on this machine or another one.
std::string unfinished_name() {
  static std::atomic<unsigned> count{0};
  struct timespec now {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return fmt::format("{}{}-{}-{}.{}", unfinished, ::getpid(), count++, now.tv_sec, now.tv_nsec);
}

/// Renames over whatever has the name. \return false with errno set.
bool replace(const FileHandle& directory, const std::string& from, const std::string& to) {
  if (::renameat(directory.get(), from.c_str(), directory.get(), to.c_str()) == 0) return true;
  if (errno == EISDIR && remove_file(directory, to) &&
      ::renameat(directory.get(), from.c_str(), directory.get(), to.c_str()) == 0)
    return true;
  const int error = errno;
  remove_file(directory, from);
  errno = error;
  return false;
}

bool write_batch(const KernelDirectory& directory, const std::string& name,
                 std::string_view bytes) {
  const std::string temporary = unfinished_name();
  {
    const FileHandle file(::openat(directory.batches.get(), temporary.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file) return false;
    if (!write_all(file.get(), bytes) || ::fsync(file.get()) != 0) {
      const int error = errno;
      remove_file(directory.batches, temporary);
      errno = error;
      return false;
    }
  }
  return replace(directory.batches, temporary, name);
}

bool write_link(const KernelDirectory& directory, const Digest& kernel, const std::string& batch) {
  const std::string target = std::string(link_prefix) + batch, name = to_hex(kernel);
  const int folder = directory.kernels.get();
  if (::symlinkat(target.c_str(), folder, name.c_str()) == 0) return true;
  const std::string temporary = unfinished_name();
  if (errno != EEXIST || ::symlinkat(target.c_str(), folder, temporary.c_str()) != 0) return false;
  return replace(directory.kernels, temporary, name);
}

/// The name of a batch: the same for the same kernels, so that a broken one is written over.
std::string batch_name(std::span<const Digest> kernels) {
  std::vector<std::string> names;
  for (const Digest& kernel : kernels) names.push_back(to_hex(kernel));
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += name;
  return to_hex(digest_of(text));
}

}  // namespace

KernelStore::KernelStore(const Options& options)
    : wanted_(options.disk_cache), most_bytes_(options.cache_bytes) {
  if (wanted_) path_ = cache_directory(options, reason_).value_or("");
  else reason_ = "SINTER_CACHE is off";
}

KernelLookup KernelStore::find(std::span<const Digest> kernels) const {
  KernelLookup lookup;
  lookup.places.resize(kernels.size());
  std::string problem = reason_;
  const auto directory = path_.empty() ? std::nullopt : open_directory(path_, false, problem);
  if (!directory) {
    if (!path_.empty() && !problem.empty())
      report("directory", problem, "kernels are not kept on disk");
    for (KernelLookup::Place& place : lookup.places)
      place.reason = problem.empty() ? "not on disk" : problem;
    return lookup;
  }
  const auto refuse = [&](const FileHandle& folder, const std::string& name,
                          const Trouble& trouble) -> std::string {
    if (trouble.missing) return trouble.problem;
    const char* part = &folder == &directory->batches ? "batches" : "kernels";
    std::string whole = fmt::format("{}/{}/{} {}", path_, part, name, trouble.problem);
    report("entry", whole, "what it held is compiled again");
    ++lookup.refused;
    remove_file(folder, name);
    return whole;
  };
  std::map<std::string, KernelLookup::Place> seen;  // what came of each batch
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    Trouble trouble;
    const std::string kernel = to_hex(kernels[i]);
    const auto batch = batch_of(*directory, kernel, trouble);
    if (!batch) {
      lookup.places[i].reason = refuse(directory->kernels, kernel, trouble);
      continue;
    }
    const auto [known, is_new] = seen.try_emplace(*batch);
    if (is_new) {
      if (auto file = read_entry(*directory, *batch, trouble)) {
        known->second.file = lookup.files.size();
        lookup.files.push_back(std::move(*file));
      } else {
        known->second.reason = refuse(directory->batches, *batch, trouble);
      }
    }
    lookup.places[i] = known->second;
  }
  return lookup;
}

void KernelStore::keep(const KernelFile& file, std::span<const Digest> kernels) const {
  if (path_.empty()) {
    if (wanted_) report("directory", reason_, "kernels are not kept on disk");
    return;
  }
  const std::string bytes = encode(file), name = batch_name(kernels);
  if (bytes.size() > most_bytes_) {
    const std::string problem =
        fmt::format("a batch of {} bytes is larger than SINTER_CACHE_SIZE", bytes.size());
    report("size", problem, "it is not kept on disk");
    return;
  }
  std::string problem;
  const auto directory = open_directory(path_, true, problem);
  if (!directory) return report("directory", problem, "kernels are not kept on disk");
  bool written = write_batch(*directory, name, bytes);
  for (std::size_t i = 0; written && i < kernels.size(); ++i)
    written = write_link(*directory, kernels[i], name);
  if (!written)
    return report("write", fmt::format("{}: cannot be written: {}", path_, last_error()),
                  "kernels are not kept on disk");
  write_log(
      {LogChannel::cache, {}, "kept", {{"batch", name}, {"bytes", fmt::to_string(bytes.size())}}});
  for (const BatchStatus& batch : evict(*directory, most_bytes_, name))
    write_log({LogChannel::cache,
               {},
               "evicted",
               {{"batch", batch.name},
                {"bytes", fmt::to_string(batch.bytes)},
                {"reason", "SINTER_CACHE_SIZE"}}});
}

}  // namespace sinter::jit
