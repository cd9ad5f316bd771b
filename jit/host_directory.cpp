#include "jit/host_directory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include "jit/file_bytes.h"
#include "runtime/error.h"

namespace sinter::jit {
namespace {

/// How many directories there are in which process: the id above, the count below. In a forked
/// child the count begins anew, since the threads that would remove the parent's are not there; one
/// atomic, since a lock could be held for ever.
std::atomic<std::uint64_t> alive{0};

std::uint64_t of_this_process(std::uint64_t value) {
  const std::uint64_t process = static_cast<std::uint64_t>(::getpid()) << 32;
  return (value >> 32 << 32) == process ? value : process;
}

void add_alive(std::int64_t change) {
  std::uint64_t seen = alive.load();
  while (!alive.compare_exchange_weak(seen,
                                      of_this_process(seen) + static_cast<std::uint64_t>(change))) {
  }
}

void wait_at_exit() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while ((of_this_process(alive.load()) & 0xffff'ffffu) != 0 &&
         std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

std::string temporary_directory(const std::string& parent) {
  return parent.empty() ? P_tmpdir : parent;
}

void HostDirectory::wait_for_all_at_exit() {
  static const bool registered = std::atexit(wait_at_exit) == 0;
  (void)registered;
}

HostDirectory::HostDirectory(const std::string& parent)
    : path_(temporary_directory(parent) + "/sinter-XXXXXX") {
  wait_for_all_at_exit();
  add_alive(1);  // first, so that a program that ends right after the next call waits for this one
  if (::mkdtemp(path_.data()) != nullptr) return;
  const std::string problem = last_error();
  add_alive(-1);
  throw FileError(fmt::format("{}: the compiler needs a temporary directory (TMPDIR): {}",
                              temporary_directory(parent), problem));
}

HostDirectory::~HostDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  add_alive(-1);
}

}  // namespace sinter::jit
