#include "runtime/cpu/pool.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cpu/probe.h"
#include "runtime/error.h"
#include "tests/forking.h"

namespace sinter::cpu {
namespace {

/// Uses `count` threads while alive.
class Threads {
 public:
  explicit Threads(int count) : before_(threads()) { set_threads(count); }
  ~Threads() { set_threads(before_); }

 private:
  int before_;
};

/// Whether each of `tasks` tasks ran exactly once.
bool all_run_once(std::int64_t tasks) {
  std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
  parallel_for(tasks, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
  for (const std::atomic<int>& count : runs)
    if (count != 1) return false;
  return true;
}

TEST_CASE("pool: every task runs once, for any number of tasks and threads") {
  for (const int count : {1, 2, 3, 8}) {
    const Threads use(count);
    CHECK(threads() == count);
    for (const int tasks : {0, 1, 2, 3, 7, 8, 9, 1000}) CHECK(all_run_once(tasks));
  }
}

TEST_CASE("pool: regions in quick succession and after a sleep") {
  const Threads use(2);
  std::int64_t sum = 0;
  for (int i = 0; i < 20000; ++i) {
    std::int64_t parts[4] = {};
    parallel_for(4, [&](std::int64_t task) { parts[task] = task + i; });
    sum += parts[0] + parts[1] + parts[2] + parts[3];
    if (i % 5000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  CHECK(sum == 4ll * 20000 * 19999 / 2 + 6 * 20000);
}

TEST_CASE("pool: a long task is waited for, on both sides") {
  const Threads use(2);
  for (const std::int64_t slow : {0, 1}) {
    std::atomic<int> done{0};
    parallel_for(2, [&](std::int64_t task) {
      if (task == slow) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      ++done;
    });
    CHECK(done == 2);
  }
}

TEST_CASE("pool: nested regions run inside the task") {
  const Threads use(2);
  std::atomic<int> runs{0};
  parallel_for(5, [&](std::int64_t) { parallel_for(7, [&](std::int64_t) { ++runs; }); });
  CHECK(runs == 35);
  CHECK_THROWS_AS(parallel_for(1, [](std::int64_t) { set_threads(2); }), UsageError);
}

TEST_CASE("pool: the exception of the lowest task reaches the caller, the rest run") {
  for (const int count : {1, 2}) {
    const Threads use(count);
    std::atomic<int> runs{0};
    const auto body = [&](std::int64_t task) {
      ++runs;
      if (task % 10 == 7) throw std::runtime_error(std::to_string(task));
    };
    CHECK_THROWS_WITH_AS(parallel_for(100, body), "7", std::runtime_error);
    CHECK(runs == 100);
    CHECK(all_run_once(10));
  }
}

TEST_CASE("pool: several threads may open regions at once") {
  const Threads use(2);
  std::vector<std::thread> callers;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) good += all_run_once(1 + i % 9);
    });
  for (int i = 0; i < 20; ++i) set_threads(1 + i % 3);
  for (std::thread& caller : callers) caller.join();
  CHECK(good == 1600);
}

TEST_CASE("pool: tasks see default floating point whatever the caller's mode, which comes back") {
  const Threads use(2);
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040u);  // flush to zero, denormals are zero
  const unsigned flushing = _mm_getcsr();
  volatile float denormal = 1e-40f;
  std::atomic<int> kept{0};
  parallel_for(64, [&](std::int64_t) { kept += denormal * 1.0f != 0.0f; });
  parallel_for(1, [&](std::int64_t) { kept += denormal * 1.0f != 0.0f; });
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  CHECK(kept == 65);
  CHECK(after == flushing);
}

TEST_CASE("pool: a forked child has a pool of its own" *
          doctest::skip(tests::child_has_no_threads)) {
  const Threads use(3);
  REQUIRE(all_run_once(100));
  for (int round = 0; round < 5; ++round) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      alarm(20);
      _exit(all_run_once(100) && all_run_once(3) && threads() == 3 ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(all_run_once(100));
  }
}

TEST_CASE("pool: fork while other threads run regions" *
          doctest::skip(tests::child_has_no_threads || tests::child_has_no_allocator)) {
  const Threads use(2);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) all_run_once(50);
  });
  int good = 0;
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(all_run_once(100) ? 0 : 1);
    }
    int status = -1;
    good += waitpid(child, &status, 0) == child && status == 0;
  }
  stop = true;
  busy.join();
  CHECK(good == 20);
}

TEST_CASE("probe: what it says is possible") {
  const Processor& found = processor();
  CHECK(found.usable_cores >= 1);
  CHECK(found.l1_bytes >= 8u << 10);
  CHECK(found.l2_bytes >= found.l1_bytes);
  CHECK(default_threads() <= found.usable_cores);
  CHECK(instruction_set() <= found.best);
  __builtin_cpu_init();
  CHECK((found.best >= InstructionSet::avx2) ==
        (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")));
  CHECK((found.best == InstructionSet::avx512) ==
        (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512cd")));
}

TEST_CASE("probe: a lower path can be taken, a higher one is refused") {
  const InstructionSet before = instruction_set();
  set_instruction_set(InstructionSet::portable);
  CHECK(instruction_set() == InstructionSet::portable);
  CHECK_FALSE(has_bf16_products());
  if (processor().best < InstructionSet::avx512)
    CHECK_THROWS_AS(set_instruction_set(InstructionSet::avx512), UsageError);
  set_instruction_set(before);
}

/// A tree of control groups in a temporary folder.
class Groups {
 public:
  Groups() {
    root = std::filesystem::temp_directory_path() / ("sinter_groups_" + std::to_string(getpid()));
    std::filesystem::create_directories(root);
  }
  ~Groups() { std::filesystem::remove_all(root); }
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
  std::optional<int> cores() const { return quota_cores(root, root / "membership"); }

  std::filesystem::path root;
};

TEST_CASE("probe: quotas of control groups, versions 1 and 2") {
  const Groups groups;
  CHECK_FALSE(groups.cores().has_value());  // no file at all
  groups.write("membership", "0::/a/b\n");
  groups.write("a/b/cpu.max", "max 100000\n");
  CHECK_FALSE(groups.cores().has_value());
  groups.write("a/cpu.max", "250000 100000\n");
  CHECK(groups.cores() == 3);  // of the group above, rounded up
  groups.write("cpu.max", "50000 100000\n");
  CHECK(groups.cores() == 1);
  groups.write("membership", "4:memory:/x\n3:cpu,cpuacct:/docker/x\n");
  groups.write("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  groups.write("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  CHECK_FALSE(groups.cores().has_value());
  groups.write("cpu,cpuacct/docker/x/cpu.cfs_quota_us", "400000\n");
  groups.write("cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
  CHECK(groups.cores() == 4);
  groups.write("membership", "garbage\n:\n1:cpu\n");
  CHECK_FALSE(groups.cores().has_value());
}

}  // namespace
}  // namespace sinter::cpu
