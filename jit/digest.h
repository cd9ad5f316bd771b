/// \file
/// Checksums and names by content: XXH3 of 128 bits, which finds accidents, not attacks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sinter::jit {

struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const Digest&, const Digest&) = default;
};

Digest digest_of(std::string_view bytes);

/// The digest of a text that follows another one, known by its digest.
Digest digest_of(const Digest& before, std::string_view bytes);

/// 32 digits, as XXH3's canonical form has them.
std::string to_hex(const Digest& digest);

}  // namespace sinter::jit
