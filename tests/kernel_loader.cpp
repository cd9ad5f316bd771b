// Loads kernels through the cache of its process, for tests that need many processes:
//
//   kernel_loader FIRST COUNT [threads=N] [user=ID] [fail=write|fsync|rename] [fork] [exit]
//
// prints what the cache did and ends with 0 where every kernel computed what it should. With `exit`
// it ends as soon as the compiler works.

#include <fmt/format.h>
#include <grp.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include "jit/kernel_cache.h"
#include "tests/test_kernels.h"

namespace {

std::string_view failing;

/// Stands for a full disk: the disk cache's own files, and no others, take nothing more.
bool is_full(int file) {
  char path[4096];
  const ssize_t size = ::readlink(fmt::format("/proc/self/fd/{}", file).c_str(), path, sizeof path);
  return size > 0 && std::string_view(path, static_cast<std::size_t>(size)).find("/batches") !=
                         std::string_view::npos;
}

int number_of(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, std::size_t size) {
  if (failing == "write" && is_full(file)) {
    errno = ENOSPC;
    return -1;
  }
  return ::syscall(SYS_write, file, bytes, size);
}

int fsync(int file) {
  if (failing == "fsync" && is_full(file)) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, file));
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  if (failing == "rename" && is_full(from_folder)) {
    errno = EDQUOT;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, 0));
}

}  // extern "C"

namespace {

bool run(int first, int count, int threads, bool forks) {
  sinter::jit::KernelCache& cache = sinter::jit::kernel_cache();
  std::atomic<int> good{0};
  std::vector<std::thread> others;
  for (int i = 0; i < threads; ++i)
    others.emplace_back([&] { good += sinter::jit::load_and_try(cache, first, count); });
  const pid_t child = forks ? ::fork() : -1;
  if (child == 0) {
    ::alarm(250);
    ::_exit(sinter::jit::load_and_try(cache, first, count) ? 0 : 1);
  }
  for (std::thread& other : others) other.join();
  int status = 0;
  if (forks) ::waitpid(child, &status, 0);
  return good == threads && status == 0;
}

/// Ends the program while a thread compiles.
[[noreturn]] void exit_meanwhile(int first, int count) {
  std::thread([=] {
    sinter::jit::load_and_try(sinter::jit::kernel_cache(), first, count);
  }).detach();
  const std::string& folder = sinter::options().surroundings.temporary;
  while (std::filesystem::is_empty(folder)) std::this_thread::yield();
  std::exit(0);
}

}  // namespace

int main(int count, char** arguments) {
  int threads = 1;
  bool forks = false;
  for (int i = 3; i < count; ++i) {
    const std::string_view word = arguments[i];
    const std::string_view value = word.substr(std::min(word.size(), word.find('=') + 1));
    if (word.starts_with("threads=")) threads = number_of(value);
    if (word.starts_with("fail=")) failing = value;
    if (word == "fork") forks = true;
    if (word == "exit") exit_meanwhile(number_of(arguments[1]), number_of(arguments[2]));
    if (word.starts_with("user=")) {
      const unsigned id = static_cast<unsigned>(number_of(value));
      if (::setgroups(0, nullptr) != 0 || ::setgid(id) != 0 || ::setuid(id) != 0) return 2;
    }
  }
  try {
    const bool good = run(number_of(arguments[1]), number_of(arguments[2]), threads, forks);
    const sinter::jit::KernelStatistics did = sinter::jit::kernel_cache().statistics();
    fmt::print("{} process={} disk={} misses={} refused={} compiles={}\n", good ? "right" : "wrong",
               did.process_hits, did.disk_hits, did.misses, did.refused, did.compiles);
    fmt::print(stderr, "compiling {:.2f} ms, loading {:.2f} ms\n", did.compile_milliseconds,
               did.load_milliseconds);
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 3;
  }
}
