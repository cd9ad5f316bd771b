/// \file
/// For what exports.py writes: the functions of the library, and tables of them.
#pragma once

#include <cstddef>
#include <iterator>

#include "tools/simgpu/driver/call.h"

#define SIMGPU_EXPORT [[gnu::visibility("default")]] CUresult

namespace simgpu::driver {

/// A function as cuGetProcAddress knows it.
struct Export {
  const char* name;
  int version;      ///< of CUDA that it came with: 12050 for 12.5
  bool per_thread;  ///< of the default stream of each thread
  void* function;
};
/// Of a name, those of the default streams of threads come last, and newer ones after older.
extern const Export exports[];
extern const std::size_t export_count;

struct ErrorName {
  CUresult code;
  const char* name;
};
extern const ErrorName error_names[];
extern const std::size_t error_count;

/// Of each function that is given a device; there is only this one.
inline void require_device(CUdevice device) { require(device == 0, CUDA_ERROR_INVALID_DEVICE); }

/// Null for an unknown one.
const char* error_name(CUresult code);

}  // namespace simgpu::driver
