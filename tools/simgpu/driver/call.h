/// \file
/// What surrounds each call of the API: the lock, the caller, and how it is turned down.
#pragma once

#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tools/simgpu/driver/cuda_api.h"

namespace simgpu::driver {

/// Ends a call with an error. A text says more than the code does, and is told to people.
class Refusal : public std::exception {
 public:
  explicit Refusal(CUresult code, std::string text = {}) : code_(code), text_(std::move(text)) {}
  CUresult code() const { return code_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  CUresult code_;
  std::string text_;
};

[[noreturn]] void refuse(CUresult code, std::string text = {});
inline void require(bool holds, CUresult code = CUDA_ERROR_INVALID_VALUE) {
  if (!holds) refuse(code);
}

/// Who made a call: its name and the return addresses above it.
struct Origin {
  const char* name = "";
  std::vector<void*> frames;
  /// `cuMemAlloc_v2, called from main (client+0x1234) ...`
  std::string text() const;
};

/// How one form of a function differs from the others.
struct Terms {
  bool needs_no_init = false;      ///< may be called before cuInit, and by host functions
  bool per_thread_stream = false;  ///< stream 0 is the thread's own
  bool waits = false;              ///< of an asynchronous copy or set: the one without a stream
};

/// The call that this thread is in. It holds the lock of the driver while it runs.
class Call {
 public:
  Call(const char* name, Terms terms);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  static Call& current();

  /// \throws Refusal where the call may not be made now.
  void begin();
  /// What the exception that is being handled comes to.
  CUresult failed() const;
  const char* name() const { return name_; }
  const Terms& terms() const { return terms_; }
  Origin origin() const;
  std::unique_lock<std::mutex>& lock() { return lock_; }

 private:
  const char* name_;
  Terms terms_;
  std::unique_lock<std::mutex> lock_;
  Call* outer_;
};

/// While it lives, the thread runs a function of the program's that may make no calls.
class InHostFunction {
 public:
  InHostFunction();
  ~InHostFunction();
  InHostFunction(const InHostFunction&) = delete;
  InHostFunction& operator=(const InHostFunction&) = delete;
};

template <class Body>
CUresult enter(const char* name, Terms terms, Body body) noexcept {
  Call call(name, terms);
  try {
    call.begin();
    body();
    return CUDA_SUCCESS;
  } catch (...) {
    return call.failed();
  }
}

/// What a call gives, to where the program wants it.
template <class T, class Make>
void give(T* into, Make make) {
  require(into != nullptr);
  *into = make();
}

/// CUDA_ERROR_NOT_SUPPORTED, said aloud the first time.
CUresult unsupported(const char* name) noexcept;

/// To stderr, and to the file that SIMGPU_REPORT names.
void tell(const std::string& text);

}  // namespace simgpu::driver
