/// \file
/// What this machine's processor offers and what this process may use of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace sinter::cpu {

/// The code paths kernels are compiled for. `avx2` is AVX2, FMA and F16C; `avx512` is that and
/// AVX-512 F, BW, DQ, VL and CD. A path counts only where the operating system saves its registers.
enum class InstructionSet : std::uint8_t { portable, avx2, avx512 };

std::string_view to_string(InstructionSet set);

struct Processor {
  InstructionSet best = InstructionSet::portable;
  bool avx512_bf16 = false;  ///< Dot products of bf16.
  int usable_cores = 1;      ///< By affinity and the control group's quota, rounded up.
  std::size_t l1_bytes = 0;  ///< Data cache of one core.
  std::size_t l2_bytes = 0;  ///< Second level of one core.
  std::size_t l3_bytes = 0;  ///< Last level, shared.
};

/// Probed by the first call.
const Processor& processor();

/// The path kernels take: the best one, or the one SINTER_CPU or set_instruction_set names.
/// \throws UsageError where SINTER_CPU names one this machine lacks.
InstructionSet instruction_set();

/// Takes another path from now on; not while kernels run. \throws UsageError as above.
void set_instruction_set(InstructionSet set);

/// Whether bf16 dot products may be used: the machine has them and the path is `avx512`.
bool has_bf16_products();

/// Threads that kernels use unless told otherwise: the usable cores, at most SINTER_THREADS.
int default_threads();

/// Cores that the control groups (version 1 or 2) named by `membership`, a file in the format of
/// /proc/self/cgroup, and all groups above them allow, rounded up; nothing where there is no quota.
/// `root` is where control groups are mounted, /sys/fs/cgroup.
std::optional<int> quota_cores(const std::filesystem::path& root,
                               const std::filesystem::path& membership);

}  // namespace sinter::cpu
