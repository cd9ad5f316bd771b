#include "jit/host_compiler.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "jit/digest.h"
#include "jit/file_bytes.h"
#include "jit/host_directory.h"
#include "jit/host_flags.h"
#include "jit/host_process.h"
#include "runtime/cpu/pool.h"
#include "runtime/error.h"

namespace sinter::jit {
namespace {

constexpr std::string_view usual_search_path = "/usr/local/bin:/usr/bin:/bin";

/// All that a compiler is given: of what else a user may have set, much changes the code it makes.
std::vector<std::string> environment_of(const Surroundings& surroundings,
                                        const std::string& temporary) {
  // A driver that is given no PATH finds no assembler and no linker.
  const std::string& path = surroundings.search_path;
  std::vector<std::string> environment = {
      "LC_ALL=C", "TMPDIR=" + temporary,
      "PATH=" + (path.empty() ? std::string(usual_search_path) : path)};
  if (!surroundings.library_path.empty())
    environment.push_back("LD_LIBRARY_PATH=" + surroundings.library_path);
  if (!surroundings.home.empty()) environment.push_back("HOME=" + surroundings.home);
  return environment;
}

/// The path of a program by name; names with a slash are paths already.
std::optional<std::string> on_search_path(const std::string& name, std::string_view search_path) {
  if (name.find('/') != std::string::npos) return name;
  if (search_path.empty()) search_path = usual_search_path;
  while (true) {
    const std::size_t colon = search_path.find(':');
    const std::string_view folder = search_path.substr(0, colon);
    const std::string path = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        ::access(path.c_str(), X_OK) == 0)
      return path;
    if (colon == std::string_view::npos) return std::nullopt;
    search_path.remove_prefix(colon + 1);
  }
}

/// What changes when somebody changes the file, even one who sets the old size and time again.
std::string stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return fmt::format("{}:{} {} {}.{} {}.{}", status.st_dev, status.st_ino, status.st_size,
                     status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                     status.st_ctim.tv_nsec);
}

/// The file itself: of `path` only the stamp need be the same, not the links it leads through.
std::string identity_of(const std::string& real_path, const std::string& version) {
  struct stat status {};
  if (::stat(real_path.c_str(), &status) != 0) return {};
  return fmt::format("{}\nsize {}\nmodified {}.{:09}\ndigest {}\n{}", real_path, status.st_size,
                     status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                     to_hex(digest_of(read_file_bytes(real_path))), version);
}

/// Asks the program for its version; `problem` says why there is none.
std::optional<HostCompiler> ask(const std::string& path, const Surroundings& surroundings,
                                std::string& problem) {
  HostCompiler compiler{path, {}, stamp_of(path), surroundings};
  const HostProgram program{
      {path, "--version"},
      environment_of(surroundings, temporary_directory(surroundings.temporary))};
  const HostOutcome outcome = run_programs({&program, 1}, 1).front();
  std::error_code error;
  const std::string real_path = std::filesystem::canonical(path, error).string();
  if (outcome.failed()) problem = outcome.problem();
  else if (outcome.output.empty() || error) problem = "does not tell its version";
  else compiler.identity = identity_of(real_path, outcome.output);
  if (compiler.identity.empty()) return std::nullopt;
  return compiler;
}

/// Whether all that the loader maps is there: where it is not, the process would end in the loader.
bool is_whole(const std::string& image) {
  Elf64_Ehdr header;
  if (image.size() < sizeof header) return false;
  std::memcpy(&header, image.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_DYN) return false;
  const std::uint64_t size = image.size();
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    const std::uint64_t at = header.e_phoff + i * sizeof part;
    if (at > size || size - at < sizeof part) return false;
    std::memcpy(&part, image.data() + at, sizeof part);
    if (part.p_offset > size || size - part.p_offset < part.p_filesz) return false;
  }
  return true;
}

/// Keeps a unit that failed outside of the directory that is removed; nothing where that fails too.
std::string keep_source(const std::string& unit, const Surroundings& surroundings) {
  std::string path = temporary_directory(surroundings.temporary) + "/sinter-failed-XXXXXX.cpp";
  const int file = ::mkstemps(path.data(), 4);
  if (file < 0) return {};
  const bool written = write_all(file, unit);
  if (::close(file) == 0 && written) return path;
  ::unlink(path.c_str());
  return {};
}

[[noreturn]] void throw_compile_error(const HostCompiler& compiler, const std::string& problem,
                                      const std::string& log, const std::string& unit) {
  const std::string kept = keep_source(unit, compiler.surroundings);
  const std::string source = kept.empty() ? "nowhere, since no file could be written" : kept;
  throw CompileError(fmt::format("{} {}; the source is kept in {}; it printed:\n{}", compiler.path,
                                 problem, source, log),
                     log, kept);
}

}  // namespace

std::optional<HostCompiler> find_host_compiler(const Options& options) {
  const Surroundings& surroundings = options.surroundings;
  std::string problem = "is not a program on PATH";
  if (!options.compiler.empty()) {
    std::optional<HostCompiler> found;
    if (const auto path = on_search_path(options.compiler, surroundings.search_path))
      found = ask(*path, surroundings, problem);
    if (!found) throw UsageError(fmt::format("SINTER_CXX: \"{}\" {}", options.compiler, problem));
    return found;
  }
  for (const char* name : {"c++", "g++", "clang++"})
    if (const auto path = on_search_path(name, surroundings.search_path))
      if (auto found = ask(*path, surroundings, problem)) return found;
  return std::nullopt;
}

bool is_unchanged(const HostCompiler& compiler) {
  return stamp_of(compiler.path) == compiler.stamp;
}

std::vector<std::string> compile_flags(cpu::InstructionSet set) {
  // Vectors wider than the registers are passed in memory (-Wno-psabi), which no other code sees.
  std::vector<std::string> flags = {
      "-std=c++20",          "-O2", "-fPIC",     "-fno-exceptions", "-fno-rtti",
      "-fvisibility=hidden", "-w",  "-Wno-psabi"};
  for (std::string& flag : contract_flags()) flags.push_back(std::move(flag));
  for (std::string& flag : instruction_flags(set)) flags.push_back(std::move(flag));
  return flags;
}

std::vector<std::string> link_flags() {
  // Start files and libc triple the time of the link. libm and libgcc may not be among what the
  // embedding process shows to all: it may have loaded this library for itself alone.
  return {"-shared", "-nostdlib", "-Wl,--as-needed", "-lm", "-lgcc"};
}

std::string build_shared_object(const HostCompiler& compiler, std::span<const std::string> units,
                                std::span<const std::string> flags) {
  const HostDirectory directory(compiler.surroundings.temporary);
  const std::vector<std::string> environment =
      environment_of(compiler.surroundings, directory.path());
  std::vector<HostProgram> programs;
  HostProgram link{{compiler.path}, environment};
  for (std::size_t i = 0; i < units.size(); ++i) {
    const std::string source = fmt::format("{}/unit{}.cpp", directory.path(), i);
    const std::string object = fmt::format("{}/unit{}.o", directory.path(), i);
    write_file_bytes(source, units[i]);
    HostProgram& program = programs.emplace_back(HostProgram{{compiler.path}, environment});
    program.words.insert(program.words.end(), flags.begin(), flags.end());
    program.words.insert(program.words.end(), {"-c", source, "-o", object});
    link.words.push_back(object);
  }
  const std::vector<HostOutcome> outcomes = run_programs(programs, cpu::threads());
  for (std::size_t i = 0; i < units.size(); ++i)
    if (outcomes[i].failed())
      throw_compile_error(compiler, outcomes[i].problem(), outcomes[i].output, units[i]);
  const std::string image = directory.path() + "/kernels.so";
  for (std::string& flag : link_flags()) link.words.push_back(std::move(flag));
  link.words.insert(link.words.end(), {"-o", image});
  const HostOutcome outcome = run_programs({&link, 1}, 1).front();
  if (outcome.failed())
    throw_compile_error(compiler, outcome.problem(), outcome.output, units.front());
  // Seen only here where the program took the status away.
  std::string bytes = ::access(image.c_str(), R_OK) == 0 ? read_file_bytes(image) : std::string();
  if (!is_whole(bytes))
    throw_compile_error(compiler, "made no shared object", outcomes.front().output + outcome.output,
                        units.front());
  return bytes;
}

}  // namespace sinter::jit
