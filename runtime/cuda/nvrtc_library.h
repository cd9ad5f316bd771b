/// \file
/// NVRTC, the compiler of CUDA C++ that comes as a library, opened at run time: a program that uses
/// it runs without it too.
#pragma once

#include <cstddef>

namespace sinter::cuda {

/// NVRTC's handle of a program.
struct NvrtcProgram;
/// NVRTC's error code: 0 is success.
using NvrtcResult = int;

/// What is used of it: result, name, parameters, as in nvrtc.h.
#define SINTER_NVRTC_FUNCTIONS(FUNCTION)                                                  \
  FUNCTION(const char*, GetErrorString, (NvrtcResult))                                    \
  FUNCTION(NvrtcResult, Version, (int* major, int* minor))                                \
  FUNCTION(NvrtcResult, CreateProgram,                                                    \
           (NvrtcProgram * *program, const char* source, const char* name, int headers,   \
            const char* const* header_sources, const char* const* header_names))          \
  FUNCTION(NvrtcResult, DestroyProgram, (NvrtcProgram * *program))                        \
  FUNCTION(NvrtcResult, CompileProgram,                                                   \
           (NvrtcProgram * program, int options, const char* const* option))              \
  FUNCTION(NvrtcResult, GetProgramLogSize, (NvrtcProgram * program, std::size_t * bytes)) \
  FUNCTION(NvrtcResult, GetProgramLog, (NvrtcProgram * program, char* log))               \
  FUNCTION(NvrtcResult, GetPTXSize, (NvrtcProgram * program, std::size_t * bytes))        \
  FUNCTION(NvrtcResult, GetPTX, (NvrtcProgram * program, char* ptx))                      \
  FUNCTION(NvrtcResult, GetCUBINSize, (NvrtcProgram * program, std::size_t * bytes))      \
  FUNCTION(NvrtcResult, GetCUBIN, (NvrtcProgram * program, char* cubin))

/// `GetPTX` is the function nvrtcGetPTX, and so on.
struct NvrtcLibrary {
#define SINTER_MEMBER(Result, name, parameters) Result(*name) parameters = nullptr;
  SINTER_NVRTC_FUNCTIONS(SINTER_MEMBER)
#undef SINTER_MEMBER
  int major = 0, minor = 0;  ///< its version
};

/// The library, opened by the first call: libnvrtc.so.13, else libnvrtc.so.12, from the folder that
/// SINTER_CUDA_PATH names (itself, its lib64 or lib), else from where the loader finds libraries.
/// Null where neither is there. Stays open until the process ends.
const NvrtcLibrary* nvrtc_library();

}  // namespace sinter::cuda
