// cuModule*, cuLibrary*, cuKernel*, cuFunc*.

#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/module.h"
#include "tools/simgpu/driver/stream.h"

namespace simgpu::driver::api {
namespace {

template <class Named>
auto& named(Named& all, const char* name) {
  require(name != nullptr && *name != '\0');
  const auto found = all.find(name);
  if (found == all.end()) refuse(CUDA_ERROR_NOT_FOUND);
  return found->second;
}

void variable(const Module& module, CUdeviceptr* address, std::size_t* bytes, const char* name) {
  const GlobalVariable& found = named(module.code->loaded.variables, name);
  if (address != nullptr) *address = found.address;
  if (bytes != nullptr) *bytes = found.bytes;
}

/// The handles of the first `most` functions.
template <class Handle>
void list(Handle* handles, unsigned most, const Module& module) {
  require(handles != nullptr || most == 0);
  unsigned i = 0;
  for (const auto& [name, function] : module.functions)
    if (i < most) handles[i++] = reinterpret_cast<Handle>(function->handle);
}

void parameter(const Function& function, std::size_t index, std::size_t* offset,
               std::size_t* bytes) {
  const auto& parameters = function.kernel->parameters;
  require(index < parameters.size() && offset != nullptr);
  *offset = parameters[index].offset;
  if (bytes != nullptr) *bytes = parameters[index].bytes;
}

std::shared_ptr<Module> module_of(CUlibrary library) {
  auto module = get<Module>(reinterpret_cast<CUmodule>(library));
  require(!module->context, CUDA_ERROR_INVALID_HANDLE);
  return module;
}

}  // namespace

CUmodule cuModuleLoadDataEx(const void* image, unsigned count, CUjit_option* names, void** values) {
  const auto context = current_context();
  forbid_in_capture();
  return load_module(image, {count, names, values}, context)->handle;
}
CUmodule cuModuleLoad(const char* path) {
  return api::cuModuleLoadDataEx(read_file(path).c_str(), 0, nullptr, nullptr);
}

/// As the driver does, after the work of the context.
void cuModuleUnload(CUmodule handle) {
  const auto module = get<Module>(handle);
  require(module->context != nullptr, CUDA_ERROR_NOT_PERMITTED);  // a library's
  require_no_error(*module->context);
  forbid_in_capture();
  quiesce(module->context);
  unload(module);
}

CUmoduleLoadingMode cuModuleGetLoadingMode() { return CU_MODULE_EAGER_LOADING; }

CUfunction cuModuleGetFunction(CUmodule module, const char* name) {
  return named(get<Module>(module)->functions, name)->handle;
}

unsigned cuModuleGetFunctionCount(CUmodule module) {
  return static_cast<unsigned>(get<Module>(module)->functions.size());
}

void cuModuleEnumerateFunctions(CUfunction* functions, unsigned most, CUmodule module) {
  list(functions, most, *get<Module>(module));
}

void cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                          const char* name) {
  variable(*get<Module>(module), address, bytes, name);
}

/// Needs no context. Library options only say how long the image stays.
CUlibrary cuLibraryLoadData(const void* image, CUjit_option* names, void** values, unsigned count,
                            CUlibraryOption*, void**, unsigned) {
  return reinterpret_cast<CUlibrary>(load_module(image, {count, names, values}, nullptr)->handle);
}
CUlibrary cuLibraryLoadFromFile(const char* path, CUjit_option* names, void** values,
                                unsigned count, CUlibraryOption*, void**, unsigned) {
  return api::cuLibraryLoadData(read_file(path).c_str(), names, values, count, nullptr, nullptr, 0);
}

void cuLibraryUnload(CUlibrary library) {
  const auto module = module_of(library);
  const auto contexts = table<Context>().objects();  // others may come and go meanwhile
  for (const auto& [number, context] : contexts) quiesce(context);
  unload(module);
}

CUkernel cuLibraryGetKernel(CUlibrary library, const char* name) {
  return reinterpret_cast<CUkernel>(named(module_of(library)->functions, name)->handle);
}

unsigned cuLibraryGetKernelCount(CUlibrary library) {
  return static_cast<unsigned>(module_of(library)->functions.size());
}

void cuLibraryEnumerateKernels(CUkernel* kernels, unsigned most, CUlibrary library) {
  list(kernels, most, *module_of(library));
}

CUmodule cuLibraryGetModule(CUlibrary library) {
  current_context();
  return module_of(library)->handle;
}

/// All contexts have the same variables of a library.
void cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                        const char* name) {
  current_context();
  variable(*module_of(library), address, bytes, name);
}

void cuLibraryGetManaged(CUdeviceptr*, std::size_t*, CUlibrary library, const char*) {
  module_of(library);
  refuse(CUDA_ERROR_NOT_FOUND);
}

CUfunction cuKernelGetFunction(CUkernel kernel) {
  const CUfunction function = function_of(kernel)->handle;
  current_context();
  return function;
}

CUlibrary cuKernelGetLibrary(CUkernel kernel) {
  return reinterpret_cast<CUlibrary>(function_of(kernel)->module);
}

CUmodule cuFuncGetModule(CUfunction function) { return function_of(function)->module; }

const char* cuKernelGetName(CUkernel kernel) {
  require(kernel != nullptr);
  return function_of(kernel)->kernel->name.c_str();
}
const char* cuFuncGetName(CUfunction function) {
  require(function != nullptr);
  return function_of(function)->kernel->name.c_str();
}

void cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                          std::size_t* bytes) {
  current_context();
  parameter(*function_of(kernel), index, offset, bytes);
}
void cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                        std::size_t* bytes) {
  parameter(*function_of(function), index, offset, bytes);
}

CUfunctionLoadingState cuFuncIsLoaded(CUfunction function) {
  function_of(function);
  return CU_FUNCTION_LOADING_STATE_LOADED;
}

void cuFuncLoad(CUfunction function) { function_of(function); }

}  // namespace simgpu::driver::api
