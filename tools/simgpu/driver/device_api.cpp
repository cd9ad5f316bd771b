// cuInit, cuDevice*: what there is.
#include <fmt/format.h>

#include <cstring>

#include "tools/simgpu/driver/context.h"
#include "tools/simgpu/driver/driver.h"
#include "tools/simgpu/machine/profile.h"

namespace simgpu::driver::api {
namespace {

constexpr const char* bus_id = "0000:00:00.0";

/// What the profile has, and what is the same for all. What is not here is 0: textures, surfaces,
/// arrays, managed memory, virtual addresses, memory shared with others, clusters, tensor maps.
int attribute_of(CUdevice_attribute attribute) {
  const Profile& of = profile();
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return of.most_threads_per_block;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return 0x7fff'ffff;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return of.shared_per_block;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return of.shared_per_block_optin;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return of.shared_per_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: return of.shared_reserved_per_block;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: return 65536;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH: return 0x7fff'ffff;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return of.registers_per_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return of.clock_khz;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return of.memory_clock_khz;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return of.bus_bits;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
    case CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT: return 512;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT: return 32;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return of.multiprocessors;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return of.most_threads_per_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return of.most_blocks_per_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return of.l2_bytes;
    case CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE: return of.l2_bytes / 4 * 3;
    case CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE: return 128 << 20;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return of.major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return of.minor;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: return 3;
    case CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO: return 2;
    case CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT: return of.major >= 9 ? 4 : 1;
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
    case CU_DEVICE_ATTRIBUTE_NUMA_ID: return -1;
    case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
    case CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: return 1;
    default: return 0;
  }
}

}  // namespace

void cuInit(unsigned flags) {
  require(flags == 0);
  require(!driver().ended, CUDA_ERROR_DEINITIALIZED);
  start();
}

int cuDriverGetVersion() { return CUDA_VERSION; }

int cuDeviceGetCount() { return 1; }

CUdevice cuDeviceGet(int ordinal) {
  require(ordinal == 0, CUDA_ERROR_INVALID_DEVICE);
  return ordinal;
}

void cuDeviceGetName(char* name, int length) {
  require(name != nullptr && length > 0);
  const std::string text = fmt::format("simgpu {} (simulated, not hardware)", profile().name);
  name[text.copy(name, static_cast<std::size_t>(length) - 1)] = '\0';
}

CUuuid cuDeviceGetUuid_v2() {
  CUuuid uuid;
  std::memcpy(uuid.bytes, "simgpu-not-a-gpu", sizeof uuid.bytes);
  return uuid;
}

std::size_t cuDeviceTotalMem_v2() { return driver().memory->capacity(); }

int cuDeviceGetAttribute(CUdevice_attribute attribute) {
  require(attribute > 0 && attribute < CU_DEVICE_ATTRIBUTE_MAX);
  return attribute_of(attribute);
}

void cuDeviceComputeCapability(int* major, int* minor) {
  require(major != nullptr && minor != nullptr);
  *major = profile().major;
  *minor = profile().minor;
}

void cuDeviceGetPCIBusId(char* text, int length) {
  require(text != nullptr && length > static_cast<int>(std::strlen(bus_id)));
  std::memcpy(text, bus_id, std::strlen(bus_id) + 1);
}

CUdevice cuDeviceGetByPCIBusId(const char* text) {
  require(text != nullptr && std::strcmp(text, bus_id) == 0);
  return 0;
}

int cuDeviceCanAccessPeer() { return 0; }

}  // namespace simgpu::driver::api
