#include <utility>

#include "tests/simgpu/client.h"

namespace simgpu {
namespace {

/// add(to, value, count): to[i] += value for i < count, one thread each; other(); reckless(at): a
/// store at any address.
constexpr const char* text = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 counter = 5;
.const .align 4 .u32 table[3] = {1, 2, 3};
.visible .entry add(.param .u64 to, .param .u32 value, .param .u32 count) {
  .reg .pred %p<2>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [value];
  ld.param.u32 %r2, [count];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  setp.ge.u32 %p1, %r6, %r2;
  @%p1 bra DONE;
  mul.wide.u32 %rd2, %r6, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r7, [%rd3];
  add.s32 %r8, %r7, %r1;
  st.global.u32 [%rd3], %r8;
DONE:
  ret;
}
.visible .entry other() .maxntid 64, 1, 1 {
  .shared .align 4 .b8 mine[1024];
  ret;
}
.visible .entry reckless(.param .u64 at) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [at];
  mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry give_up() {
  trap;
  ret;
}
.extern .func __assertfail(.param .b64 message, .param .b64 file, .param .b32 line,
                           .param .b64 function, .param .b64 size);
.global .align 8 .b8 claim[2] = {120, 0};
.visible .entry claims() {
  .reg .b64 %rd<2>;
  .param .b64 message;
  .param .b32 line;
  .param .b64 size;
  mov.u64 %rd1, claim;
  st.param.b64 [message], %rd1;
  st.param.b32 [line], 7;
  st.param.b64 [size], 1;
  call.uni __assertfail, (message, message, line, message, size);
  ret;
}
)";

struct Arguments {
  CUdeviceptr to;
  unsigned value, count;
  std::vector<void*> each() { return {&to, &value, &count}; }
};

CUresult launch(CUfunction function, unsigned blocks, unsigned threads, void** each,
                unsigned shared = 0) {
  return cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared, nullptr, each, nullptr);
}

}  // namespace

TEST_CASE("simgpu driver: a kernel is loaded and launched") {
  const TestContext context;
  const CUfunction add = test_function(text, "add");
  const TestMemory memory(400);
  CHECK(cuMemsetD32(memory, 10, 100) == CUDA_SUCCESS);
  Arguments arguments{memory, 3, 70};
  CHECK(launch(add, 3, 32, arguments.each().data()) == CUDA_SUCCESS);
  std::vector<unsigned> expected(100, 10);
  std::fill(expected.begin(), expected.begin() + 70, 13);
  CHECK(read<unsigned>(memory, 100) == expected);
  // The parameters in a buffer.
  std::size_t bytes = 16;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  CHECK(cuLaunchKernel(add, 3, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra) == CUDA_SUCCESS);
  std::fill(expected.begin(), expected.begin() + 70, 16);
  CHECK(read<unsigned>(memory, 100) == expected);
  bytes = 15;
  CHECK(cuLaunchKernel(add, 3, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(cuLaunchKernel(add, 3, 1, 1, 32, 1, 1, 0, nullptr, arguments.each().data(), extra) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(launch(add, 1, 32, nullptr) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("simgpu driver: a launch that no GPU would take is refused") {
  const TestContext context;
  const CUfunction other = test_function(text, "other");
  CHECK(launch(other, 1, 64, nullptr) == CUDA_SUCCESS);
  CHECK(launch(other, 1, 65, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launch(other, 0, 1, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuLaunchKernel(other, 1, 65536, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(cuLaunchKernel(other, 1, 1, 1, 1, 1, 65, 0, nullptr, nullptr, nullptr) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(launch(reinterpret_cast<CUfunction>(std::uintptr_t{64}), 1, 1, nullptr) ==
        CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: a kernel of many registers runs with as many threads as it says") {
  const TestContext context;
  std::string body, uses;
  for (int i = 0; i < 86; ++i) {
    const std::string name = "%r" + std::to_string(i);
    body += "ld.volatile.global.u32 " + name + ", [%rd];\n";
    uses += "st.volatile.global.u32 [%rd], " + name + ";\n";
  }
  const std::string many =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry many(.param .u64 to) {\n.reg .b32 %r<86>;\n"
      ".reg .b64 %rd;\nld.param.u64 %rd, [to];\n" +
      body + uses + "ret;\n}\n";
  const CUfunction function = test_function(many.c_str(), "many");
  int threads = 0, registers = 0;
  CHECK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function) == CUDA_SUCCESS);
  CHECK(registers > 80);
  CHECK(registers <= 96);
  CHECK(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function) ==
        CUDA_SUCCESS);
  CHECK(threads == 640);  // warps in fours: 20 of them with 96 registers a thread, not 24 with 88
  const TestMemory memory(4);
  CUdeviceptr to = memory;
  void* each[] = {&to};
  CHECK(launch(function, 1, 672, each) == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
}

TEST_CASE("simgpu driver: more shared memory has to be asked for") {
  const TestContext context;
  const CUfunction other = test_function(text, "other");
  const auto attribute = [&](CUfunction_attribute which) {
    int value = -1;
    CHECK(cuFuncGetAttribute(&value, which, other) == CUDA_SUCCESS);
    return value;
  };
  CHECK(attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) == 1024);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES) == 12);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 64);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) == 48 * 1024 - 1024);
  CHECK(launch(other, 1, 32, nullptr, 47 * 1024) == CUDA_SUCCESS);
  CHECK(launch(other, 1, 32, nullptr, 47 * 1024 + 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuFuncSetAttribute(other, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 * 1024) ==
        CUDA_SUCCESS);
  CHECK(launch(other, 1, 32, nullptr, 100 * 1024) == CUDA_SUCCESS);
  CHECK(cuFuncSetAttribute(other, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 * 1024) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(cuFuncSetAttribute(other, CU_FUNC_ATTRIBUTE_NUM_REGS, 3) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuFuncSetCacheConfig(other, CU_FUNC_CACHE_PREFER_L1) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: occupancy follows the shared memory and threads of a block") {
  const TestContext context;
  const CUfunction other = test_function(text, "other");
  int blocks = 0, threads = 0;
  // 1 KiB of its own, 1 reserved, 110 asked for: two of them in 228 KiB.
  CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, other, 64, 110 << 10) == CUDA_SUCCESS);
  CHECK(blocks == 2);
  // 32 blocks are the most there are.
  CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, other, 32, 0) == CUDA_SUCCESS);
  CHECK(blocks == 32);
  CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, other, 0, 0) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, other, nullptr, 0, 0) == CUDA_SUCCESS);
  CHECK(threads == 64);
  CHECK(blocks == 132 * 32);
  CHECK(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, other, nullptr, 0, 40) == CUDA_SUCCESS);
  CHECK(threads == 40);
  // 48 KiB less 1 of its own, which is what a launch may take.
  std::size_t bytes = 0;
  CHECK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, other, 2, 64) == CUDA_SUCCESS);
  CHECK(bytes == 47 << 10);
  // 228 KiB in two, less 1 KiB reserved and 1 of its own.
  CHECK(cuFuncSetAttribute(other, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200 << 10) ==
        CUDA_SUCCESS);
  CHECK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, other, 2, 64) == CUDA_SUCCESS);
  CHECK(bytes == 112 << 10);
}

TEST_CASE("simgpu driver: launch attributes are taken or refused") {
  const TestContext context;
  const CUfunction other = test_function(text, "other");
  CUlaunchAttribute attribute{};
  CUlaunchConfig config{1, 1, 1, 32, 1, 1, 0, nullptr, &attribute, 1};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  CHECK(cuLaunchKernelEx(&config, other, nullptr, nullptr) == CUDA_SUCCESS);
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {2, 1, 1};
  CHECK(cuLaunchKernelEx(&config, other, nullptr, nullptr) == CUDA_ERROR_NOT_SUPPORTED);
  attribute.value.clusterDim = {1 << 16, 1 << 16, 1};
  CHECK(cuLaunchKernelEx(&config, other, nullptr, nullptr) == CUDA_ERROR_NOT_SUPPORTED);
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  CHECK(cuLaunchKernelEx(&config, other, nullptr, nullptr) == CUDA_SUCCESS);
  config.gridDimX = 132 * 32 + 1;
  CHECK(cuLaunchKernelEx(&config, other, nullptr, nullptr) ==
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  CHECK(cuLaunchCooperativeKernel(other, 132 * 32, 1, 1, 32, 1, 1, 0, nullptr, nullptr) ==
        CUDA_SUCCESS);
  CHECK(cuLaunchCooperativeKernel(other, 132 * 32 + 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr) ==
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

TEST_CASE("simgpu driver: a module has functions and variables") {
  const TestContext context;
  CUmodule module = nullptr;
  CHECK(cuModuleLoadData(&module, text) == CUDA_SUCCESS);
  unsigned count = 0;
  CHECK(cuModuleGetFunctionCount(&count, module) == CUDA_SUCCESS);
  CHECK(count == 5);
  CUdeviceptr counter = 0;
  std::size_t bytes = 0;
  CHECK(cuModuleGetGlobal(&counter, &bytes, module, "counter") == CUDA_SUCCESS);
  CHECK(bytes == 4);
  CHECK(read<unsigned>(counter, 1) == std::vector<unsigned>{5});
  CHECK(cuMemFree(counter) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemFreeAsync(counter, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuModuleGetGlobal(&counter, &bytes, module, "no_such") == CUDA_ERROR_NOT_FOUND);
  CUfunction function = nullptr;
  CHECK(cuModuleGetFunction(&function, module, "no_such") == CUDA_ERROR_NOT_FOUND);
  CHECK(cuModuleGetFunction(&function, module, "add") == CUDA_SUCCESS);
  const char* name = nullptr;
  CHECK(cuFuncGetName(&name, function) == CUDA_SUCCESS);
  CHECK(std::string(name) == "add");
  CHECK(cuFuncGetName(&name, nullptr) == CUDA_ERROR_INVALID_VALUE);
  std::size_t offset = 0;
  CHECK(cuFuncGetParamInfo(function, 2, &offset, &bytes) == CUDA_SUCCESS);
  CHECK(offset == 12);
  CHECK(bytes == 4);
  CHECK(cuFuncGetParamInfo(function, 3, &offset, &bytes) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
  CHECK(cuModuleUnload(module) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(launch(function, 1, 1, nullptr) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuMemcpyDtoH(&bytes, counter, 4) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("simgpu driver: a library needs no context until it is used") {
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CHECK(cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0) ==
        CUDA_SUCCESS);
  CHECK(cuLibraryGetKernel(&kernel, library, "add") == CUDA_SUCCESS);
  CHECK(cuLibraryGetKernel(&kernel, library, "no_such") == CUDA_ERROR_NOT_FOUND);
  CUfunction function = nullptr;
  CHECK(cuKernelGetFunction(&function, kernel) == CUDA_ERROR_INVALID_CONTEXT);
  std::size_t offset = 0;
  CHECK(cuKernelGetParamInfo(kernel, 0, &offset, nullptr) == CUDA_ERROR_INVALID_CONTEXT);
  {
    const TestContext context;
    CHECK(cuKernelGetFunction(&function, kernel) == CUDA_SUCCESS);
    const TestMemory memory(4);
    CHECK(cuMemsetD32(memory, 1, 1) == CUDA_SUCCESS);
    Arguments arguments{memory, 2, 1};
    CHECK(launch(function, 1, 32, arguments.each().data()) == CUDA_SUCCESS);
    CHECK(launch(reinterpret_cast<CUfunction>(kernel), 1, 32, arguments.each().data()) ==
          CUDA_SUCCESS);
    CHECK(read<unsigned>(memory, 1) == std::vector<unsigned>{5});
    CUmodule module = nullptr;
    CHECK(cuLibraryGetModule(&module, library) == CUDA_SUCCESS);
    CHECK(cuModuleUnload(module) == CUDA_ERROR_NOT_PERMITTED);
    CUdeviceptr counter = 0;
    CHECK(cuLibraryGetGlobal(&counter, nullptr, library, "counter") == CUDA_SUCCESS);
    CHECK(read<unsigned>(counter, 1) == std::vector<unsigned>{5});
  }
  CHECK(cuLibraryUnload(library) == CUDA_SUCCESS);
  CHECK(cuLibraryUnload(library) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuKernelGetFunction(&function, kernel) == CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("simgpu driver: what is not PTX is refused, and the log says where") {
  const TestContext context;
  CUmodule module = nullptr;
  char log[200] = "untouched";
  CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CHECK(cuModuleLoadDataEx(&module, ".version 8.0\n.target sm_80\n.address_size 64\nwhat?", 2,
                           names, values) == CUDA_ERROR_INVALID_PTX);
  CHECK(std::string(log).find("line 4") != std::string::npos);
  CHECK(reinterpret_cast<std::size_t>(values[1]) == std::string(log).size() + 1);
  char small[8];
  values[0] = small;
  values[1] = reinterpret_cast<void*>(sizeof small);
  CHECK(cuModuleLoadDataEx(&module, "what?", 2, names, values) == CUDA_ERROR_INVALID_PTX);
  CHECK(std::string(small).size() == 7);
  CHECK(cuModuleLoadData(&module, "\177ELF\2\1\1") == CUDA_ERROR_NO_BINARY_FOR_GPU);
  CHECK(cuModuleLoadData(&module, "\x50\xed\x55\xba\1") == CUDA_ERROR_NO_BINARY_FOR_GPU);
  CHECK(cuModuleLoadData(&module, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuModuleLoad(&module, "no such file") == CUDA_ERROR_FILE_NOT_FOUND);
  names[0] = unknown<CUjit_option>(999);
  CHECK(cuModuleLoadDataEx(&module, text, 2, names, values) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("simgpu driver: after a fault every call gives its error") {
  CUstream stream = nullptr;
  {
    const TestContext context;
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT) == CUDA_SUCCESS);
    const CUfunction reckless = test_function(text, "reckless");
    CUdeviceptr freed = 0;
    CHECK(cuMemAlloc(&freed, 64) == CUDA_SUCCESS);
    CHECK(cuMemFree(freed) == CUDA_SUCCESS);
    void* each[] = {&freed};
    CHECK(launch(reckless, 1, 1, each) == CUDA_SUCCESS);
    CHECK(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(cuMemAlloc(&freed, 64) == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(cuStreamQuery(stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(launch(reckless, 1, 1, each) == CUDA_ERROR_ILLEGAL_ADDRESS);
  }
  // Another context knows nothing of it.
  const TestContext context;
  CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: each kind of fault has its error") {
  {
    const TestContext context;
    const TestMemory memory(64);
    CUdeviceptr odd = memory + 2;
    void* each[] = {&odd};
    CHECK(launch(test_function(text, "reckless"), 1, 1, each) == CUDA_SUCCESS);
    CHECK(cuCtxSynchronize() == CUDA_ERROR_MISALIGNED_ADDRESS);
  }
  const std::pair<const char*, CUresult> ends[] = {{"give_up", CUDA_ERROR_LAUNCH_FAILED},
                                                   {"claims", CUDA_ERROR_ASSERT}};
  for (const auto& [name, error] : ends) {
    const TestContext context;
    CHECK(launch(test_function(text, name), 1, 1, nullptr) == CUDA_SUCCESS);
    CHECK(cuStreamSynchronize(nullptr) == error);
    CHECK(cuCtxSynchronize() == error);
  }
}

}  // namespace simgpu
