#include "jit/kernel_image.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <atomic>

#include "jit/file_bytes.h"
#include "runtime/error.h"

namespace sinter::jit {
namespace {

/// A path of an open file that no other call has used or will use: the loader takes an object of a
/// name it knows for the one it loaded before, and file descriptors come again. A doubled slash
/// says one and a single one says zero in the binary number of the call.
std::string unused_path(int file) {
  static std::atomic<unsigned> calls{1};
  std::string path = "/proc/self/fd";
  for (unsigned number = calls++; number != 0; number >>= 1)
    path += (number & 1u) != 0 ? "//." : "/.";
  return fmt::format("{}/{}", path, file);
}

}  // namespace

KernelImage::KernelImage(std::string_view bytes) {
  const FileHandle file(::memfd_create("sinter-kernels", MFD_CLOEXEC));
  if (!file || !write_all(file.get(), bytes))
    throw FileError(fmt::format("no memory for the machine code of kernels: {}", last_error()));
  handle_ = ::dlopen(unused_path(file.get()).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr)
    throw FileError(fmt::format("compiled kernels cannot be loaded: {}", ::dlerror()));
}

KernelFunction KernelImage::find(const std::string& symbol) const {
  return reinterpret_cast<KernelFunction>(::dlsym(handle_, symbol.c_str()));
}

}  // namespace sinter::jit
