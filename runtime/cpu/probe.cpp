#include "runtime/cpu/probe.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "runtime/error.h"
#include "runtime/options.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace sinter::cpu {
namespace {

#if defined(__x86_64__)

/// The register states that the operating system saves: the low half of XCR0.
std::uint32_t saved_states() {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  constexpr std::uint32_t osxsave = 1u << 27;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & osxsave) == 0) return 0;
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

void probe_instructions(Processor& found) {
  constexpr std::uint32_t fma = 1u << 12, f16c = 1u << 29, avx = 1u << 28;  // leaf 1, ecx
  constexpr std::uint32_t avx2 = 1u << 5;                                   // leaf 7, ebx
  constexpr std::uint32_t avx512 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
  constexpr std::uint32_t bf16 = 1u << 5;                 // leaf 7.1, eax
  constexpr std::uint32_t ymm = 0x6u, zmm = ymm | 0xe0u;  // XCR0
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  const std::uint32_t saved = saved_states();
  if (!__get_cpuid(1, &a, &b, &c, &d) || (~c & (fma | f16c | avx)) != 0) return;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
  if ((b & avx2) == 0 || (saved & ymm) != ymm) return;
  found.best = InstructionSet::avx2;
  if ((b & avx512) != avx512 || (saved & zmm) != zmm) return;
  found.best = InstructionSet::avx512;
  if (a < 1 || !__get_cpuid_count(7, 1, &a, &b, &c, &d)) return;
  found.avx512_bf16 = (a & bf16) != 0;
}

#else

void probe_instructions(Processor&) {}

#endif

/// Cores the scheduler may put this process on.
int affinity_cores() {
  for (std::size_t cores = 1024; cores <= 1u << 20; cores *= 2) {
    cpu_set_t* set = CPU_ALLOC(cores);
    if (set == nullptr) break;
    const bool read = sched_getaffinity(0, CPU_ALLOC_SIZE(cores), set) == 0;
    const int count = read ? CPU_COUNT_S(CPU_ALLOC_SIZE(cores), set) : 0;
    CPU_FREE(set);
    if (read) return std::max(count, 1);
  }
  return 1;
}

std::size_t cache_bytes(int name, std::size_t otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : otherwise;
}

Processor probe() {
  Processor found;
  probe_instructions(found);
  const std::optional<int> quota = quota_cores("/sys/fs/cgroup", "/proc/self/cgroup");
  found.usable_cores = affinity_cores();
  if (quota) found.usable_cores = std::min(found.usable_cores, *quota);
  found.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32u << 10);
  found.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 256u << 10);
  found.l3_bytes = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 4u << 20);
  return found;
}

std::atomic<int> chosen_set{-1};

InstructionSet checked(InstructionSet set, std::string_view origin) {
  if (set > processor().best)
    throw UsageError(fmt::format("{}: this machine has no {}, the best it has is {}", origin,
                                 to_string(set), to_string(processor().best)));
  return set;
}

InstructionSet wanted_set() {
  switch (options().cpu) {
    case CpuPath::automatic: return processor().best;
    case CpuPath::portable: return InstructionSet::portable;
    case CpuPath::avx2: return checked(InstructionSet::avx2, "SINTER_CPU");
    default: return checked(InstructionSet::avx512, "SINTER_CPU");
  }
}

}  // namespace

std::string_view to_string(InstructionSet set) {
  constexpr std::string_view names[] = {"portable", "avx2", "avx512"};
  return names[static_cast<int>(set)];
}

const Processor& processor() {
  static const Processor found = probe();
  return found;
}

InstructionSet instruction_set() {
  const int chosen = chosen_set.load(std::memory_order_relaxed);
  if (chosen >= 0) [[likely]]
    return static_cast<InstructionSet>(chosen);
  const InstructionSet set = wanted_set();
  chosen_set.store(static_cast<int>(set), std::memory_order_relaxed);
  return set;
}

void set_instruction_set(InstructionSet set) {
  const int checked_set = static_cast<int>(checked(set, "set_instruction_set"));
  chosen_set.store(checked_set, std::memory_order_relaxed);
}

bool has_bf16_products() {
  return processor().avx512_bf16 && instruction_set() == InstructionSet::avx512;
}

int default_threads() {
  const int asked = options().threads;
  return asked == 0 ? processor().usable_cores : std::min(asked, processor().usable_cores);
}

}  // namespace sinter::cpu
