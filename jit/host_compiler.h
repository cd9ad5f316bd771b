/// \file
/// The C++ compiler of the machine: which one it is, and what it makes of generated source.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/cpu/probe.h"
#include "runtime/options.h"

namespace sinter::jit {

/// A compiler that was found and has told its version.
struct HostCompiler {
  std::string path;           ///< How it is called.
  std::string identity;       ///< Real path, size, time, digest of the file; all of its --version.
  std::string stamp;          ///< Changes with the file, for is_unchanged.
  Surroundings surroundings;  ///< What it is run with.
};

/// The one SINTER_CXX names, else the first of c++, g++ and clang++ on PATH that runs; nothing
/// where there is none. Runs it once, which takes a millisecond with g++. \throws UsageError where
/// the one SINTER_CXX names does not run.
std::optional<HostCompiler> find_host_compiler(const Options& options);

/// Whether the file behind the compiler is the one that was found.
bool is_unchanged(const HostCompiler& compiler);

/// What code for `set` is compiled with. No fast-math ever: the bits are part of the contract.
std::vector<std::string> compile_flags(cpu::InstructionSet set);

/// What the objects are linked with: no start files and no libc, which the process has.
std::vector<std::string> link_flags();

/// Compiles the units in as many processes as the pool has threads and links them into one shared
/// object, whose bytes are returned. The directory this happens in is gone afterwards.
/// \throws CompileError with what the compiler printed and where the unit it failed on was kept.
/// \throws FileError where the temporary directory cannot be made or written.
std::string build_shared_object(const HostCompiler& compiler, std::span<const std::string> units,
                                std::span<const std::string> flags);

}  // namespace sinter::jit
