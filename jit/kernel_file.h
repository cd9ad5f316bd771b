/// \file
/// An entry of the disk cache: kernels that were compiled together, in one file.
///
/// Layout: eight bytes that name the format, the XXH3-128 of all that follows, then numbers of
/// eight bytes and texts that begin with their length: time of making; ingredients; count of
/// kernels; for each its symbol and its body; the shared object. The checksum finds accidents.
/// Against people the cache is guarded by the owner and the mode of its directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::jit {

struct StoredKernel {
  std::string symbol;
  std::string body;
};

struct KernelFile {
  std::int64_t made = 0;    ///< Seconds since 1970.
  std::string ingredients;  ///< As to_text(KernelIngredients) gives it.
  std::vector<StoredKernel> kernels;
  std::string image;  ///< The shared object.
};

std::string encode(const KernelFile& file);

/// \return nothing where the bytes are not those of an entry, with the reason in `problem`.
std::optional<KernelFile> decode(std::string_view bytes, std::string& problem);

}  // namespace sinter::jit
