#include <cstring>
#include <numeric>

#include "tests/simgpu/client.h"

namespace simgpu {

TEST_CASE("simgpu driver: memory is allocated, found and freed") {
  const TestContext context;
  std::size_t free_before = 0, free_after = 0, total = 0;
  CHECK(cuMemGetInfo(&free_before, &total) == CUDA_SUCCESS);
  CUdeviceptr address = 0;
  CHECK(cuMemAlloc(&address, 1000) == CUDA_SUCCESS);
  CHECK(address % 256 == 0);
  CHECK(cuMemGetInfo(&free_after, &total) == CUDA_SUCCESS);
  CHECK(free_before - free_after >= 1000);
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  CHECK(cuMemGetAddressRange(&base, &bytes, address + 999) == CUDA_SUCCESS);
  CHECK(base == address);
  CHECK(bytes == 1000);
  CHECK(cuMemGetAddressRange(&base, &bytes, address + 1000) == CUDA_ERROR_NOT_FOUND);
  CHECK(cuMemAlloc(&base, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemAlloc(nullptr, 8) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemAlloc(&base, total + 1) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(cuMemAlloc(&base, SIZE_MAX) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(cuMemFree(address + 256) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemFree(address) == CUDA_SUCCESS);
  CHECK(cuMemFree(address) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemFree(0) == CUDA_SUCCESS);
  CHECK(cuMemGetInfo(&free_after, &total) == CUDA_SUCCESS);
  CHECK(free_after == free_before);
}

TEST_CASE("simgpu driver: rows of pitched memory are far enough apart") {
  const TestContext context;
  CUdeviceptr address = 0;
  std::size_t pitch = 0;
  CHECK(cuMemAllocPitch(&address, &pitch, 513, 3, 4) == CUDA_SUCCESS);
  CHECK(pitch == 1024);
  CHECK(cuMemsetD2D8(address, pitch, 5, 513, 3) == CUDA_SUCCESS);
  CHECK(cuMemAllocPitch(&address, &pitch, 513, 3, 3) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("simgpu driver: copies go both ways, and within the device") {
  const TestContext context;
  std::vector<int> in(100);
  std::iota(in.begin(), in.end(), 7);
  const TestMemory a(400), b(400);
  CHECK(cuMemcpyHtoD(a, in.data(), 400) == CUDA_SUCCESS);
  CHECK(cuMemcpyDtoD(b, a, 400) == CUDA_SUCCESS);
  CHECK(read<int>(b, 100) == in);
  // Without being told which is which.
  std::vector<int> out(100);
  CHECK(cuMemcpy(reinterpret_cast<CUdeviceptr>(out.data()), a, 400) == CUDA_SUCCESS);
  CHECK(out == in);
  CHECK(cuMemcpyHtoD(a + 4, in.data(), 396) == CUDA_SUCCESS);
  CHECK(read<int>(a, 3) == std::vector<int>{7, 7, 8});
  CHECK(cuMemcpyHtoD(a, in.data(), 0) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: a copy beyond an allocation is refused") {
  const TestContext context;
  std::vector<char> host(1000);
  const TestMemory a(400);
  CHECK(cuMemcpyHtoD(a, host.data(), 401) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemcpyDtoH(host.data(), a + 1, 400) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemcpyDtoD(a, a + 399, 2) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemcpyHtoDAsync(a + 400, host.data(), 1, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemsetD32(a, 0, 101) == CUDA_ERROR_INVALID_VALUE);
  // Products that do not fit into 64 bits.
  CHECK(cuMemsetD32(a, 0, std::size_t{1} << 62) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemsetD2D8(a, std::size_t{1} << 62, 0, 1, 5) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemcpyHtoD(a, host.data(), SIZE_MAX) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemcpyHtoD(a, nullptr, 4) == CUDA_ERROR_INVALID_VALUE);
  // Memory of the device is not the host's, whatever a program says.
  CHECK(cuMemcpyHtoD(a, reinterpret_cast<const void*>(CUdeviceptr{a} + 4), 4) ==
        CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr freed = 0;
  CHECK(cuMemAlloc(&freed, 64) == CUDA_SUCCESS);
  CHECK(cuMemFree(freed) == CUDA_SUCCESS);
  CHECK(cuMemcpyDtoH(host.data(), freed, 64) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("simgpu driver: rows and planes are copied") {
  const TestContext context;
  const TestMemory device(64);
  std::vector<unsigned char> host(64), back(64, 0xee);
  std::iota(host.begin(), host.end(), static_cast<unsigned char>(0));
  CUDA_MEMCPY2D two{};
  two.srcMemoryType = CU_MEMORYTYPE_HOST;
  two.srcHost = host.data();
  two.srcPitch = 10;
  two.srcXInBytes = 2;
  two.srcY = 1;
  two.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  two.dstDevice = device;
  two.dstPitch = 8;
  two.WidthInBytes = 4;
  two.Height = 3;
  CHECK(cuMemsetD8(device, 0, 64) == CUDA_SUCCESS);
  CHECK(cuMemcpy2D(&two) == CUDA_SUCCESS);
  back = read<unsigned char>(device, 64);
  for (unsigned y = 0; y < 3; ++y)
    for (unsigned x = 0; x < 8; ++x) CHECK(back[y * 8 + x] == (x < 4 ? (y + 1) * 10 + x + 2 : 0));
  two.dstPitch = 3;
  CHECK(cuMemcpy2D(&two) == CUDA_ERROR_INVALID_VALUE);
  two.dstPitch = 30;
  CHECK(cuMemcpy2D(&two) == CUDA_SUCCESS);
  two.dstPitch = 31;
  CHECK(cuMemcpy2D(&two) == CUDA_ERROR_INVALID_VALUE);  // ends at byte 66
  CUDA_MEMCPY3D three{};
  three.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  three.srcDevice = device;
  three.srcPitch = 4;
  three.srcHeight = 2;
  three.dstMemoryType = CU_MEMORYTYPE_HOST;
  three.dstHost = back.data();
  three.dstPitch = 2;
  three.WidthInBytes = 2;
  three.Height = 2;
  three.Depth = 2;
  CHECK(cuMemcpyHtoD(device, host.data(), 64) == CUDA_SUCCESS);
  CHECK(cuMemcpy3D(&three) == CUDA_SUCCESS);
  CHECK(std::vector<unsigned char>(back.begin(), back.begin() + 8) ==
        std::vector<unsigned char>{0, 1, 4, 5, 8, 9, 12, 13});
  three.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  CHECK(cuMemcpy3D(&three) == CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("simgpu driver: memory is set by elements of each size") {
  const TestContext context;
  const TestMemory a(64);
  CHECK(cuMemsetD32(a, 0x01020304, 16) == CUDA_SUCCESS);
  CHECK(cuMemsetD16(a, 0x0506, 2) == CUDA_SUCCESS);
  CHECK(cuMemsetD8(a + 4, 0x07, 1) == CUDA_SUCCESS);
  CHECK(read<unsigned>(a, 3) == std::vector<unsigned>{0x05060506, 0x01020307, 0x01020304});
  CHECK(cuMemsetD32(a + 2, 0, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemsetD16(a + 1, 0, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemsetD2D32(a, 16, 9, 2, 4) == CUDA_SUCCESS);
  CHECK(read<unsigned>(a, 6) == std::vector<unsigned>{9, 9, 0x01020304, 0x01020304, 9, 9});
  CHECK(cuMemsetD2D32(a, 4, 9, 2, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemsetD2D16Async(a, 32, 1, 16, 2, nullptr) == CUDA_SUCCESS);
  CHECK(cuMemsetD2D8Async(a, 32, 1, 33, 2, nullptr) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("simgpu driver: pinned memory of the host is memory of both") {
  const TestContext context;
  void* host = nullptr;
  CHECK(cuMemHostAlloc(&host, 64, CU_MEMHOSTALLOC_PORTABLE) == CUDA_SUCCESS);
  std::memset(host, 3, 64);
  CUdeviceptr address = 0;
  CHECK(cuMemHostGetDevicePointer(&address, host, 0) == CUDA_SUCCESS);
  CHECK(read<char>(address, 2) == std::vector<char>{3, 3});
  unsigned flags = 0;
  CHECK(cuMemHostGetFlags(&flags, host) == CUDA_SUCCESS);
  CHECK((flags & CU_MEMHOSTALLOC_PORTABLE) != 0);
  CHECK(cuMemFree(address) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemFreeHost(host) == CUDA_SUCCESS);
  CHECK(cuMemFreeHost(host) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemHostAlloc(&host, 64, 0x100) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemHostGetDevicePointer(&address, host, 0) == CUDA_ERROR_INVALID_VALUE);
  std::vector<char> own(100);
  CHECK(cuMemHostGetDevicePointer(&address, own.data(), 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemHostRegister(own.data(), 100, 0) == CUDA_SUCCESS);
  CHECK(cuMemHostRegister(own.data() + 50, 10, 0) == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CHECK(cuMemHostUnregister(own.data()) == CUDA_SUCCESS);
  CHECK(cuMemHostUnregister(own.data()) == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_CASE("simgpu driver: a pointer tells what it is") {
  const TestContext context;
  const TestMemory memory(64);
  unsigned type = 0;
  CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory + 5) == CUDA_SUCCESS);
  CHECK(type == CU_MEMORYTYPE_DEVICE);
  CUcontext of = nullptr;
  CHECK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, memory) == CUDA_SUCCESS);
  CHECK(of == context.get());
  CUdeviceptr start = 0;
  CHECK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, memory + 5) ==
        CUDA_SUCCESS);
  CHECK(start == memory);
  CHECK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory) ==
        CUDA_ERROR_INVALID_VALUE);
  int local = 0;
  CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                              reinterpret_cast<CUdeviceptr>(&local)) == CUDA_ERROR_INVALID_VALUE);
  std::size_t bytes = 1;
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* answers[] = {&type, &bytes};
  CHECK(cuPointerGetAttributes(2, asked, answers, memory) == CUDA_SUCCESS);
  CHECK(bytes == 64);
  CHECK(cuPointerGetAttributes(2, asked, answers, reinterpret_cast<CUdeviceptr>(&local)) ==
        CUDA_SUCCESS);
  CHECK(type == 0);
  CHECK(bytes == 0);
}

TEST_CASE("simgpu driver: pools count what is taken from them") {
  const TestContext context;
  CUmemoryPool pool = nullptr;
  CHECK(cuDeviceGetDefaultMemPool(&pool, 0) == CUDA_SUCCESS);
  const auto count = [&](CUmemPool_attribute which) {
    cuuint64_t value = 0;
    CHECK(cuMemPoolGetAttribute(pool, which, &value) == CUDA_SUCCESS);
    return value;
  };
  cuuint64_t threshold = 1 << 20;
  CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold) == CUDA_SUCCESS);
  CUdeviceptr address = 0;
  CHECK(cuMemAllocAsync(&address, 4096, nullptr) == CUDA_SUCCESS);
  CHECK(count(CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 4096);
  CHECK(cuMemsetD8Async(address, 1, 4096, nullptr) == CUDA_SUCCESS);
  CHECK(cuMemFreeAsync(address, nullptr) == CUDA_SUCCESS);
  CHECK(cuMemFreeAsync(address, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
  CHECK(count(CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 0);
  CHECK(count(CU_MEMPOOL_ATTR_USED_MEM_HIGH) >= 4096);
  CHECK(cuMemAllocAsync(&address, 0, nullptr) == CUDA_SUCCESS);
  CHECK(address == 0);
  CHECK(cuMemFreeAsync(address, nullptr) == CUDA_SUCCESS);
  CHECK(count(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= 4096);
  CHECK(cuMemPoolTrimTo(pool, 0) == CUDA_SUCCESS);
  CHECK(count(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0);
  CHECK(cuMemPoolDestroy(pool) == CUDA_ERROR_INVALID_VALUE);
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.maxSize = 1000;
  CHECK(cuMemPoolCreate(&pool, &properties) == CUDA_SUCCESS);
  CHECK(cuMemAllocFromPoolAsync(&address, 1001, pool, nullptr) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(cuMemAllocFromPoolAsync(&address, 1000, pool, nullptr) == CUDA_SUCCESS);
  CHECK(cuMemFreeAsync(address, nullptr) == CUDA_SUCCESS);
  CHECK(cuMemPoolDestroy(pool) == CUDA_SUCCESS);
  CHECK(cuMemPoolTrimTo(pool, 0) == CUDA_ERROR_INVALID_VALUE);
}

}  // namespace simgpu
