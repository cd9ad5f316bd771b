#include "kernels/row_access.h"

#include <array>
#include <memory>
#include <new>

namespace sinter::kernels {
namespace {

constexpr std::align_val_t cache_line{64};

struct Free {
  void operator()(std::byte* bytes) const { ::operator delete(bytes, cache_line); }
};

struct Block {
  std::unique_ptr<std::byte, Free> bytes;
  std::int64_t size = 0;
};

}  // namespace

void* scratch_bytes(int slot, std::int64_t bytes) {
  thread_local std::array<Block, scratch_slots> blocks;
  Block& block = blocks[static_cast<std::size_t>(slot)];
  if (block.size < bytes) {
    block.bytes.reset();
    block.size = 0;
    void* const memory = ::operator new(static_cast<std::size_t>(bytes), cache_line);
    block.bytes.reset(static_cast<std::byte*>(memory));
    block.size = bytes;
  }
  return block.bytes.get();
}

}  // namespace sinter::kernels
