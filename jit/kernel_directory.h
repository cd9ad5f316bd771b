/// \file
/// The directory of the disk cache: whom it belongs to, what is in it, what has to go.
///
/// `batches/NAME` are the entries (kernel_file.h). `kernels/DIGEST` is a symbolic link for each
/// kernel to the batch that holds it: it is read, never followed, and can be exchanged in one step.
/// A batch that is gone leaves links that lead nowhere, which count as not there. No file is ever
/// locked: each is made under another name and then renamed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jit/file_bytes.h"
#include "runtime/options.h"

namespace sinter::jit {

/// Where the options and the environment put the cache; nothing without a place, and why.
std::optional<std::string> cache_directory(const Options& options, std::string& problem);

/// An opened cache directory.
struct KernelDirectory {
  std::string path;
  FileHandle batches;
  FileHandle kernels;
};

/// \param make whether to make what is missing, for this user alone.
/// \return nothing where there is none or none that may be used: one of another owner, or that
/// others may write to. `problem` says which, and is empty where it is merely missing.
std::optional<KernelDirectory> open_directory(const std::string& path, bool make,
                                              std::string& problem);

/// What a step of a look-up found in the way.
struct Trouble {
  bool missing = false;  ///< Merely not there, which is no fault.
  std::string problem;
};

/// A batch and all of its bytes.
struct BatchFile {
  FileHandle file;
  std::string bytes;
};

/// Reads a batch. Whatever stands in its place is not waited for, nor read where it is no file or
/// larger than any batch.
std::optional<BatchFile> read_batch(const KernelDirectory& directory, const std::string& name,
                                    Trouble& trouble);

struct BatchStatus {
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t used = 0;  ///< Nanoseconds since 1970: when it was made or last loaded.
};

/// The batches, the one unused longest first.
std::vector<BatchStatus> list_batches(const KernelDirectory& directory);

/// Removes batches, the one unused longest first, until the rest takes at most `bytes`; also files
/// that a writer left behind an hour ago, and links that lead nowhere. Other processes may do the
/// same meanwhile. \param keep the name of a batch that stays.
/// \return the batches it removed.
std::vector<BatchStatus> evict(const KernelDirectory& directory, std::uint64_t bytes,
                               std::string_view keep = {});

/// Removes a file, or an empty directory in its place. \return whether it was there.
bool remove_file(const FileHandle& directory, const std::string& name);

/// Names of files being written begin with this.
inline constexpr std::string_view unfinished = "tmp-";

}  // namespace sinter::jit
