/// \file
/// Source in, functions out: the last stage of the pipeline on the CPU. Each kernel is compiled
/// once in a process, and once on a machine as long as the disk cache keeps it.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jit/host_compiler.h"
#include "jit/kernel_image.h"
#include "jit/kernel_store.h"
#include "runtime/options.h"

namespace sinter::jit {

/// A kernel to be. The body stands in a namespace of its own and defines one function
/// `extern "C" void SINTER_KERNEL_NAME(const T* arguments, long first, long last)`, with
/// SINTER_KERNEL_NAME a macro that the cache gives a name made from the digest of everything the
/// code depends on.
struct KernelSource {
  std::string name_hint;  ///< For people: becomes part of the symbol, not of the identity.
  std::string body;       ///< Canonical; the same text is the same kernel.
};

struct KernelStatistics {
  std::int64_t process_hits = 0;  ///< Kernels found in the process.
  std::int64_t disk_hits = 0;     ///< Kernels found on disk.
  std::int64_t misses = 0;        ///< Kernels compiled.
  std::int64_t refused = 0;       ///< Entries on disk that could not be used.
  std::int64_t compiles = 0;      ///< Batches compiled, which is shared objects made.
  double compile_milliseconds = 0;
  double load_milliseconds = 0;  ///< Looking on disk, checking and loading.
};

/// All kernels of a process. May be called from several threads at once: the first to want a kernel
/// makes it, others wait for it. A forked child keeps the kernels that were ready.
class KernelCache {
 public:
  explicit KernelCache(const Options& options);
  ~KernelCache();
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  /// The functions of `sources` in their order, for the instruction set in use. What is neither in
  /// the process nor on disk is compiled in one batch and kept on disk. `prelude` is text before
  /// every kernel, `precision` names the mode of the contract that the code was made for.
  /// \return nothing where the machine has no compiler, after one warning.
  /// \throws CompileError where the compiler fails; nothing is kept, and a later call tries again.
  /// \throws UsageError where SINTER_CXX names no compiler. \throws FileError for temporary files.
  std::optional<std::vector<KernelFunction>> load(std::span<const KernelSource> sources,
                                                  std::string_view prelude,
                                                  std::string_view precision);

  KernelStatistics statistics() const;

  /// For pthread_atfork.
  void before_fork() { mutex_.lock(); }
  void after_fork_in_parent() { mutex_.unlock(); }
  void after_fork_in_child();

 private:
  struct Slot;
  struct Family;
  struct Batch;

  std::optional<HostCompiler> compiler();
  Family& family_of(const HostCompiler& compiler, std::string_view prelude,
                    std::string_view precision);
  std::vector<std::shared_ptr<Slot>> claim(Batch& batch, std::span<const KernelSource> sources);
  void make(Batch& batch);
  void read_disk(Batch& batch);
  void compile(Batch& batch);
  KernelImage load_image(const std::string& bytes) const;
  void give_up(Batch& batch, std::exception_ptr error);

  const Options options_;
  const KernelStore store_;
  mutable std::mutex mutex_;  // guards the rest; held for moments, never while compiling
  std::optional<HostCompiler> compiler_;
  std::map<std::string, std::unique_ptr<Family>, std::less<>> families_;  // by ingredients
  KernelStatistics statistics_;
};

/// The cache of this process, with the options of its environment.
KernelCache& kernel_cache();

}  // namespace sinter::jit
