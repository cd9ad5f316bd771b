// cuGetProcAddress, cuGetErrorName: what is known of the library itself.
#include <algorithm>
#include <cstring>

#include "tools/simgpu/driver/exports.h"

namespace simgpu::driver {
namespace {

/// The newest version of a function that is no newer than `version`.
const Export* find(const char* name, int version, bool per_thread) {
  const Export* best = nullptr;
  for (std::size_t i = 0; i < export_count; ++i) {
    const Export& one = exports[i];
    const bool is_fit = one.version <= version && (per_thread || !one.per_thread);
    if (is_fit && std::strcmp(one.name, name) == 0) best = &one;
  }
  return best;
}

bool is_known(const char* name) {
  return std::any_of(exports, exports + export_count,
                     [&](const Export& one) { return std::strcmp(one.name, name) == 0; });
}

}  // namespace

const char* error_name(CUresult code) {
  const auto* found = std::find_if(error_names, error_names + error_count,
                                   [code](const ErrorName& one) { return one.code == code; });
  return found == error_names + error_count ? nullptr : found->name;
}

namespace api {

/// Null too where there is none.
void cuGetErrorName(CUresult code, const char** text) {
  require(text != nullptr);
  *text = error_name(code);
  require(*text != nullptr);
}

void cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags,
                         CUdriverProcAddressQueryResult* status) {
  constexpr cuuint64_t known =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  require(name != nullptr && function != nullptr && (flags & ~known) == 0 && flags != known);
  require(version <= CUDA_VERSION);
  const Export* found = find(name, version, flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  *function = found != nullptr ? found->function : nullptr;
  // A missing function is no error: its address is null.
  const auto result = found != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
                      : is_known(name) ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                       : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (status != nullptr) *status = result;
}

}  // namespace api
}  // namespace simgpu::driver
