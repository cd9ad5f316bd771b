#include "tools/simgpu/machine/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "tools/simgpu/code/round_up.h"

namespace simgpu {

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(address);
}

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

void Pages::release(std::size_t offset, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t first = round_up(offset, page), end = (offset + bytes) / page * page;
  if (first < end) madvise(data_ + first, end - first, MADV_DONTNEED);
}

void Pages::release_all() {
  if (data_ != nullptr) madvise(data_, bytes_, MADV_DONTNEED);
}

}  // namespace simgpu
