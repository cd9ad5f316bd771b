#include "jit/digest.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sinter::jit {

Digest digest_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

Digest digest_of(const Digest& before, std::string_view bytes) {
  const Digest own = digest_of(bytes);
  const std::uint64_t parts[] = {before.high, before.low, own.high, own.low};
  return digest_of({reinterpret_cast<const char*>(parts), sizeof parts});
}

std::string to_hex(const Digest& digest) {
  return fmt::format("{:016x}{:016x}", digest.high, digest.low);
}

}  // namespace sinter::jit
