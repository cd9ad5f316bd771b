/// \file
/// Objects of the program that graphs keep: the last reference that goes calls their destructor.
/// Source: CUDA C++ programming guide, "CUDA user objects".
#pragma once

#include <cstdint>
#include <map>

#include "tools/simgpu/driver/handles.h"

namespace simgpu::driver {

struct UserObject : Handled<CUuserObject> {
  static constexpr Identity identity{12, "user object", CUDA_ERROR_INVALID_VALUE};

  CUhostFn destroy = nullptr;
  void* data = nullptr;
  std::uint64_t references = 0;
};

/// Gives up references. The destructor runs on a thread that is not the program's.
/// \throws Refusal where there are not as many
void release(UserObject& object, std::uint64_t count);

/// The references that a graph has, which go with it. Under the lock of the driver.
class UserObjects {
 public:
  UserObjects() = default;
  UserObjects(const UserObjects& other);
  UserObjects& operator=(UserObjects other);
  ~UserObjects();

  /// Takes references that were someone's before.
  void take(CUuserObject object, std::uint64_t count);
  /// \throws Refusal where there are not as many
  void release(CUuserObject object, std::uint64_t count);

 private:
  std::map<CUuserObject, std::uint64_t> counts_;
};

}  // namespace simgpu::driver
