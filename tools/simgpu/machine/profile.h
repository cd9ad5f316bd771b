/// \file
/// The limits of the GPUs that are simulated. Source: CUDA C++ programming guide, table of
/// technical specifications by compute capability; data sheets for sizes of memories.
#pragma once

#include <cstddef>
#include <string_view>

namespace simgpu {

struct Profile {
  std::string_view name;  ///< `sm_90`
  int major = 0, minor = 0;
  int multiprocessors = 0;
  int most_threads_per_block = 1024;
  int most_threads_per_multiprocessor = 2048;
  int most_blocks_per_multiprocessor = 32;
  int registers_per_multiprocessor = 65536;
  int most_registers_per_thread = 255;
  int shared_per_block = 49152;    ///< without asking for more
  int shared_per_block_optin = 0;  ///< after cuFuncSetAttribute
  int shared_per_multiprocessor = 0;
  int shared_reserved_per_block = 1024;
  int l2_bytes = 0;
  std::size_t memory_bytes = 0;  ///< of the device, as far as the host's memory allows
  int clock_khz = 0, memory_clock_khz = 0, bus_bits = 0;
};

/// The one that SIMGPU_PROFILE names (sm_80, sm_90, sm_100); sm_90 without it.
const Profile& profile();
const Profile* find_profile(std::string_view name);

}  // namespace simgpu
