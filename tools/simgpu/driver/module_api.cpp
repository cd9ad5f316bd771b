// cuModule*, cuLibrary*, cuKernel*.
#include <algorithm>
#include <utility>

#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/function.h"
#include "tools/simgpu/driver/stream.h"

namespace simgpu::driver {
namespace {

CUresult load_into(CUmodule* module, const void* image, const JitOptions& options) {
  require(module != nullptr);
  const auto context = current_context();
  forbid_in_capture();
  const auto made = load_module(image, options);
  made->context = context;
  *module = made->handle;
  return CUDA_SUCCESS;
}

template <class Named>
auto& named(Named& all, const char* name) {
  require(name != nullptr && *name != '\0');
  const auto found = all.find(name);
  if (found == all.end()) refuse(CUDA_ERROR_NOT_FOUND);
  return found->second;
}

CUresult variable(const Module& module, CUdeviceptr* address, std::size_t* bytes,
                  const char* name) {
  const GlobalVariable& found = named(module.code->loaded.variables, name);
  if (address != nullptr) *address = found.address;
  if (bytes != nullptr) *bytes = found.bytes;
  return CUDA_SUCCESS;
}

/// The handles of the first `most` of what has names.
template <class Handle, class Named>
CUresult list(Handle* handles, unsigned most, const Named& all) {
  require(handles != nullptr || most == 0);
  unsigned i = 0;
  for (const auto& [name, object] : all)
    if (i < most) handles[i++] = object->handle;
  return CUDA_SUCCESS;
}

CUresult parameter(const Kernel& kernel, std::size_t index, std::size_t* offset,
                   std::size_t* bytes) {
  require(index < kernel.parameters.size() && offset != nullptr);
  *offset = kernel.parameters[index].offset;
  if (bytes != nullptr) *bytes = kernel.parameters[index].bytes;
  return CUDA_SUCCESS;
}

CUresult load_library(CUlibrary* library, const void* image, const JitOptions& options) {
  require(library != nullptr);
  auto made = std::make_shared<Library>();
  made->module = load_module(image, options);
  *library = table<Library>().add(made);
  for (const auto& [name, function] : made->module->functions) {
    auto kernel = std::make_shared<LibraryKernel>();
    kernel->library = *library;
    kernel->function = function;
    table<LibraryKernel>().add(kernel);
    made->kernels[name] = kernel;
  }
  return CUDA_SUCCESS;
}

}  // namespace

namespace api {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load_into(module, image, {});
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                            CUjit_option* names, void** values) {
  return load_into(module, image, {count, names, values});
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load_into(module, image, {});
}
CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return load_into(module, read_file(path).c_str(), {});
}

/// As the driver does, after the work of the context.
CUresult cuModuleUnload(CUmodule handle) {
  const auto module = get<Module>(handle);
  require(module->context != nullptr, CUDA_ERROR_NOT_PERMITTED);  // a library's
  require_no_error(*module->context);
  forbid_in_capture();
  synchronise(module->context);
  unload(module);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  require(mode != nullptr);
  *mode = CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  require(function != nullptr);
  *function = named(get<Module>(module)->functions, name)->handle;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  require(count != nullptr);
  *count = static_cast<unsigned>(get<Module>(module)->functions.size());
  return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned most, CUmodule module) {
  return list(functions, most, get<Module>(module)->functions);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                              const char* name) {
  return variable(*get<Module>(module), address, bytes, name);
}

/// Needs no context. Library options only say how long the image stays.
CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* names,
                           void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  return load_library(library, image, {count, names, values});
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* names,
                               void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  return load_library(library, read_file(path).c_str(), {count, names, values});
}

CUresult cuLibraryUnload(CUlibrary handle) {
  const auto library = table<Library>().remove(handle);
  for (const auto& [number, context] : table<Context>().objects()) synchronise(context);
  for (const auto& [name, kernel] : library->kernels) table<LibraryKernel>().remove(kernel->handle);
  unload(library->module);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  require(kernel != nullptr);
  *kernel = named(get<Library>(library)->kernels, name)->handle;
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  require(count != nullptr);
  *count = static_cast<unsigned>(get<Library>(library)->kernels.size());
  return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned most, CUlibrary library) {
  return list(kernels, most, get<Library>(library)->kernels);
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  require(module != nullptr);
  current_context();
  *module = get<Library>(library)->module->handle;
  return CUDA_SUCCESS;
}

/// All contexts have the same variables of a library.
CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                            const char* name) {
  current_context();
  return variable(*get<Library>(library)->module, address, bytes, name);
}

CUresult cuLibraryGetManaged(CUdeviceptr*, std::size_t*, CUlibrary library, const char*) {
  get<Library>(library);
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  require(function != nullptr);
  const CUfunction its = get<LibraryKernel>(kernel)->function->handle;
  current_context();
  *function = its;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  require(library != nullptr);
  *library = get<LibraryKernel>(kernel)->library;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  require(name != nullptr);
  *name = get<LibraryKernel>(kernel)->function->kernel->name.c_str();
  return CUDA_SUCCESS;
}

CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                              std::size_t* bytes) {
  return parameter(*get<LibraryKernel>(kernel)->function->kernel, index, offset, bytes);
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device) {
  require_device(device);
  require(value != nullptr);
  *value = function_attribute(*get<LibraryKernel>(kernel)->function, attribute);
  return CUDA_SUCCESS;
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device) {
  require_device(device);
  set_function_attribute(*get<LibraryKernel>(kernel)->function, attribute, value);
  return CUDA_SUCCESS;
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  require_device(device);
  get<LibraryKernel>(kernel)->function->cache_config = config;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  require(module != nullptr);
  *module = function_of(function)->module;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  require(name != nullptr);
  *name = function_of(function)->kernel->name.c_str();
  return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                            std::size_t* bytes) {
  return parameter(*function_of(function)->kernel, index, offset, bytes);
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  require(state != nullptr);
  function_of(function);
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction function) {
  function_of(function);
  return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace simgpu::driver
