// cuLaunchKernel and its kin.
#include <fmt/format.h>

#include <algorithm>

#include "tools/simgpu/driver/module.h"
#include "tools/simgpu/driver/stream.h"
#include "tools/simgpu/machine/occupancy.h"
#include "tools/simgpu/machine/profile.h"

namespace simgpu::driver {
namespace {

/// The parameters of a kernel, from where the program says they are.
std::vector<std::byte> parameters_of(const Kernel& kernel, void** each, void** extra) {
  std::vector<std::byte> bytes(kernel.parameter_bytes);
  require(each == nullptr || extra == nullptr);
  if (kernel.parameters.empty()) return bytes;
  if (extra == nullptr) {
    require(each != nullptr);
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const Parameter& parameter = kernel.parameters[i];
      if (each[i] == nullptr)
        refuse(CUDA_ERROR_INVALID_VALUE, fmt::format("{}: parameter {} of {} is not given",
                                                     kernel.name, i, kernel.parameters.size()));
      std::copy_n(static_cast<const std::byte*>(each[i]), parameter.bytes,
                  bytes.begin() + parameter.offset);
    }
    return bytes;
  }
  const void* buffer = nullptr;
  std::size_t size = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<std::size_t*>(extra[1]);
    else refuse(CUDA_ERROR_INVALID_VALUE);
  }
  if (buffer == nullptr || size != bytes.size())
    refuse(CUDA_ERROR_INVALID_VALUE,
           fmt::format("{}: {} bytes of parameters, it has {}", kernel.name, size, bytes.size()));
  std::copy_n(static_cast<const std::byte*>(buffer), size, bytes.begin());
  return bytes;
}

void check_cooperative(const KernelWork& work) {
  const LaunchConfiguration& configuration = work.configuration;
  const auto most = static_cast<std::uint64_t>(blocks_per_multiprocessor(
                        *work.function->kernel, configuration.block.count(),
                        configuration.dynamic_shared_bytes, profile())) *
                    static_cast<std::uint64_t>(profile().multiprocessors);
  if (configuration.grid.count() > most)
    refuse(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
           fmt::format("{}: {} blocks, {} run at once", work.function->kernel->name,
                       configuration.grid.count(), most));
}

void take_attribute(KernelWork& work, const CUlaunchAttribute& attribute) {
  const CUlaunchAttributeValue& value = attribute.value;
  switch (attribute.id) {
    // Hints, which change nothing that is computed; and leave to begin before the kernel in front
    // has ended, which is not taken.
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: return;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      work.configuration.cooperative = value.cooperative != 0;
      if (work.configuration.cooperative) check_cooperative(work);
      return;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      if (std::max({value.clusterDim.x, value.clusterDim.y, value.clusterDim.z}) <= 1) return;
      refuse(CUDA_ERROR_NOT_SUPPORTED, "the simulated GPU has no clusters of blocks");
    default:
      refuse(CUDA_ERROR_NOT_SUPPORTED,
             fmt::format("launch attribute {}", static_cast<int>(attribute.id)));
  }
}

}  // namespace

KernelWork make_kernel_work(const std::shared_ptr<Function>& function,
                            const LaunchConfiguration& configuration, void** each, void** extra,
                            std::span<const CUlaunchAttribute> attributes) {
  const Kernel& kernel = *function->kernel;
  if (const auto refusal = simgpu::refuse(kernel, configuration, profile()))
    refuse(refusal->kind == LaunchRefusal::Kind::invalid_value ? CUDA_ERROR_INVALID_VALUE
                                                               : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
           refusal->text);
  if (configuration.dynamic_shared_bytes >
      static_cast<std::uint32_t>(function->most_dynamic_shared))
    refuse(CUDA_ERROR_INVALID_VALUE,
           fmt::format("{}: {} bytes of dynamic shared memory, allowed are {} "
                       "(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)",
                       kernel.name, configuration.dynamic_shared_bytes,
                       function->most_dynamic_shared));
  KernelWork work{function, configuration, parameters_of(kernel, each, extra)};
  for (const CUlaunchAttribute& attribute : attributes) take_attribute(work, attribute);
  const auto context = function->context ? function->context : current_context();
  work.configuration.stack_bytes = context->limits[CU_LIMIT_STACK_SIZE];
  return work;
}

namespace api {

void cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** each,
                      void** extra) {
  require(config != nullptr && (config->numAttrs == 0 || config->attrs != nullptr));
  const auto stream = stream_of(config->hStream);
  const auto its_function = function_of(function);
  require(!its_function->context || its_function->context == stream->context,
          CUDA_ERROR_INVALID_HANDLE);
  submit(stream, make_kernel_work(its_function,
                                  {{config->gridDimX, config->gridDimY, config->gridDimZ},
                                   {config->blockDimX, config->blockDimY, config->blockDimZ},
                                   config->sharedMemBytes},
                                  each, extra, {config->attrs, config->numAttrs}));
}

void cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                    CUstream stream, void** each, void** extra) {
  const CUlaunchConfig config{grid_x,  grid_y, grid_z, block_x, block_y,
                              block_z, shared, stream, nullptr, 0};
  api::cuLaunchKernelEx(&config, function, each, extra);
}

void cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                               unsigned grid_z, unsigned block_x, unsigned block_y,
                               unsigned block_z, unsigned shared, CUstream stream, void** each) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  const CUlaunchConfig config{grid_x,  grid_y, grid_z, block_x,    block_y,
                              block_z, shared, stream, &attribute, 1};
  api::cuLaunchKernelEx(&config, function, each, nullptr);
}

}  // namespace api
}  // namespace simgpu::driver
