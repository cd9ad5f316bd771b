/// \file
/// CUDA C++ to code for a GPU, with NVRTC.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::jit {

/// What a thread or block of a kernel takes, in bytes where it is memory.
struct KernelResources {
  std::string name;
  int registers = 0;
  int spilled = 0;        ///< stored and loaded again for want of registers, per thread
  int stack = 0;          ///< local memory of a thread
  int shared_memory = 0;  ///< of a block, without what a launch adds
};

/// Code for one architecture, and for later ones through PTX.
struct CudaCode {
  std::string ptx;
  std::string cubin;
  std::string log;
  std::vector<KernelResources> kernels;  ///< in the order in which the compiler took them
};

/// A whole source: kernels as emit() gives them, one after the other, behind the device's prelude.
std::string cuda_source(std::string_view kernels);

/// Compiles for sm_`architecture` (80, 90, 100) with the options of the precision contract: no
/// contraction, denormals kept, IEEE division and square root. The source includes nothing. Empty
/// where NVRTC is not installed. Any number of threads may compile at once.
/// \throws CompileError with what NVRTC printed, and where the source was kept.
std::optional<CudaCode> compile_cuda(const std::string& source, int architecture);

/// The resources that a log of `--ptxas-options=-v` names.
std::vector<KernelResources> parse_resources(const std::string& log);

}  // namespace sinter::jit
