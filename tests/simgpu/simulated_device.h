/// \file
/// A simulated GPU for tests of kernels: memory, modules from PTX or CUDA C++, launches.
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/simgpu/code/load.h"
#include "tools/simgpu/machine/launch.h"
#include "tools/simgpu/machine/memory.h"
#include "tools/simgpu/machine/occupancy.h"
#include "tools/simgpu/machine/profile.h"

namespace simgpu {

/// Whether the real NVRTC is there; tests that need it are skipped without it.
bool has_nvrtc();

/// What NVRTC makes of CUDA C++ for a profile (`sm_90`). \throws std::runtime_error with its log.
std::string compile_to_ptx(const std::string& source, std::string_view profile,
                           std::initializer_list<const char*> options = {});

/// The bytes of arguments of a kernel, laid out as its parameters are.
class Arguments {
 public:
  template <class... Values>
  explicit Arguments(const Values&... values) {
    (add(&values, sizeof(Values), alignof(Values)), ...);
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void add(const void* value, std::size_t bytes, std::size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
    const std::size_t at = bytes_.size();
    bytes_.resize(at + bytes);
    std::memcpy(bytes_.data() + at, value, bytes);
  }

  std::vector<std::byte> bytes_;
};

class SimulatedDevice {
 public:
  explicit SimulatedDevice(std::string_view profile = "sm_90");

  /// Memory that holds the values, or that nobody has written.
  template <class T>
  T* upload(std::span<const T> values) {
    return static_cast<T*>(place(values.data(), values.size_bytes()));
  }
  template <class T>
  T* upload(const std::vector<T>& values) {
    return upload(std::span<const T>(values));
  }
  template <class T>
  T* allocate(std::size_t count) {
    return static_cast<T*>(place(nullptr, count * sizeof(T)));
  }
  /// What memory holds, initialised or not.
  template <class T>
  std::vector<T> download(const T* from, std::size_t count) const {
    return std::vector<T>(from, from + count);
  }
  void free(const void* memory);

  /// Adds the module's kernels to those that launch knows.
  void load_ptx(std::string_view ptx);
  void load_cuda(const std::string& source, std::initializer_list<const char*> options = {}) {
    load_ptx(compile_to_ptx(source, profile_.name, options));
  }
  const Kernel& kernel(const std::string& name) const;
  std::size_t kernel_count() const { return loaded_.kernels.size(); }
  const GlobalVariable& variable(const std::string& name) const;

  /// Runs a kernel: the report of its fault, or nothing.
  template <class... Values>
  std::optional<FaultReport> launch(const std::string& name, const LaunchConfiguration& sizes,
                                    const Values&... arguments) {
    return launch_with(name, sizes, Arguments(arguments...));
  }

  const Profile& profile() const { return profile_; }
  DeviceMemory& memory() { return memory_; }
  const LaunchCounts& counts() const { return counts_; }  ///< of the last launch

 private:
  void* place(const void* bytes, std::size_t count);
  std::optional<FaultReport> launch_with(const std::string& name, const LaunchConfiguration& sizes,
                                         const Arguments& arguments);

  const Profile& profile_;
  DeviceMemory memory_;
  LoadedModule loaded_;
  LaunchCounts counts_;
};

}  // namespace simgpu
