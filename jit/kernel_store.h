/// \file
/// Compiled kernels on disk: found by digest, read whole, checked, never trusted otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jit/digest.h"
#include "jit/kernel_file.h"
#include "runtime/options.h"

namespace sinter::jit {

/// What the disk has of the kernels that were asked for.
struct KernelLookup {
  std::vector<KernelFile> files;  ///< Sound entries, each once.
  /// For each kernel asked for the number of the entry that should hold it, or the reason why there
  /// is none. The caller compares the texts.
  struct Place {
    std::optional<std::size_t> file;
    std::string reason;
  };
  std::vector<Place> places;
  int refused = 0;  ///< Entries that were there and could not be used.
};

/// The disk cache of a user, shared by processes. What goes wrong with it is a warning, once for
/// each kind, and a record; the program goes on without. Keeps nothing open between calls and has
/// no state that changes, so threads and forks need no care.
class KernelStore {
 public:
  explicit KernelStore(const Options& options);

  KernelLookup find(std::span<const Digest> kernels) const;

  /// Keeps a batch, `kernels` being the digests of its kernels in their order; makes room for it by
  /// removing what was unused longest.
  void keep(const KernelFile& file, std::span<const Digest> kernels) const;

 private:
  bool wanted_;
  std::string path_;    ///< Empty where there is no cache.
  std::string reason_;  ///< Why there is none.
  std::uint64_t most_bytes_;
};

}  // namespace sinter::jit
