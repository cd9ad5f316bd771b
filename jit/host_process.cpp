#include "jit/host_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <system_error>

#include "runtime/error.h"

namespace sinter::jit {
namespace {

constexpr off_t most_output = 1 << 20;

/// A file in memory that a program prints into: unlike a pipe it needs no reader meanwhile.
class OutputFile {
 public:
  OutputFile() {
    const int file = ::memfd_create("sinter-output", MFD_CLOEXEC);
    // Not one of the standard three, which the embedding program may have closed.
    file_ = file < 0 ? file : ::fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int error = errno;
    if (file >= 0) ::close(file);
    if (file_ < 0)
      throw FileError(fmt::format("no file for the output of the compiler: {}",
                                  std::generic_category().message(error)));
  }
  ~OutputFile() { ::close(file_); }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  int get() const { return file_; }

  std::string read() const {
    const off_t size = std::max<off_t>(::lseek(file_, 0, SEEK_END), 0);
    std::string text(static_cast<std::size_t>(std::min(size, most_output)), '\0');
    const ssize_t count =
        ::pread(file_, text.data(), text.size(), std::max(size - most_output, off_t{0}));
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return text;
  }

 private:
  int file_;
};

/// What posix_spawn is told beside the program.
class SpawnPlan {
 public:
  explicit SpawnPlan(int output) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
    ::posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    // A compiler driver waits for its own children, which it could not with SIGCHLD ignored.
    for (const int signal : {SIGCHLD, SIGPIPE, SIGINT, SIGTERM, SIGHUP})
      sigaddset(&signals, signal);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  int start(const HostProgram& program, pid_t& process) const {
    const std::vector<char*> words = pointers(program.words);
    const std::vector<char*> environment = pointers(program.environment);
    return ::posix_spawn(&process, words[0], &actions_, &attributes_, words.data(),
                         environment.data());
  }

 private:
  /// posix_spawn takes `char* const[]` and changes none of them.
  static std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
    list.push_back(nullptr);
    return list;
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// A running program; waited for when the scope ends, so that none is left behind.
class Running {
 public:
  explicit Running(const HostProgram& program) {
    outcome_.start_error = SpawnPlan(output_.get()).start(program, process_);
    if (outcome_.start_error != 0) process_ = -1;
  }
  ~Running() { wait(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  HostOutcome end() {
    wait();
    outcome_.output = output_.read();
    return outcome_;
  }

 private:
  void wait() {
    if (process_ < 0) return;
    int status = 0;
    pid_t ended = -1;
    do ended = ::waitpid(process_, &status, 0);
    while (ended < 0 && errno == EINTR);
    process_ = -1;
    if (ended < 0) outcome_.unknown = true;
    else if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
    else outcome_.exit_status = WEXITSTATUS(status);
  }

  OutputFile output_;
  pid_t process_ = -1;
  HostOutcome outcome_;
};

}  // namespace

std::string HostOutcome::problem() const {
  if (start_error != 0)
    return fmt::format("does not run: {}", std::generic_category().message(start_error));
  if (signal != 0) return fmt::format("was killed by signal {} ({})", signal, ::strsignal(signal));
  return fmt::format("ended with status {}", exit_status);
}

std::vector<HostOutcome> run_programs(std::span<const HostProgram> programs, int at_once) {
  const std::size_t most = static_cast<std::size_t>(std::max(at_once, 1));
  std::vector<std::unique_ptr<Running>> running;
  std::vector<HostOutcome> outcomes;
  for (const HostProgram& program : programs) {
    if (running.size() - outcomes.size() == most)
      outcomes.push_back(running[outcomes.size()]->end());
    running.push_back(std::make_unique<Running>(program));
  }
  while (outcomes.size() < running.size()) outcomes.push_back(running[outcomes.size()]->end());
  return outcomes;
}

}  // namespace sinter::jit
