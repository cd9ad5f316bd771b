#include "tests/simgpu/simulated_device.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/cuda/nvrtc_library.h"
#include "tests/simgpu/toolkit.h"

namespace simgpu {
namespace {

constexpr std::size_t memory_bytes = std::size_t{1} << 30;

}  // namespace

bool has_nvrtc() { return sinter::cuda::nvrtc_library() != nullptr; }

std::string compile_to_ptx(const std::string& source, std::string_view profile,
                           std::initializer_list<const char*> options) {
  const sinter::cuda::NvrtcLibrary& nvrtc = *sinter::cuda::nvrtc_library();
  sinter::cuda::NvrtcProgram* program = nullptr;
  if (nvrtc.CreateProgram(&program, source.c_str(), "kernels.cu", 0, nullptr, nullptr) != 0)
    throw std::runtime_error("NVRTC makes no program");
  const std::string target =
      fmt::format("--gpu-architecture=compute_{}", profile.substr(profile.find('_') + 1));
  const std::string headers = "--include-path=" + toolkit_headers();
  std::vector<const char*> all = {target.c_str(), "--std=c++17", "--generate-line-info",
                                  "--modify-stack-limit=false"};
  if (!toolkit_headers().empty()) all.push_back(headers.c_str());
  all.insert(all.end(), options.begin(), options.end());
  const auto result = nvrtc.CompileProgram(program, static_cast<int>(all.size()), all.data());
  const auto text = [&](auto size_of, auto get) {
    std::size_t bytes = 0;
    size_of(program, &bytes);
    std::string read(bytes, '\0');
    get(program, read.data());
    return read;
  };
  const std::string made = result == 0 ? text(nvrtc.GetPTXSize, nvrtc.GetPTX)
                                       : text(nvrtc.GetProgramLogSize, nvrtc.GetProgramLog);
  nvrtc.DestroyProgram(&program);
  if (result != 0) throw std::runtime_error(made);
  return made.substr(0, made.find('\0'));
}

SimulatedDevice::SimulatedDevice(std::string_view profile)
    : profile_(*find_profile(profile)), memory_(memory_bytes) {}

void* SimulatedDevice::place(const void* bytes, std::size_t count) {
  const auto address = memory_.allocate(std::max<std::size_t>(count, 1), "the test");
  REQUIRE(address);
  auto* memory = reinterpret_cast<void*>(*address);
  if (bytes != nullptr && count != 0) {
    std::memcpy(memory, bytes, count);
    memory_.set_initialised(*address, count);
  }
  return memory;
}

void SimulatedDevice::free(const void* memory) {
  REQUIRE(memory_.free(reinterpret_cast<std::uint64_t>(memory), "the test"));
}

void SimulatedDevice::load_ptx(std::string_view ptx) {
  const int architecture = profile_.major * 10 + profile_.minor;
  LoadedModule module = load(ptx, architecture, [this](const std::string& name, std::size_t bytes) {
    const std::uint64_t address = memory_.allocate(bytes, "variable " + name).value();
    memory_.set_initialised(address, bytes);
    return address;
  });
  loaded_.kernels.merge(module.kernels);
  loaded_.variables.merge(module.variables);
}

const Kernel& SimulatedDevice::kernel(const std::string& name) const {
  return loaded_.kernels.at(name);
}
const GlobalVariable& SimulatedDevice::variable(const std::string& name) const {
  return loaded_.variables.at(name);
}

std::optional<FaultReport> SimulatedDevice::launch_with(const std::string& name,
                                                        const LaunchConfiguration& sizes,
                                                        const Arguments& arguments) {
  const Kernel& named = kernel(name);
  REQUIRE(arguments.bytes().size() == named.parameter_bytes);
  const auto refused = refuse(named, sizes, profile_);
  INFO((refused ? refused->text : ""));
  REQUIRE_FALSE(refused);
  return simgpu::launch(named, sizes, arguments.bytes(), profile_, memory_, &counts_);
}

}  // namespace simgpu
