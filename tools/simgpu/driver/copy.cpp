#include "tools/simgpu/driver/copy.h"

#include <algorithm>
#include <cstring>

#include "tools/simgpu/driver/allocation.h"
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
  if (!side.is_device) {
    require(side.address != 0);
    require(type != CU_MEMORYTYPE_DEVICE ||
            driver().memory->host().is_open(side.address, extent(side, copy)));
    return;
  }
  const Block& block = require_range(side.address, extent(side, copy), what);
  if (type == CU_MEMORYTYPE_HOST && !block.is_host)
    refuse(CUDA_ERROR_INVALID_VALUE,
           std::string(what) + " is said to be of the host: " + describe(side.address));
}

std::shared_ptr<std::vector<std::byte>> snapshot(const CopySide& from, const CUDA_MEMCPY3D& copy) {
  const auto* first = reinterpret_cast<const std::byte*>(from.address);
  // Between rows may lie what is not the program's to read.
  auto bytes = std::make_shared<std::vector<std::byte>>(extent(from, copy));
  for (std::size_t z = 0; z < copy.Depth; ++z)
    for (std::size_t y = 0; y < copy.Height; ++y) {
      const std::size_t offset = from.row(y, z) - from.address;
      std::memcpy(bytes->data() + offset, first + offset, copy.WidthInBytes);
    }
  return bytes;
}

bool is_pageable(const CopySide& side, const CUDA_MEMCPY3D& copy) {
  return !side.is_device &&
         !is_pinned(reinterpret_cast<const void*>(side.address), extent(side, copy));
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

CUDA_MEMCPY3D line(CUmemorytype from, CUmemorytype to, std::size_t bytes) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = from;
  copy.dstMemoryType = to;
  copy.WidthInBytes = bytes;
  copy.Height = copy.Depth = 1;
  return copy;
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
  const std::size_t bytes = extent(row, set.pitch, set.height);
  if (!driver().memory->host().is_open(set.dst, bytes))
    require_range(set.dst, bytes, "destination of a set");
}

void submit_copy(const std::shared_ptr<Stream>& stream, const CUDA_MEMCPY3D& copy, Manner manner) {
  check_copy(copy);
  if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0) return;
  CopyWork work{copy, nullptr};
  if (stream->capture) return submit(stream, std::move(work));
  const CopySide from = source(copy), to = destination(copy);
  const bool of_host = !from.is_device || !to.is_device || block_at(from.address)->is_host ||
                       block_at(to.address)->is_host;
  if (is_pageable(from, copy)) {
    if (manner == Manner::synchronous) wait_for(pending(*stream));
    work.staged = snapshot(from, copy);
    manner = Manner::asynchronous;
  }
  const auto done = enqueue(stream, std::move(work));
  if (is_pageable(to, copy) || (manner == Manner::synchronous && of_host)) {
    wait_for({done});
    require_no_error(*stream->context);
  }
}

}  // namespace simgpu::driver
