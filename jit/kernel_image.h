/// \file
/// Machine code in memory becomes functions to call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sinter::jit {

/// A generated kernel: works on the tasks `first` to `last` - 1 of what `arguments` points to.
using KernelFunction = void (*)(const void* arguments, std::int64_t first, std::int64_t last);

/// A loaded shared object. It stays for as long as the process does: nobody counts who still holds
/// one of its functions.
class KernelImage {
 public:
  /// Loads a shared object from a file in memory, which nobody can truncate or exchange meanwhile.
  /// \throws FileError
  explicit KernelImage(std::string_view bytes);

  /// nullptr where there is no such symbol.
  KernelFunction find(const std::string& symbol) const;

 private:
  void* handle_;
};

}  // namespace sinter::jit
