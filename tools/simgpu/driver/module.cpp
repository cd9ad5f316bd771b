#include "tools/simgpu/driver/module.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/driver.h"
#include "tools/simgpu/machine/profile.h"
#include "tools/simgpu/ptx/syntax.h"

namespace simgpu::driver {
namespace {

/// What a program gets back of a load: its log buffers.
class Log {
 public:
  explicit Log(const JitOptions& options) {
    for (unsigned i = 0; i < options.count; ++i) {
      const CUjit_option name = options.names[i];
      void*& value = options.values[i];
      require(name >= 0 && name < CU_JIT_NUM_OPTIONS);
      if (name == CU_JIT_ERROR_LOG_BUFFER) errors_ = static_cast<char*>(value);
      if (name == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) value = nullptr;
      if (name != CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) continue;
      bytes_ = reinterpret_cast<std::size_t>(value);
      filled_ = &value;
    }
  }
  /// Where nothing went wrong, an empty text.
  void write(const std::string& text) const {
    const std::size_t length =
        text.copy(errors_, errors_ != nullptr && bytes_ != 0 ? bytes_ - 1 : 0);
    if (errors_ != nullptr && bytes_ != 0) errors_[length] = '\0';
    if (filled_ != nullptr) *filled_ = reinterpret_cast<void*>(length == 0 ? 0 : length + 1);
  }

 private:
  char* errors_ = nullptr;
  std::size_t bytes_ = 0;
  void** filled_ = nullptr;
};

/// The text of an image.
/// \throws Refusal for the machine code of a GPU
std::string_view ptx_of(const void* image) {
  require(image != nullptr);
  const auto* text = static_cast<const char*>(image);
  constexpr std::uint32_t fat_binary = 0xba55ed50, fat_wrapper = 0x466243b1;
  const auto begins_with = [&](std::uint32_t magic) {
    // Byte by byte: a text may be shorter than four.
    for (int i = 0; i < 4; ++i)
      if (static_cast<unsigned char>(text[i]) != (magic >> 8 * i & 0xff)) return false;
    return true;
  };
  if (std::strncmp(text, "\177ELF", 4) == 0)
    refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "a cubin; the simulated GPU runs PTX");
  if (begins_with(fat_binary) || begins_with(fat_wrapper))
    refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "a fat binary; the simulated GPU runs PTX");
  return text;
}

std::shared_ptr<Function> make_function(const std::shared_ptr<Code>& code, const Kernel& kernel) {
  auto function = std::make_shared<Function>();
  function->code = code;
  function->kernel = &kernel;
  function->most_dynamic_shared =
      std::max(0, profile().shared_per_block - static_cast<int>(kernel.static_shared_bytes));
  return function;
}

}  // namespace

Code::~Code() {
  for (const CUdeviceptr address : variables) release(address, "the end of its module");
}

std::shared_ptr<Module> load_module(const void* image, const JitOptions& options,
                                    const std::shared_ptr<Context>& context) {
  require(options.count == 0 || (options.names != nullptr && options.values != nullptr));
  const Log log(options);
  const std::string_view text = ptx_of(image);
  auto code = std::make_shared<Code>();
  const auto place = [&](const std::string&, std::size_t bytes) -> std::uint64_t {
    const CUdeviceptr address =
        allocate(std::max(bytes, std::size_t{1}), nullptr, MemoryKind::variable).address;
    code->variables.push_back(address);
    std::memset(reinterpret_cast<void*>(address), 0, bytes);
    driver().memory->set_initialised(address, bytes);
    return address;
  };
  try {
    code->loaded = load(text, profile().major * 10 + profile().minor, place);
  } catch (const ptx::Error& error) {
    const std::string problem = error.what();  // with its position
    log.write(problem);
    refuse(CUDA_ERROR_INVALID_PTX, problem);
  }
  log.write("");
  auto module = std::make_shared<Module>();
  module->code = code;
  module->context = context;
  table<Module>().add(module);
  for (const auto& [name, kernel] : code->loaded.kernels) {
    auto function = make_function(code, kernel);
    function->module = module->handle;
    function->context = context;
    table<Function>().add(function);
    module->functions[name] = function;
  }
  return module;
}

std::string read_file(const char* path) {
  require(path != nullptr);
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(CUDA_ERROR_FILE_NOT_FOUND, path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void unload(const std::shared_ptr<Module>& module) {
  for (const auto& [name, function] : module->functions) table<Function>().remove(function->handle);
  table<Module>().remove(module->handle);
}

void destroy_modules_of(const Context& context) {
  std::vector<std::shared_ptr<Module>> its;
  for (const auto& [number, module] : table<Module>().objects())
    if (module->context.get() == &context) its.push_back(module);
  for (const auto& module : its) unload(module);
}

std::shared_ptr<Function> function_of(CUkernel handle) {
  auto function = get<Function>(reinterpret_cast<CUfunction>(handle));
  require(!function->context, CUDA_ERROR_INVALID_HANDLE);
  return function;
}

}  // namespace simgpu::driver
