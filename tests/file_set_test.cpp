#include "models/file_set.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "models/atomic_file.h"
#include "runtime/error.h"
#include "tests/temporary_directory.h"

namespace sinter::models {
namespace {

const char* const file_names[] = {"config.json", "model", "state"};

void replace_all(const std::filesystem::path& directory, const std::string& content) {
  FileSet files(directory);
  for (const char* name : file_names) {
    AtomicFile file(files.stage(name));
    file.write(content + name);
    file.commit();
  }
  files.commit();
}

/// The common content of the files, as a reader finds them; "mixed" if there is none.
std::string common_content(const std::filesystem::path& directory) {
  std::string common;
  for (const char* name : file_names) {
    std::string content = read_file(committed_path(directory, name));
    if (!content.ends_with(name)) return "cut";
    content.resize(content.size() - std::string(name).size());
    if (name != file_names[0] && content != common) return "mixed";
    common = content;
  }
  return common;
}

/// Runs `body` in a child that is killed before its system call number `calls`, counted from 1.
/// Returns whether the child was killed; false when it came to its end first.
bool killed_at_call(int calls, const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  // A call stops the child when it is entered and when it is left.
  for (int stops = 0; stops < 2 * calls - 1; ++stops) {
    REQUIRE(::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0);
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) return false;
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return true;
}

TEST_CASE("file set: files are replaced together and others stay") {
  const TemporaryDirectory directory;
  write_file(directory / "notes.txt", "mine");
  replace_all(directory.path(), "old ");
  CHECK(common_content(directory.path()) == "old ");
  replace_all(directory.path(), "new ");
  CHECK(common_content(directory.path()) == "new ");
  CHECK(read_file(directory / "notes.txt") == "mine");
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 4);
}

TEST_CASE("file set: a program killed at any system call leaves the old set or the new one") {
  int killed = 0, old_sets = 0;
  for (int call = 1;; ++call) {
    CAPTURE(call);
    const TemporaryDirectory directory;
    replace_all(directory.path(), "old ");
    if (!killed_at_call(call, [&] { replace_all(directory.path(), "new "); })) break;
    ++killed;
    const std::string found = common_content(directory.path());
    CHECK((found == "old " || found == "new "));
    old_sets += found == "old ";
    // The next program clears up, also when it only gets as far as this one.
    replace_all(directory.path(), "third ");
    CHECK(common_content(directory.path()) == "third ");
    CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 3);
  }
  CHECK(killed > 20);
  CHECK(old_sets > 10);
  CHECK(old_sets < killed);
}

TEST_CASE("file set: a reader of a first save that was cut finds nothing, not a part") {
  for (int call = 1;; ++call) {
    const TemporaryDirectory directory;
    if (!killed_at_call(call, [&] { replace_all(directory.path(), "new "); })) break;
    int present = 0;
    for (const char* name : file_names)
      present += std::filesystem::exists(committed_path(directory.path(), name));
    CAPTURE(call);
    CHECK((present == 0 || common_content(directory.path()) == "new "));
  }
}

TEST_CASE("file set: a full disk is an error and leaves the old set") {
  const TemporaryDirectory directory;
  replace_all(directory.path(), "old ");
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  for (rlim_t limit = 0; limit < 14; ++limit) {
    CAPTURE(limit);
    const rlimit small{limit, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    CHECK_THROWS_AS(replace_all(directory.path(), "new "), FileError);
    ::setrlimit(RLIMIT_FSIZE, &before);
    CHECK(common_content(directory.path()) == "old ");
  }
  ::signal(SIGXFSZ, handler);
  replace_all(directory.path(), "new ");
  CHECK(common_content(directory.path()) == "new ");
}

TEST_CASE("file set: bad directories, missing files and foreign journals are errors") {
  const TemporaryDirectory directory;
  write_file(directory / "file", "");
  CHECK_THROWS_AS(FileSet(directory / "file"), FileError);
  FileSet files(directory / "made" / "here");
  files.stage("model");
  CHECK_THROWS_AS(files.commit(), FileError);
  write_file(directory / "replace.journal", "../outside\n");
  CHECK_THROWS_AS(FileSet(directory.path()), FileError);
  CHECK_THROWS_AS(committed_path(directory.path(), "model"), FileError);
}

}  // namespace
}  // namespace sinter::models
