#include "fuzz/isolated.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "runtime/error.h"

namespace sinter::fuzz {
namespace {

constexpr unsigned most_seconds = 300;

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) return;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t count = ::read(file, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
}

/// Never returns.
void run_child(int file, const std::function<std::optional<std::string>()>& check) {
  // What a test program has said about crashes is about its own.
  for (const int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTERM})
    std::signal(signal, SIG_DFL);
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::alarm(most_seconds);
  std::string text;
  try {
    text = check().value_or("");
  } catch (const std::exception& error) {
    text = fmt::format("threw: {}", error.what());
  }
  write_all(file, text);
  ::_exit(0);
}

}  // namespace

std::optional<std::string> isolated(const std::function<std::optional<std::string>()>& check) {
  std::array<int, 2> pipe;
  std::fflush(nullptr);
  // A compiler that the child has started must not keep the pipe open when the child is ended.
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw Error("no pipe to a child process");
  const pid_t child = ::fork();
  if (child < 0) throw Error("no child process");
  if (child == 0) run_child(pipe[1], check);
  ::close(pipe[1]);
  const std::string text = read_all(pipe[0]);
  ::close(pipe[0]);
  siginfo_t ended;
  while (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
    continue;
  // What the child has started. Its number is nobody else's until it is waited for.
  ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status)) return fmt::format("crashed: signal {}", WTERMSIG(status));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return "crashed: ended by itself";
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace sinter::fuzz
