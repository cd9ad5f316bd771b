/// \file
/// One launch of a golden kernel on made-up data, on the CPU and on the simulated GPU.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "jit/cuda_launch.h"
#include "jit/loop.h"
#include "kernels/loop_arguments.h"
#include "runtime/shape.h"
#include "tests/golden_kernel_table.h"
#include "tests/pattern_chains.h"

namespace sinter::tests {

/// The memory of each access, as elements of its dtype; empty for one without memory.
using KernelMemory = std::vector<std::vector<std::byte>>;

/// A GPU, as far as a launch needs one.
class KernelGpu {
 public:
  KernelGpu() = default;
  virtual ~KernelGpu() = default;
  KernelGpu(const KernelGpu&) = delete;
  KernelGpu& operator=(const KernelGpu&) = delete;

  /// Memory of the device that holds the bytes until the object ends.
  virtual void* place(std::span<const std::byte> bytes) = 0;
  virtual void read(const void* memory, std::span<std::byte> bytes) = 0;
  /// Runs the kernel; `arguments`, and all that they point to, are in the device's memory.
  virtual void run(const jit::CudaLaunch& shape, std::int64_t shared_bytes,
                   const kernels::LoopArguments* arguments) = 0;
};

class KernelRun {
 public:
  /// Every access lies row after row in memory of its own, strided ones with a gap after each
  /// element; an index moves along the columns. Data depends on nothing but the arguments.
  /// `special` mixes zeros, infinities, NaN and denormals in.
  KernelRun(const jit::Loop& loop, Shape rows, std::int64_t columns, bool special);

  KernelMemory& memory() { return memory_; }

  /// What memory holds after the kernel.
  KernelMemory on_host(GoldenKernel kernel) const;
  /// Likewise; `in_device_memory` puts row buffers there where shared memory would do.
  KernelMemory on_gpu(KernelGpu& gpu, bool in_device_memory = false);
  /// On threads of the host that take turns (tests/simulated_gpu.h).
  KernelMemory on_gpu(GoldenKernel kernel, bool in_device_memory = false);

  /// The access whose index was out of its extent in the last on_gpu, plus one, and the index.
  const std::int64_t* fault() const { return fault_; }

 private:
  std::vector<kernels::LoopAccess> accesses_of(const std::vector<void*>& memory) const;

  const jit::Loop& loop_;
  Shape rows_;
  std::int64_t columns_;
  KernelMemory memory_;
  std::vector<kernels::LoopNumber> numbers_;
  std::int64_t fault_[2] = {};
};

/// Sizes that take a GPU every way: a warp a row with idle lanes and with several turns, several
/// warps, the most threads; one axis of rows and more, and more rows than one sum of rows takes.
struct KernelExtents {
  Shape rows;
  std::int64_t columns;
};
std::vector<KernelExtents> kernel_extents();

/// Whether floats are summed over the columns, which a GPU does in an order of its own.
bool sums_columns(const jit::Loop& loop);

/// Between a GPU and the CPU: nothing for the exact class; else a few roundings of what is stored.
double gpu_tolerance(const NamedLoop& named);

/// The first element that differs, as `access 2, element 17: 1.5 and 1.25`; empty where none does.
/// NaNs are equal. Floats may differ by `tolerance` times the larger one of 1 and their size.
std::string first_difference(const jit::Loop& loop, const KernelMemory& a, const KernelMemory& b,
                             double tolerance);

}  // namespace sinter::tests
