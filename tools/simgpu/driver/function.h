/// \file
/// Modules, libraries and their functions.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/simgpu/code/load.h"
#include "tools/simgpu/driver/context.h"

namespace simgpu::driver {

/// What was loaded: its variables are freed with it.
struct Code {
  LoadedModule loaded;
  std::vector<CUdeviceptr> variables;
  ~Code();
};

struct Function {
  using Handle = CUfunction;
  static constexpr std::uint64_t kind = 5;
  static constexpr const char* noun = "function";
  static constexpr CUresult invalid = CUDA_ERROR_INVALID_HANDLE;

  CUfunction handle = nullptr;
  std::shared_ptr<Code> code;
  const Kernel* kernel = nullptr;
  CUmodule module = nullptr;
  int most_dynamic_shared = 0;
  int carveout = -1;  ///< of shared memory, in percent; -1 where the driver chooses
  CUfunc_cache cache_config = CU_FUNC_CACHE_PREFER_NONE;
};

struct Module {
  using Handle = CUmodule;
  static constexpr std::uint64_t kind = 6;
  static constexpr const char* noun = "module";
  static constexpr CUresult invalid = CUDA_ERROR_INVALID_HANDLE;

  CUmodule handle = nullptr;
  std::shared_ptr<Context> context;  ///< null of a library's
  std::shared_ptr<Code> code;
  std::map<std::string, std::shared_ptr<Function>> functions;
};

struct LibraryKernel {
  using Handle = CUkernel;
  static constexpr std::uint64_t kind = 7;
  static constexpr const char* noun = "kernel";
  static constexpr CUresult invalid = CUDA_ERROR_INVALID_HANDLE;

  CUkernel handle = nullptr;
  CUlibrary library = nullptr;
  std::shared_ptr<Function> function;
};

struct Library {
  using Handle = CUlibrary;
  static constexpr std::uint64_t kind = 8;
  static constexpr const char* noun = "library";
  static constexpr CUresult invalid = CUDA_ERROR_INVALID_HANDLE;

  CUlibrary handle = nullptr;
  std::shared_ptr<Module> module;
  std::map<std::string, std::shared_ptr<LibraryKernel>> kernels;
};

/// Of cuModuleLoadDataEx and cuLibraryLoadData.
struct JitOptions {
  unsigned count = 0;
  const CUjit_option* names = nullptr;
  void** values = nullptr;
};

/// From PTX. Cubins and fat binaries are refused as such; what is wrong with a text is written
/// where the options say. \throws Refusal
std::shared_ptr<Module> load_module(const void* image, const JitOptions& options);
std::string read_file(const char* path);
void unload(const std::shared_ptr<Module>& module);
void destroy_modules_of(const Context& context);

/// Also of a handle that is a CUkernel's.
std::shared_ptr<Function> function_of(CUfunction handle);
int function_attribute(const Function& function, CUfunction_attribute attribute);
void set_function_attribute(Function& function, CUfunction_attribute attribute, int value);

}  // namespace simgpu::driver
