#include <cstring>

#include "tests/simgpu/client.h"

namespace simgpu {
namespace {

int attribute(CUdevice_attribute which) {
  int value = -1;
  CHECK(cuDeviceGetAttribute(&value, which, 0) == CUDA_SUCCESS);
  return value;
}

}  // namespace

TEST_CASE("simgpu driver: the device names itself a simulation") {
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  CHECK(cuInit(1) == CUDA_ERROR_INVALID_VALUE);
  int count = 0, version = 0;
  CHECK(cuDeviceGetCount(&count) == CUDA_SUCCESS);
  CHECK(count == 1);
  CHECK(cuDriverGetVersion(&version) == CUDA_SUCCESS);
  CHECK(version == CUDA_VERSION);
  CUdevice device = -1;
  CHECK(cuDeviceGet(&device, 0) == CUDA_SUCCESS);
  CHECK(cuDeviceGet(&device, 1) == CUDA_ERROR_INVALID_DEVICE);
  char name[64] = {};
  CHECK(cuDeviceGetName(name, sizeof name, device) == CUDA_SUCCESS);
  CHECK(std::string(name) == "simgpu sm_90 (simulated, not hardware)");
  CHECK(cuDeviceGetName(name, 7, device) == CUDA_SUCCESS);
  CHECK(std::string(name) == "simgpu");
  CUuuid uuid;
  CHECK(cuDeviceGetUuid(&uuid, device) == CUDA_SUCCESS);
  CHECK(std::string(uuid.bytes, sizeof uuid.bytes) == "simgpu-not-a-gpu");
  CHECK(cuDeviceGetUuid(&uuid, 7) == CUDA_ERROR_INVALID_DEVICE);
}

TEST_CASE("simgpu driver: attributes are those of the profile") {
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) == 9);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) == 0);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) == 132);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) == 49152);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) == 227 * 1024);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE) == 50 << 20);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) == 0);
  // Each one has an answer.
  for (int which = 1; which < 148; ++which)
    CHECK(attribute(static_cast<CUdevice_attribute>(which)) >= -1);
  int value = 0;
  CHECK(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(0), 0) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(cuDeviceGetAttribute(&value, unknown<CUdevice_attribute>(10000), 0) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0) ==
        CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("simgpu driver: errors have names") {
  const char* text = nullptr;
  CHECK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text) == CUDA_SUCCESS);
  CHECK(std::string(text) == "CUDA_ERROR_ILLEGAL_ADDRESS");
  CHECK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text) == CUDA_SUCCESS);
  CHECK(std::string(text) == "an illegal memory access was encountered");
  CHECK(cuGetErrorString(CUDA_ERROR_INVALID_CLUSTER_SIZE, &text) == CUDA_SUCCESS);
  CHECK(std::string(text) == "invalid cluster size");
  CHECK(cuGetErrorString(CUDA_SUCCESS, &text) == CUDA_SUCCESS);
  CHECK(std::string(text) == "no error");
  CHECK(cuGetErrorName(unknown<CUresult>(12345), &text) == CUDA_ERROR_INVALID_VALUE);
  CHECK(text == nullptr);
}

TEST_CASE("simgpu driver: a function is found at the version that is asked for") {
  const auto find = [](const char* name, int version, cuuint64_t flags = 0) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult status{};
    CHECK(cuGetProcAddress(name, &function, version, flags, &status) == CUDA_SUCCESS);
    CHECK((function != nullptr) == (status == CU_GET_PROC_ADDRESS_SUCCESS));
    return std::pair(function, status);
  };
  CHECK(find("cuMemAlloc", 13000).first == reinterpret_cast<void*>(&cuMemAlloc));
  CHECK(find("cuMemAlloc", 3020).first == reinterpret_cast<void*>(&cuMemAlloc));
  CHECK(find("cuMemAlloc", 2000).first != nullptr);
  CHECK(find("cuMemAlloc", 2000).first != find("cuMemAlloc", 3020).first);
  CHECK(find("cuCtxCreate", 13000).first == reinterpret_cast<void*>(&cuCtxCreate));
  CHECK(find("cuCtxCreate", 12000).first != reinterpret_cast<void*>(&cuCtxCreate));
  CHECK(find("cuLaunchKernel", 13000).first == reinterpret_cast<void*>(&cuLaunchKernel));
  const auto per_thread =
      find("cuLaunchKernel", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  CHECK(per_thread.first != reinterpret_cast<void*>(&cuLaunchKernel));
  CHECK(find("cuMemAlloc", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM).first ==
        reinterpret_cast<void*>(&cuMemAlloc));
  CHECK(find("cuLaunchKernelEx", 11000).second == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  CHECK(find("cuNoSuchFunction", 13000).second == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  void* function = nullptr;
  CHECK(cuGetProcAddress("cuInit", &function, CUDA_VERSION + 10, 0, nullptr) ==
        CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("simgpu driver: what the simulation lacks is refused") {
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  CUdeviceptr address = 0;
  CHECK(cuMemAllocManaged(&address, 16, CU_MEM_ATTACH_GLOBAL) == CUDA_ERROR_NOT_SUPPORTED);
  CUarray array = nullptr;
  CUDA_ARRAY_DESCRIPTOR descriptor{};
  CHECK(cuArrayCreate(&array, &descriptor) == CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace simgpu
