/// \file
/// Modules, libraries and their functions.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/simgpu/code/load.h"
#include "tools/simgpu/driver/context.h"
#include "tools/simgpu/driver/work.h"

namespace simgpu::driver {

/// What was loaded: its variables are freed with it.
struct Code {
  LoadedModule loaded;
  std::vector<CUdeviceptr> variables;
  ~Code();
};

struct Function : Handled<CUfunction> {
  static constexpr Identity identity{5, "function"};

  std::shared_ptr<Code> code;
  const Kernel* kernel = nullptr;
  CUmodule module = nullptr;
  std::shared_ptr<Context> context;  ///< null of a library's
  int most_dynamic_shared = 0;
  int carveout = -1;  ///< of shared memory, in percent; -1 where the driver chooses
};

/// What a program loaded. A library is one that has no context: its handle is the module's, and
/// those of its kernels are the functions'.
struct Module : Handled<CUmodule> {
  static constexpr Identity identity{6, "module"};

  std::shared_ptr<Context> context;
  std::shared_ptr<Code> code;
  std::map<std::string, std::shared_ptr<Function>> functions;
};

/// Of cuModuleLoadDataEx and cuLibraryLoadData.
struct JitOptions {
  unsigned count = 0;
  const CUjit_option* names = nullptr;
  void** values = nullptr;
};

/// From PTX. Cubins and fat binaries are refused as such; what is wrong with a text is written
/// where the options say. \throws Refusal
std::shared_ptr<Module> load_module(const void* image, const JitOptions& options,
                                    const std::shared_ptr<Context>& context);
std::string read_file(const char* path);
void unload(const std::shared_ptr<Module>& module);
void destroy_modules_of(const Context& context);

inline std::shared_ptr<Function> function_of(CUfunction handle) { return get<Function>(handle); }
/// \throws Refusal where it is a module's
std::shared_ptr<Function> function_of(CUkernel handle);

/// A launch, with the parameters as cuLaunchKernel has them: `each` by itself, or all in a buffer
/// that `extra` names. \throws Refusal for what the GPU would not run
KernelWork make_kernel_work(const std::shared_ptr<Function>& function,
                            const LaunchConfiguration& configuration, void** each, void** extra,
                            std::span<const CUlaunchAttribute> attributes);

}  // namespace simgpu::driver
