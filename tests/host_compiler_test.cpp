#include "jit/host_compiler.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "jit/host_process.h"
#include "jit/kernel_image.h"
#include "runtime/error.h"
#include "tests/forking.h"
#include "tests/temporary_directory.h"

namespace sinter::jit {
namespace {

/// A place where programs may run.
const std::filesystem::path programs_run_here = std::filesystem::temp_directory_path();

/// The options of a process whose temporary directory is `folder`.
Options options_in(const std::filesystem::path& folder) {
  Options options = read_options([](std::string_view name) -> std::optional<std::string> {
    if (name == "PATH") return sinter::options().surroundings.search_path;
    return std::nullopt;
  });
  options.surroundings.temporary = folder;
  return options;
}

std::string unit_of(int number) {
  return "extern \"C\" __attribute__((visibility(\"default\"))) void k" + std::to_string(number) +
         "(const void* p, long first, long last) { for (long i = first; i < last; ++i) "
         "static_cast<float*>(const_cast<void*>(p))[i] += " +
         std::to_string(number) + "; }\n";
}

std::vector<std::string> flags() { return compile_flags(cpu::instruction_set()); }

/// Writes a program of the shell.
void write_script(const std::filesystem::path& path, const std::string& text) {
  write_file(path, "#!/bin/sh\n" + text);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

bool works(const std::string& image, int number) {
  float values[4] = {1, 2, 3, 4};
  const KernelFunction kernel = KernelImage(image).find("k" + std::to_string(number));
  if (kernel == nullptr) return false;
  kernel(values, 1, 3);
  const float added = static_cast<float>(number);
  return values[0] == 1 && values[1] == 2 + added && values[2] == 3 + added && values[3] == 4;
}

/// Runs `body` in a forked process and returns its exit status, or minus the signal that killed it.
int in_child(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(250);
    bool good = false;
    try {
      good = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
    }
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

TEST_CASE("host compiler: units are compiled and linked, and nothing is left behind") {
  const TemporaryDirectory folder;
  const auto compiler = find_host_compiler(options_in(folder.path()));
  REQUIRE(compiler);
  CHECK(is_unchanged(*compiler));
  CHECK(compiler->identity.find("\ndigest ") != std::string::npos);
  const std::vector<std::string> units = {unit_of(1), unit_of(2), unit_of(3)};
  const std::string image = build_shared_object(*compiler, units, flags());
  for (const int number : {1, 2, 3}) CHECK(works(image, number));
  const bool found = KernelImage(image).find("k4") != nullptr;
  CHECK_FALSE(found);
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("host compiler: every instruction set that this machine has") {
  const TemporaryDirectory folder;
  const auto compiler = find_host_compiler(options_in(folder.path()));
  const std::string unit = unit_of(7);
  for (int set = 0; set <= static_cast<int>(cpu::processor().best); ++set) {
    const auto of_set = compile_flags(static_cast<cpu::InstructionSet>(set));
    CHECK(works(build_shared_object(*compiler, {&unit, 1}, of_set), 7));
    for (const char* flag : {"-O2", "-ffp-contract=off", "-fwrapv", "-fno-math-errno"})
      CHECK(std::count(of_set.begin(), of_set.end(), flag) == 1);
  }
}

TEST_CASE("host compiler: functions that the processor lacks come from libm and libgcc") {
  const TemporaryDirectory folder;
  const auto compiler = find_host_compiler(options_in(folder.path()));
  const std::string unit =
      "extern \"C\" __attribute__((visibility(\"default\"))) void k0(const void* p, long, long) {\n"
      "  float* x = static_cast<float*>(const_cast<void*>(p));\n"
      "  x[0] = __builtin_fmaf(x[0], x[1], x[2]);\n"
      "  const __int128 wide = static_cast<__int128>(1) << 100;\n"
      "  x[1] = static_cast<float>(wide / static_cast<long>(x[1]) >> 90);\n"
      "}\n";
  const std::string image =
      build_shared_object(*compiler, {&unit, 1}, compile_flags(cpu::InstructionSet::portable));
  float values[3] = {3, 4, 5};
  KernelImage(image).find("k0")(values, 0, 0);
  CHECK(values[0] == 17.0f);
  CHECK(values[1] == 256.0f);
}

TEST_CASE("host compiler: a unit that does not compile is kept, with what the compiler said") {
  const TemporaryDirectory folder;
  const auto compiler = find_host_compiler(options_in(folder.path()));
  const std::string bad = "int broken( { \"of course\"; }\n";
  const std::vector<std::string> units = {unit_of(1), bad};
  try {
    build_shared_object(*compiler, units, flags());
    FAIL("compiled");
  } catch (const CompileError& error) {
    CHECK(error.log().find("error") != std::string::npos);
    CHECK(std::string(error.what()).find(error.log()) != std::string::npos);
    CHECK(std::string(error.what()).find(error.source_path()) != std::string::npos);
    CHECK(error.source_path().starts_with(folder.path().string()));
    CHECK(read_file(error.source_path()) == bad);
  }
  CHECK(files_in(folder.path()) == 1);
  const std::string twice[] = {unit_of(1), unit_of(1)};
  CHECK_THROWS_WITH_AS(build_shared_object(*compiler, twice, flags()),
                       doctest::Contains("multiple definition"), CompileError);
}

TEST_CASE("host compiler: SINTER_CXX names one, by path or by name, that must run") {
  const TemporaryDirectory folder(programs_run_here);
  Options options = options_in(folder.path());
  options.compiler = "no-such-compiler";
  CHECK_THROWS_WITH_AS(find_host_compiler(options),
                       "SINTER_CXX: \"no-such-compiler\" is not a program on PATH", UsageError);
  options.compiler = folder / "absent";
  CHECK_THROWS_WITH_AS(find_host_compiler(options),
                       doctest::Contains("absent\" does not run: No such file"), UsageError);
  options.compiler = folder.path();
  CHECK_THROWS_WITH_AS(find_host_compiler(options),
                       doctest::Contains("\" does not run: Permission denied"), UsageError);
  options.compiler = "false";
  CHECK_THROWS_WITH_AS(find_host_compiler(options), "SINTER_CXX: \"false\" ended with status 1",
                       UsageError);
  write_script(folder / "mute", "exit 0\n");
  options.compiler = folder / "mute";
  CHECK_THROWS_WITH_AS(find_host_compiler(options),
                       doctest::Contains("mute\" does not tell its version"), UsageError);
  write_script(folder / "dies", "kill -9 $$\n");
  options.compiler = folder / "dies";
  CHECK_THROWS_WITH_AS(find_host_compiler(options),
                       doctest::Contains("was killed by signal 9 (Killed)"), UsageError);
  write_file(folder / "text", "no program");
  std::filesystem::permissions(folder / "text", std::filesystem::perms::owner_all);
  options.compiler = folder / "text";
  CHECK_THROWS_WITH_AS(find_host_compiler(options), doctest::Contains("Exec format error"),
                       UsageError);
  options.compiler = "c++";
  CHECK(find_host_compiler(options));
}

TEST_CASE("host compiler: the first of the usual names that runs, or none") {
  const TemporaryDirectory folder(programs_run_here);
  Options options = options_in(folder.path());
  options.surroundings.search_path = folder.path().string() + ":" + (folder / "absent").string();
  CHECK_FALSE(find_host_compiler(options));
  std::filesystem::create_directory(folder / "g++");
  CHECK_FALSE(find_host_compiler(options));
  write_script(folder / "clang++", "echo the third\n");
  CHECK(find_host_compiler(options)->path == folder / "clang++");
  write_script(folder / "c++", "exit 1\n");
  CHECK(find_host_compiler(options)->path == folder / "clang++");
  write_script(folder / "c++", "echo the first\n");
  CHECK(find_host_compiler(options)->path == folder / "c++");
}

TEST_CASE("host compiler: the identity tells every change, even with size and time restored") {
  const TemporaryDirectory folder(programs_run_here);
  Options options = options_in(folder.path());
  const std::filesystem::path script = folder / "cxx", link = folder / "link";
  write_script(script, "echo version 1\n# a\n");
  std::filesystem::create_symlink(script, link);
  options.compiler = link;
  const HostCompiler first = *find_host_compiler(options);
  const auto time = std::filesystem::last_write_time(script);
  CHECK(find_host_compiler(options)->identity == first.identity);
  CHECK(first.identity.find(script) != std::string::npos);

  write_script(script, "echo version 1\n# b\n");
  std::filesystem::last_write_time(script, time);
  const HostCompiler second = *find_host_compiler(options);
  CHECK(second.identity != first.identity);
  CHECK_FALSE(is_unchanged(first));
  CHECK(is_unchanged(second));

  std::filesystem::last_write_time(script, time + std::chrono::hours(1));
  CHECK(find_host_compiler(options)->identity != second.identity);
  write_file(folder / "told", "version 2");
  write_script(script, "cat " + (folder / "told").string() + "\n");
  const HostCompiler third = *find_host_compiler(options);
  write_file(folder / "told", "version 3");
  CHECK(find_host_compiler(options)->identity != third.identity);
  std::filesystem::copy_file(script, folder / "copy");
  std::filesystem::last_write_time(folder / "copy", std::filesystem::last_write_time(script));
  options.compiler = folder / "copy";
  CHECK(find_host_compiler(options)->identity != third.identity);
}

TEST_CASE("host compiler: a compiler that is killed, or makes nothing, is a CompileError") {
  const TemporaryDirectory folder(programs_run_here);
  Options options = options_in(folder.path());
  options.compiler = folder / "cxx";
  const std::string unit = unit_of(1);
  const std::string version = "[ \"$1\" = --version ] && echo 1 && exit\n";
  write_script(folder / "cxx", version + "kill -9 $$\n");
  CHECK_THROWS_WITH_AS(build_shared_object(*find_host_compiler(options), {&unit, 1}, flags()),
                       doctest::Contains("killed by signal 9"), CompileError);
  write_script(folder / "cxx", version + "echo all is well\n");
  CHECK_THROWS_WITH_AS(build_shared_object(*find_host_compiler(options), {&unit, 1}, flags()),
                       doctest::Contains("made no shared object"), CompileError);
  write_script(folder / "cxx", version + "echo 'no space left on device' >&2; exit 4\n");
  CHECK_THROWS_WITH_AS(build_shared_object(*find_host_compiler(options), {&unit, 1}, flags()),
                       doctest::Contains("ended with status 4; the source is kept in"),
                       CompileError);
}

TEST_CASE("host compiler: half a shared object, or another file in its place, is a CompileError") {
  const TemporaryDirectory folder(programs_run_here);
  Options options = options_in(folder.path());
  const std::string unit = unit_of(1);
  const std::string real = find_host_compiler(options)->path, last = "for last; do :; done\n";
  const std::string image = build_shared_object(*find_host_compiler(options), {&unit, 1}, flags());
  options.compiler = folder / "cxx";
  const auto damage = [&](const std::string& command) {
    write_script(folder / "cxx", real + " \"$@\" || exit\n" + last + "case $last in\n*.so) " +
                                     command + ";;\nesac\n");
    return *find_host_compiler(options);
  };
  for (std::size_t part = 0; part <= 8; ++part) {
    const std::string size = std::to_string(image.size() * part / 16);
    const HostCompiler compiler = damage("truncate -s " + size + " \"$last\"");
    CAPTURE(part);
    CHECK_THROWS_WITH_AS(build_shared_object(compiler, {&unit, 1}, flags()),
                         doctest::Contains("made no shared object"), CompileError);
  }
  CHECK_THROWS_AS(build_shared_object(damage("cp \"$0\" \"$last\""), {&unit, 1}, flags()),
                  CompileError);
  CHECK(works(build_shared_object(damage(":"), {&unit, 1}, flags()), 1));
}

TEST_CASE("host compiler: without a PATH, programs are where they usually are") {
  const TemporaryDirectory folder;
  Options options = options_in(folder.path());
  options.surroundings.search_path.clear();
  const std::string unit = unit_of(1);
  const std::optional<HostCompiler> compiler = find_host_compiler(options);
  bool is_there = false;
  for (const char* place : {"/usr/local/bin/", "/usr/bin/", "/bin/"})
    for (const char* name : {"c++", "g++", "clang++"})
      is_there = is_there || std::filesystem::exists(std::string(place) + name);
  REQUIRE(compiler.has_value() == is_there);
  if (compiler) CHECK(works(build_shared_object(*compiler, {&unit, 1}, flags()), 1));
}

TEST_CASE("host compiler: its environment holds what is given and nothing else") {
  const TemporaryDirectory folder(programs_run_here);
  Options options = options_in(folder.path());
  options.compiler = folder / "cxx";
  write_script(folder / "cxx", "echo \"$PATH|$CPATH|$LC_ALL|$HOME|${TMPDIR:+set}|$0\"; cat\n");
  ::setenv("CPATH", "elsewhere", 1);
  options.surroundings.home = "the home";
  const HostCompiler compiler = *find_host_compiler(options);
  ::unsetenv("CPATH");
  CHECK(compiler.identity.ends_with("\n" + options.surroundings.search_path + "||C|the home|set|" +
                                    options.compiler + "\n"));
}

TEST_CASE("host compiler: a temporary directory that is missing or full is a clear error") {
  const TemporaryDirectory folder;
  Options options = options_in(folder / "absent");
  const HostCompiler compiler = *find_host_compiler(options);
  const std::string unit = unit_of(1);
  CHECK_THROWS_WITH_AS(build_shared_object(compiler, {&unit, 1}, flags()),
                       doctest::Contains("absent: the compiler needs a temporary directory "
                                         "(TMPDIR): No such file or directory"),
                       FileError);
  const HostCompiler good = *find_host_compiler(options_in(folder.path()));
  const std::string large = "//" + std::string(1 << 16, 'x') + "\n" + unit;
  // A limit on the size of files stands for a full disk: writing fails the same way.
  CHECK(in_child([&] {
          std::signal(SIGXFSZ, SIG_IGN);
          const rlimit limit{4096, 4096};
          ::setrlimit(RLIMIT_FSIZE, &limit);
          try {
            build_shared_object(good, {&large, 1}, flags());
          } catch (const FileError& error) {
            return std::string(error.what()).find("unit0.cpp: cannot be written") !=
                   std::string::npos;
          }
          return false;
        }) == 0);
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("host compiler: signals that the program ignores or blocks do not matter") {
  const TemporaryDirectory folder;
  const HostCompiler compiler = *find_host_compiler(options_in(folder.path()));
  const std::string unit = unit_of(5);
  CHECK(in_child([&] {
          std::signal(SIGCHLD, SIG_IGN);
          std::signal(SIGPIPE, SIG_IGN);
          sigset_t all;
          sigfillset(&all);
          ::sigprocmask(SIG_BLOCK, &all, nullptr);
          ::close(STDIN_FILENO);
          ::close(STDOUT_FILENO);
          return works(build_shared_object(compiler, {&unit, 1}, flags()), 5);
        }) == 0);
  // A program that waits for all its children takes the status of ours.
  CHECK(in_child([&] {
          std::signal(SIGCHLD, [](int) {
            const int error = errno;
            while (::waitpid(-1, nullptr, WNOHANG) > 0) {
            }
            errno = error;
          });
          return works(build_shared_object(compiler, {&unit, 1}, flags()), 5);
        }) == 0);
}

TEST_CASE("host compiler: a program may fork while a thread compiles" *
          doctest::skip(tests::child_has_no_threads || tests::child_has_no_allocator)) {
  const TemporaryDirectory folder;
  const HostCompiler compiler = *find_host_compiler(options_in(folder.path()));
  const std::string units[] = {unit_of(5), unit_of(6)};
  std::thread busy([&] { build_shared_object(compiler, units, flags()); });
  CHECK(in_child([&] { return works(build_shared_object(compiler, units, flags()), 6); }) == 0);
  busy.join();
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("host process: as many at once as asked, output of each apart") {
  std::vector<HostProgram> programs;
  for (int i = 0; i < 7; ++i)
    programs.push_back({{"/bin/sh", "-c", "echo $0; echo $X >&2; exit $0", std::to_string(i)},
                        {"X=" + std::to_string(10 * i)}});
  for (const int at_once : {1, 3, 100}) {
    const std::vector<HostOutcome> outcomes = run_programs(programs, at_once);
    REQUIRE(outcomes.size() == 7);
    for (int i = 0; i < 7; ++i) {
      const HostOutcome& outcome = outcomes[static_cast<std::size_t>(i)];
      CHECK(outcome.exit_status == i);
      CHECK(outcome.failed() == (i != 0));
      CHECK(outcome.output == std::to_string(i) + "\n" + std::to_string(10 * i) + "\n");
    }
  }
}

}  // namespace
}  // namespace sinter::jit
