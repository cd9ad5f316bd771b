#include "tools/simgpu/driver/copy.h"

#include <algorithm>
#include <cstring>

#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/driver.h"

namespace simgpu::driver {
namespace {

constexpr std::size_t most_pitch = 0x7fff'ffff;  // CU_DEVICE_ATTRIBUTE_MAX_PITCH

/// From the first byte of so many rows to the last.
std::size_t extent(std::size_t width, std::size_t pitch, std::size_t height, std::size_t slice = 0,
                   std::size_t depth = 1) {
  __extension__ using Wide = unsigned __int128;
  const Wide bytes = Wide{height - 1} * pitch + Wide{depth - 1} * slice + width;
  require(bytes <= SIZE_MAX / 2);
  return static_cast<std::size_t>(bytes);
}
std::size_t extent(const CopySide& side, const CUDA_MEMCPY3D& copy) {
  return extent(copy.WidthInBytes, side.pitch, copy.Height, side.slice, copy.Depth);
}

CopySide side(CUmemorytype type, const void* host, CUdeviceptr device, std::size_t pitch,
              std::size_t height, const CUDA_MEMCPY3D& copy) {
  CopySide made;
  made.address = type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uint64_t>(host) : device;
  made.is_device =
      driver().memory->holds(made.address, 0) ||
      (type == CU_MEMORYTYPE_DEVICE && !driver().memory->host().is_open(made.address, 1));
  made.pitch = pitch != 0 ? pitch : copy.WidthInBytes;
  made.slice = made.pitch * (height != 0 ? height : copy.Height);
  return made;
}

void check_side(const CopySide& side, CUmemorytype type, const CUDA_MEMCPY3D& copy,
                std::size_t height, const char* what) {
  require(type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE ||
          type == CU_MEMORYTYPE_UNIFIED);
  require(copy.Height == 1 || (side.pitch >= copy.WidthInBytes && side.pitch <= most_pitch));
  require(copy.Depth == 1 || ((height == 0 || height >= copy.Height) && height <= most_pitch &&
                              copy.Height <= most_pitch && side.pitch <= most_pitch));
  if (!side.is_device && type != CU_MEMORYTYPE_DEVICE) return require(side.address != 0);
  const MemoryBlock& block = require_range(side.address, extent(side, copy), what);
  if (type == CU_MEMORYTYPE_HOST && !block.is_host())
    refuse(CUDA_ERROR_INVALID_VALUE,
           std::string(what) + " is said to be of the host: " + describe(side.address));
}

/// The rows without what lies between them, which may not be the program's to read.
std::shared_ptr<std::vector<std::byte>> snapshot(const CopySide& from, const CUDA_MEMCPY3D& copy) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  bytes->reserve(copy.WidthInBytes * copy.Height * copy.Depth);
  for (std::size_t z = 0; z < copy.Depth; ++z)
    for (std::size_t y = 0; y < copy.Height; ++y) {
      const auto* row = reinterpret_cast<const std::byte*>(from.row(y, z));
      bytes->insert(bytes->end(), row, row + copy.WidthInBytes);
    }
  return bytes;
}

/// Whether it is of the host, and cannot be copied while the program goes on.
bool is_pageable(const CopySide& side, const CUDA_MEMCPY3D& copy) {
  const MemoryBlock* block = block_at(side.address);
  return block == nullptr || !block->holds(extent(side, copy), side.address);
}

bool is_of_host(const CopySide& side) {
  const MemoryBlock* block = block_at(side.address);
  return block == nullptr || block->is_host();
}

void wait_until_done(const Stream& stream, const std::shared_ptr<Operation>& operation) {
  wait_for({operation});
  require_no_error(*stream.context);
}

}  // namespace

CopySide source(const CUDA_MEMCPY3D& copy) {
  CopySide made =
      side(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcPitch, copy.srcHeight, copy);
  made.address = made.row(copy.srcY, copy.srcZ) + copy.srcXInBytes;
  return made;
}

CopySide destination(const CUDA_MEMCPY3D& copy) {
  CopySide made =
      side(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstPitch, copy.dstHeight, copy);
  made.address = made.row(copy.dstY, copy.dstZ) + copy.dstXInBytes;
  return made;
}

void check_copy(const CUDA_MEMCPY3D& copy) {
  if (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY || copy.dstMemoryType == CU_MEMORYTYPE_ARRAY)
    refuse(CUDA_ERROR_NOT_SUPPORTED, "the simulated GPU has no arrays");
  if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0) return;
  check_side(source(copy), copy.srcMemoryType, copy, copy.srcHeight, "source of a copy");
  check_side(destination(copy), copy.dstMemoryType, copy, copy.dstHeight, "destination of a copy");
}

void check_set(const CUDA_MEMSET_NODE_PARAMS& set) {
  require(set.elementSize == 1 || set.elementSize == 2 || set.elementSize == 4);
  require(set.dst % set.elementSize == 0);
  if (set.width == 0 || set.height == 0) return;
  require(set.width <= SIZE_MAX / 8);
  const std::size_t row = set.width * set.elementSize;
  require(set.height == 1 ||
          (set.pitch >= row && set.pitch <= most_pitch && set.pitch % set.elementSize == 0));
  require_range(set.dst, extent(row, set.pitch, set.height), "destination of a set");
}

void submit_copy(const std::shared_ptr<Stream>& stream, const CUDA_MEMCPY3D& copy) {
  const bool waits = Call::current().terms().waits;
  check_copy(copy);
  if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0) return;
  if (waits) forbid_if_capturing(*stream);
  CopyWork work{copy, nullptr};
  const CopySide from = source(copy), to = destination(copy);
  const bool is_staged = !stream->capture && is_pageable(from, copy);
  const bool waits_at_end =
      is_pageable(to, copy) || (waits && !is_staged && (is_of_host(from) || is_of_host(to)));
  if (is_staged) {
    if (waits) wait_for(pending(*stream));
    work.staged = snapshot(from, copy);
  }
  const auto done = submit(stream, std::move(work));
  if (done && waits_at_end) wait_until_done(*stream, done);
}

void submit_set(const std::shared_ptr<Stream>& stream, const CUDA_MEMSET_NODE_PARAMS& set) {
  const bool waits = Call::current().terms().waits;
  check_set(set);
  if (set.width == 0 || set.height == 0) return;
  if (waits) forbid_if_capturing(*stream);
  const bool waits_at_end = waits && block_at(set.dst)->is_host();
  const auto done = submit(stream, SetWork{set});
  if (waits_at_end) wait_until_done(*stream, done);
}

}  // namespace simgpu::driver
