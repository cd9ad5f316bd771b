// The disk cache under damage and under many processes: each look is a new process.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "jit/host_process.h"
#include "runtime/options.h"
#include "tests/forking.h"
#include "tests/temporary_directory.h"

namespace sinter::jit {
namespace {

/// The numbers that kernel_loader prints, and what else it said.
struct Loaded {
  bool right = false;
  std::string counts;  ///< `process=0 disk=2 misses=0 refused=0 compiles=0`
  std::string output;

  std::ptrdiff_t warnings() const {
    std::ptrdiff_t found = 0;
    for (std::size_t at = 0; (at = output.find("sinter [warning]", at)) != std::string::npos; ++at)
      ++found;
    return found;
  }
};

std::filesystem::path build_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

/// A place for a cache and for temporary files, where another user may work too.
class Place {
 public:
  Place() {
    std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
    std::filesystem::create_directory(folder_ / "tmp");
    std::filesystem::permissions(folder_ / "tmp", std::filesystem::perms::all);
  }
  ~Place() {
    std::error_code ignored;  // what a test has locked
    for (const auto& item : std::filesystem::recursive_directory_iterator(folder_.path(), ignored))
      if (item.is_directory(ignored))
        std::filesystem::permissions(item.path(), std::filesystem::perms::owner_all, ignored);
  }

  std::filesystem::path cache() const { return folder_ / "cache"; }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

  HostProgram loader(std::vector<std::string> words) const {
    words.insert(words.begin(), build_folder() / "tests/kernel_loader");
    return {std::move(words),
            {"PATH=" + options().surroundings.search_path, "TMPDIR=" + (folder_ / "tmp").string(),
             "SINTER_CACHE=" + cache().string(), "TSAN_OPTIONS=die_after_fork=0"}};
  }

 private:
  TemporaryDirectory folder_;
};

Loaded read_outcome(const HostOutcome& outcome) {
  Loaded loaded;
  loaded.output = outcome.output;
  loaded.right = !outcome.failed() && outcome.output.find("right ") != std::string::npos;
  const std::size_t start = outcome.output.find("process=");
  if (start != std::string::npos)
    loaded.counts = outcome.output.substr(start, outcome.output.find('\n', start) - start);
  return loaded;
}

Loaded run(const HostProgram& program) {
  return read_outcome(run_programs({&program, 1}, 1).front());
}

/// Root may do everything, so the tests of permissions run as another user then.
std::vector<std::string> as_user(std::vector<std::string> words) {
  if (::geteuid() == 0) words.push_back("user=65534");
  return words;
}

const std::vector<std::string> two_kernels = {"1", "2"};
constexpr const char* all_found = "process=0 disk=2 misses=0 refused=0 compiles=0";
constexpr const char* none_found = "process=0 disk=0 misses=2 refused=0 compiles=1";

std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const char* part : {"batches", "kernels"})
    for (const auto& item : std::filesystem::directory_iterator(folder / part))
      files.push_back(item.path());
  std::sort(files.begin(), files.end());
  return files;
}

TEST_CASE("kernel cache: a second process finds what the first compiled") {
  const Place place;
  const Loaded cold = run(place.loader(two_kernels));
  INFO(cold.output);
  CHECK(cold.right);
  CHECK(cold.counts == none_found);
  CHECK(cold.warnings() == 0);
  const Loaded warm = run(place.loader(two_kernels));
  CHECK(warm.right);
  CHECK(warm.counts == all_found);
  CHECK(std::filesystem::is_empty(place / "tmp"));
}

TEST_CASE("kernel cache: every damage to every file is one warning, and right results") {
  using Damage = std::function<void(const std::filesystem::path&)>;
  const auto in_folder = [](const std::filesystem::path& path) {
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
  };
  const std::vector<std::pair<const char*, Damage>> damages = {
      {"cut to nothing", [](const auto& path) { write_file(path, ""); }},
      {"cut in half",
       [](const auto& path) {
         const std::string bytes = read_file(path);
         write_file(path, bytes.substr(0, bytes.size() / 2));
       }},
      {"one byte flipped",
       [](const auto& path) {
         std::string bytes = read_file(path);
         bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x20);
         write_file(path, bytes);
       }},
      {"a directory in its place", in_folder},
      {"a pipe in its place",
       [](const auto& path) {
         std::filesystem::remove(path);
         ::mkfifo(path.c_str(), 0600);
       }},
      {"a link to elsewhere",
       [](const auto& path) {
         std::filesystem::remove(path);
         std::filesystem::create_symlink("/etc/passwd", path);
       }},
      {"a file in its place", [](const auto& path) { write_file(path, "other"); }},
  };
  const Place place;
  REQUIRE(run(place.loader(two_kernels)).right);
  const std::size_t count = files_of(place.cache()).size();
  REQUIRE(count == 3);
  for (const auto& [name, damage] : damages)
    for (std::size_t i = 0; i < count; ++i) {
      const std::filesystem::path file = files_of(place.cache())[i];
      CAPTURE(name);
      CAPTURE(file);
      damage(file);
      const Loaded hurt = run(place.loader(two_kernels));
      CAPTURE(hurt.output);
      CHECK(hurt.right);
      CHECK(hurt.warnings() == 1);
      CHECK(hurt.output.find(file.filename()) != std::string::npos);
      const Loaded healed = run(place.loader(two_kernels));
      CHECK(healed.right);
      CHECK(healed.counts == all_found);
      CHECK(healed.warnings() == 0);
      if (files_of(place.cache()).size() != count) {  // a batch for one of them alone
        std::filesystem::remove_all(place.cache());
        REQUIRE(run(place.loader(two_kernels)).right);
      }
    }
}

TEST_CASE("kernel cache: files and directories that may not be read") {
  const Place place;
  const auto words = as_user(two_kernels);
  REQUIRE(run(place.loader(words)).right);
  for (const auto& file : files_of(place.cache())) {
    if (std::filesystem::is_symlink(file)) continue;
    std::filesystem::permissions(file, std::filesystem::perms::none);
    const Loaded hurt = run(place.loader(words));
    CHECK(hurt.right);
    CHECK(hurt.warnings() == 1);
    CHECK(hurt.output.find("cannot be opened: Permission denied") != std::string::npos);
    CHECK(run(place.loader(words)).counts == all_found);
  }
  for (const char* part : {"", "batches", "kernels"}) {
    std::filesystem::permissions(place.cache() / part, std::filesystem::perms::none);
    const Loaded hurt = run(place.loader(words));
    CHECK(hurt.right);
    CHECK(hurt.warnings() == 1);
    std::filesystem::permissions(place.cache() / part, std::filesystem::perms::owner_all);
    CHECK(run(place.loader(words)).counts == all_found);
  }
}

TEST_CASE("kernel cache: a cache that may only be read still serves") {
  const Place place;
  const auto words = as_user(two_kernels), more = as_user({"1", "3"});
  REQUIRE(run(place.loader(words)).right);
  const auto readable = std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec;
  for (const char* part : {"batches", "kernels", ""})
    std::filesystem::permissions(place.cache() / part, readable);
  const Loaded warm = run(place.loader(words));
  CHECK(warm.counts == all_found);
  CHECK(warm.warnings() == 0);
  const Loaded partly = run(place.loader(more));
  CHECK(partly.right);
  CHECK(partly.counts == "process=0 disk=2 misses=1 refused=0 compiles=1");
  CHECK(partly.warnings() == 1);
  CHECK(partly.output.find("cannot be written: Permission denied") != std::string::npos);
}

TEST_CASE("kernel cache: a full disk is one warning, and nothing is left on it") {
  for (const char* fault : {"fail=write", "fail=fsync", "fail=rename"}) {
    const Place place;
    const Loaded loaded = run(place.loader({"1", "2", fault}));
    CAPTURE(fault);
    CHECK(loaded.right);
    CHECK(loaded.counts == none_found);
    CHECK(loaded.warnings() == 1);
    CHECK(loaded.output.find("cannot be written: ") != std::string::npos);
    CHECK(files_of(place.cache()).empty());
  }
}

TEST_CASE("kernel cache: a directory of others, or that others may write to, is refused") {
  const Place place;
  REQUIRE(run(place.loader(two_kernels)).right);
  for (const auto extra :
       {std::filesystem::perms::group_write, std::filesystem::perms::others_write}) {
    std::filesystem::permissions(place.cache(), std::filesystem::perms::owner_all | extra);
    const Loaded refused = run(place.loader(two_kernels));
    CHECK(refused.right);
    CHECK(refused.counts == none_found);
    CHECK(refused.warnings() == 1);
    CHECK(refused.output.find("may be written by others") != std::string::npos);
  }
  std::filesystem::permissions(place.cache(), std::filesystem::perms::owner_all);
  if (::geteuid() != 0) return;
  REQUIRE(::chown(place.cache().c_str(), 65533, 65533) == 0);
  const Loaded refused = run(place.loader(two_kernels));
  CHECK(refused.right);
  CHECK(refused.warnings() == 1);
  CHECK(refused.output.find("belongs to user 65533, not to 0") != std::string::npos);
}

TEST_CASE("kernel cache: without a home, or with one that is no directory") {
  const Place place;
  HostProgram program = place.loader(two_kernels);
  program.environment.pop_back();
  std::erase_if(program.environment,
                [](const std::string& entry) { return entry.starts_with("SINTER_CACHE="); });
  const Loaded homeless = run(program);
  CHECK(homeless.right);
  CHECK(homeless.warnings() == 1);
  CHECK(
      homeless.output.find("neither SINTER_CACHE nor XDG_CACHE_HOME nor HOME names a directory") !=
      std::string::npos);
  write_file(place / "file", "");
  program.environment.push_back("HOME=" + (place / "file").string());
  const Loaded wrong = run(program);
  CHECK(wrong.right);
  CHECK(wrong.warnings() == 1);
  program.environment.back() = "HOME=" + (place / "home").string();
  CHECK(run(program).counts == none_found);
  CHECK(run(program).counts == all_found);
  CHECK(std::filesystem::exists(place / "home/.cache/sinter/batches"));
  program.environment.push_back("SINTER_CACHE=off");
  CHECK(run(program).counts == none_found);
}

TEST_CASE("kernel cache: many processes at once on one directory, and a small budget") {
  const Place place;
  std::vector<HostProgram> programs;
  for (int i = 0; i < 12; ++i) {
    HostProgram& program = programs.emplace_back(
        place.loader({fmt::to_string(1 + i % 3), "3", i % 4 == 0 ? "threads=3" : "threads=1"}));
    if (i % 3 == 0) program.environment.push_back("SINTER_CACHE_SIZE=40K");
  }
  for (const HostOutcome& outcome : run_programs(programs, 12)) {
    const Loaded loaded = read_outcome(outcome);
    INFO(loaded.output);
    CHECK(loaded.right);
    CHECK(loaded.warnings() == 0);
  }
  const Loaded last = run(place.loader({"1", "5"}));
  CHECK(last.right);
  CHECK(last.warnings() == 0);
  for (const auto& file : files_of(place.cache()))
    CHECK(file.filename().string().find("tmp-") == std::string::npos);
}

TEST_CASE("kernel cache: a process forks while its threads compile" *
          doctest::skip(tests::child_has_no_threads || tests::child_has_no_allocator)) {
  const Place place;
  for (const char* cache : {"SINTER_CACHE_SIZE=1G", "SINTER_CACHE=off"}) {
    HostProgram program = place.loader({"1", "4", "threads=4", "fork"});
    program.environment.push_back(cache);
    const Loaded loaded = run(program);
    INFO(loaded.output);
    CHECK(loaded.right);
  }
  CHECK(std::filesystem::is_empty(place / "tmp"));
}

TEST_CASE("kernel cache: a process that ends while it compiles leaves nothing in the way") {
  const Place place;
  const HostProgram program = place.loader({"1", "2", "exit"});
  CHECK_FALSE(run_programs({&program, 1}, 1).front().failed());
  CHECK(std::filesystem::is_empty(place / "tmp"));
  CHECK(run(place.loader({"1", "2"})).right);
}

TEST_CASE("sinter-cache: lists, verifies and prunes") {
  const Place place;
  const auto tool = [&](std::vector<std::string> words) {
    HostProgram program = place.loader({});
    words.insert(words.begin(), build_folder() / "tools/sinter-cache");
    program.words = std::move(words);
    return run_programs({&program, 1}, 1).front();
  };
  CHECK(tool({"list"}).output.find("there is no cache") != std::string::npos);
  REQUIRE(run(place.loader(two_kernels)).right);
  REQUIRE(run(place.loader({"7", "1"})).right);
  const HostOutcome listed = tool({"list"});
  CHECK(listed.exit_status == 0);
  for (const char* text : {"  sinter_add_1_", "  sinter_add_7_", ": 3 kernels in 2 batches, ",
                           " made ", " used ", "c++"})
    CHECK(listed.output.find(text) != std::string::npos);
  CHECK(tool({"verify"}).exit_status == 0);
  const auto batch = files_of(place.cache()).front();
  write_file(batch, read_file(batch) + "x");
  const HostOutcome verified = tool({"verify"});
  CHECK(verified.exit_status == 1);
  CHECK(verified.output.find(batch.string() + " has a wrong checksum") != std::string::npos);
  CHECK(verified.output.find("2 batches, 1 broken") != std::string::npos);
  CHECK(tool({"list"}).output.find("broken: has a wrong checksum") != std::string::npos);
  const auto huge = batch.parent_path() / std::string(32, 'a');
  write_file(huge, "");
  std::filesystem::resize_file(huge,
                               std::uintmax_t{60} << 30);  // takes no room, but is not to be read
  CHECK(tool({"verify"}).output.find("is no file of a batch") != std::string::npos);
  CHECK(tool({"list"}).output.find("broken: is no file of a batch") != std::string::npos);
  std::filesystem::remove(huge);
  CHECK(tool({"prune"}).output.find("removed 0 batches") != std::string::npos);
  CHECK(tool({"prune", "--to", "16K"}).output.find("removed 1 batches") != std::string::npos);
  CHECK(tool({"prune", "--all"}).output.find("removed 1 batches") != std::string::npos);
  CHECK(files_of(place.cache()).empty());
  for (const auto& [words, problem] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "what should be done?"},
           {{"remove"}, "no command \"remove\""},
           {{"list", "--all"}, "list takes no \"--all\""},
           {{"prune", "--to"}, "--to: \"\" is no size"},
           {{"prune", "--to", "12Q"}, "--to: \"12Q\" is no size"}}) {
    const HostOutcome wrong = tool(words);
    CHECK(wrong.exit_status == 2);
    CHECK(wrong.output.find(problem) != std::string::npos);
  }
  CHECK(tool({"--help"}).exit_status == 0);
}

}  // namespace
}  // namespace sinter::jit
