#include "jit/kernel_cache.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "jit/kernel_directory.h"
#include "jit/kernel_key.h"
#include "runtime/error.h"
#include "tests/log_recorder.h"
#include "tests/temporary_directory.h"
#include "tests/test_kernels.h"

namespace sinter::jit {
namespace {

/// The options of a process with its cache and its temporary files in `folder`.
Options options_in(const TemporaryDirectory& folder) {
  Options options;
  options.surroundings.search_path = sinter::options().surroundings.search_path;
  options.cache_directory = folder / "cache";
  options.surroundings.temporary = folder.path();
  return options;
}

/// Collects the records of the channel `cache`, warnings apart.
class CacheLog {
 public:
  CacheLog() { set_logs("cache"); }

  std::vector<std::string> records() const { return recorder_.texts(LogChannel::cache); }
  std::vector<std::string> warnings() const { return recorder_.texts(LogChannel::warning); }
  std::ptrdiff_t count(std::string_view text) const {
    const std::vector<std::string> all = records();
    return std::count_if(all.begin(), all.end(), [&](const std::string& record) {
      return record.find(text) != std::string::npos;
    });
  }

 private:
  tests::LogRecorder recorder_;
};

std::vector<std::filesystem::path> entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  if (std::filesystem::exists(folder))
    for (const auto& item : std::filesystem::directory_iterator(folder))
      found.push_back(item.path());
  std::sort(found.begin(), found.end());
  return found;
}

TEST_CASE("kernel cache: the process, then the disk, then the compiler") {
  const TemporaryDirectory folder;
  CacheLog log;
  KernelCache first(options_in(folder));
  CHECK(load_and_try(first, 1, 3));
  CHECK(first.statistics().misses == 3);
  CHECK(first.statistics().compiles == 1);
  CHECK(first.statistics().compile_milliseconds > 0);
  CHECK(log.count("miss: kernel=sinter_add_") == 3);
  CHECK(log.count("reason=not on disk") == 3);
  CHECK(log.count("compiled: kernels=3") == 1);
  CHECK(load_and_try(first, 2, 2));
  CHECK(first.statistics().process_hits == 2);
  CHECK(log.count("where=in the process") == 2);

  KernelCache second(options_in(folder));
  CHECK(load_and_try(second, 2, 3));  // two from disk, one new
  CHECK(second.statistics().disk_hits == 2);
  CHECK(second.statistics().misses == 1);
  CHECK(log.count("where=on disk") == 2);
  KernelCache third(options_in(folder));
  CHECK(load_and_try(third, 1, 4));
  CHECK(third.statistics().disk_hits == 4);
  CHECK(third.statistics().compiles == 0);
  CHECK(entries(folder / "cache/batches").size() == 2);
  CHECK(entries(folder / "cache/kernels").size() == 4);
  CHECK(entries(folder.path()).size() == 1);
  CHECK(log.warnings().empty());
}

TEST_CASE("kernel cache: only its user may enter the directory") {
  const TemporaryDirectory folder;
  const mode_t before = ::umask(0);
  KernelCache cache(options_in(folder));
  CHECK(load_and_try(cache, 1, 1));
  ::umask(before);
  for (const char* name : {"cache", "cache/batches", "cache/kernels"})
    CHECK(std::filesystem::status(folder / name).permissions() ==
          std::filesystem::perms::owner_all);
  for (const auto& batch : entries(folder / "cache/batches"))
    CHECK(std::filesystem::status(batch).permissions() ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

TEST_CASE("kernel cache: where it is") {
  Options options;
  std::string problem;
  CHECK_FALSE(cache_directory(options, problem));
  CHECK(problem == "neither SINTER_CACHE nor XDG_CACHE_HOME nor HOME names a directory");
  options.surroundings.home = "/somebody";
  CHECK(cache_directory(options, problem) == "/somebody/.cache/sinter");
  options.surroundings.cache_home = "relative";  // which the XDG specification says to ignore
  CHECK(cache_directory(options, problem) == "/somebody/.cache/sinter");
  options.surroundings.cache_home = "/caches";
  CHECK(cache_directory(options, problem) == "/caches/sinter");
  options.cache_directory = "here";
  CHECK(cache_directory(options, problem) == "here");
}

TEST_CASE("kernel cache: one text is one kernel, whatever it is called") {
  const TemporaryDirectory folder;
  KernelCache cache(options_in(folder));
  KernelSource same = kernel_adding(1);
  same.name_hint = "another name";
  const std::vector<KernelSource> sources = {kernel_adding(1), kernel_adding(2), same,
                                             kernel_adding(1)};
  const auto functions = cache.load(sources, test_prelude, "strict");
  REQUIRE(functions);
  CHECK(cache.statistics().misses == 2);
  const bool same_function =
      (*functions)[0] == (*functions)[2] && (*functions)[0] == (*functions)[3];
  CHECK(same_function);
  CHECK(adds((*functions)[1], 2));
  CHECK(cache.load({}, test_prelude, "strict")->empty());
}

TEST_CASE("kernel cache: prelude, precision and instruction set make other kernels") {
  const TemporaryDirectory folder;
  CacheLog log;
  const auto load = [&](const std::string& prelude, const char* precision) {
    KernelCache cache(options_in(folder));
    const KernelSource source = kernel_adding(1);
    const bool right = adds(cache.load({&source, 1}, prelude, precision)->front(), 1);
    CHECK(right);
    return cache.statistics().misses;
  };
  CHECK(load(test_prelude, "strict") == 1);
  CHECK(load(test_prelude, "relaxed") == 1);
  CHECK(load(std::string(test_prelude) + "\n", "strict") == 1);
  const cpu::InstructionSet set = cpu::instruction_set();
  if (set != cpu::InstructionSet::portable) {
    cpu::set_instruction_set(cpu::InstructionSet::portable);
    CHECK(load(test_prelude, "strict") == 1);
    CHECK(load(test_prelude, "strict") == 0);
    cpu::set_instruction_set(set);
  }
  CHECK(load(test_prelude, "strict") == 0);
  std::set<std::string> symbols;
  for (const std::string& record : log.records())
    if (record.find("miss: kernel=") != std::string::npos) symbols.insert(record);
  CHECK(static_cast<std::ptrdiff_t>(symbols.size()) == log.count("miss: "));
}

TEST_CASE("kernel cache: another compiler makes other kernels, even in the same process") {
  const TemporaryDirectory folder(std::filesystem::temp_directory_path());
  Options options = options_in(folder);
  options.compiler = folder / "cxx";
  const auto write_compiler = [&](const std::string& comment) {
    write_file(options.compiler, "#!/bin/sh\n# " + comment + "\nexec c++ \"$@\"\n");
    std::filesystem::permissions(options.compiler, std::filesystem::perms::owner_all);
  };
  write_compiler("1");
  const auto time = std::filesystem::last_write_time(options.compiler);
  KernelCache cache(options);
  CHECK(load_and_try(cache, 1, 1));
  CHECK(load_and_try(cache, 1, 1));
  CHECK(cache.statistics().misses == 1);
  write_compiler("2");
  std::filesystem::last_write_time(options.compiler, time);
  CHECK(load_and_try(cache, 1, 1));
  CHECK(cache.statistics().misses == 2);
}

TEST_CASE("kernel cache: off, or with no compiler") {
  const TemporaryDirectory folder;
  Options options = options_in(folder);
  options.disk_cache = false;
  for (int round = 0; round < 2; ++round) {
    CacheLog log;
    KernelCache cache(options);
    CHECK(load_and_try(cache, 1, 1));
    CHECK(cache.statistics().misses == 1);
    CHECK(log.count("reason=SINTER_CACHE is off") == 1);
    CHECK(log.warnings().empty());
  }
  CHECK(entries(folder.path()).empty());
  CacheLog log;
  options.surroundings.search_path = folder.path();
  KernelCache cache(options);
  for (int round = 0; round < 2; ++round)
    CHECK_FALSE(cache.load(kernels_adding(1, 1), test_prelude, "strict"));
  REQUIRE(log.warnings().size() == 1);
  CHECK(log.warnings()[0].find("no C++ compiler on PATH") != std::string::npos);
  options.compiler = "no-such-compiler";
  KernelCache wrong(options);
  for (int round = 0; round < 2; ++round)
    CHECK_THROWS_AS(wrong.load(kernels_adding(1, 1), test_prelude, "strict"), UsageError);
}

TEST_CASE("kernel cache: what does not compile is an error for each who asks, and is not kept") {
  const TemporaryDirectory folder;
  KernelCache cache(options_in(folder));
  std::vector<KernelSource> sources = {kernel_adding(1), {"bad", "not C++\n"}};
  for (int round = 0; round < 2; ++round)
    CHECK_THROWS_AS(cache.load(sources, test_prelude, "strict"), CompileError);
  CHECK(entries(folder / "cache/batches").empty());
  CHECK(load_and_try(cache, 1, 1));
  sources[1].body = "static void unnamed() {}\n";
  CHECK_THROWS_AS(cache.load(sources, test_prelude, "strict"), InternalError);
  sources[1].body =
      "void absent(); extern \"C\" void SINTER_KERNEL_NAME(const void*, long, long) "
      "{ absent(); }\n";
  CHECK_THROWS_WITH_AS(cache.load(sources, test_prelude, "strict"),
                       doctest::Contains("cannot be loaded"), FileError);
}

TEST_CASE("kernel cache: threads that want the same kernels compile them once") {
  const TemporaryDirectory folder;
  KernelCache cache(options_in(folder));
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { good += load_and_try(cache, 1, 4); });
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 8);
  CHECK(cache.statistics().misses == 4);
  CHECK(cache.statistics().process_hits == 28);
  threads.clear();
  for (int i = 0; i < 8; ++i)  // each its own, and one more that two of them share
    threads.emplace_back([&, i] { good += load_and_try(cache, 10 + i, 2); });
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 16);
  CHECK(cache.statistics().misses == 4 + 9);
}

TEST_CASE("kernel cache: what was unused longest makes room") {
  const TemporaryDirectory folder;
  Options options = options_in(folder);
  std::vector<std::uint64_t> sizes;
  for (int i = 1; i <= 3; ++i) {
    KernelCache cache(options);
    CHECK(load_and_try(cache, i, 1));
    std::string problem;
    const auto directory = open_directory(options.cache_directory, false, problem);
    REQUIRE(directory);
    const auto batches = list_batches(*directory);
    REQUIRE(batches.size() == static_cast<std::size_t>(i));
    sizes.push_back(batches.back().bytes);
    ::usleep(20'000);  // the clock of files ticks every few milliseconds
  }
  KernelCache user(options);
  CHECK(load_and_try(user, 1, 1));  // so that number 2 is the one unused longest
  CHECK(user.statistics().disk_hits == 1);
  ::usleep(20'000);
  options.cache_bytes = 3 * *std::max_element(sizes.begin(), sizes.end());
  CacheLog log;
  KernelCache cache(options);
  CHECK(load_and_try(cache, 4, 1));
  CHECK(log.count("evicted") == 1);
  CHECK(entries(folder / "cache/batches").size() == 3);
  CHECK(entries(folder / "cache/kernels").size() == 3);
  KernelCache after(options);
  for (const int number : {1, 3, 4}) CHECK(load_and_try(after, number, 1));
  CHECK(after.statistics().disk_hits == 3);
  CHECK(load_and_try(after, 2, 1));
  CHECK(after.statistics().misses == 1);
}

TEST_CASE("kernel cache: a batch larger than the budget is not kept") {
  const TemporaryDirectory folder;
  Options options = options_in(folder);
  options.cache_bytes = 1000;
  CacheLog log;
  KernelCache cache(options);
  CHECK(load_and_try(cache, 1, 1));
  CHECK(log.count("is larger than SINTER_CACHE_SIZE") == 1);
  CHECK(entries(folder / "cache/batches").empty());
}

TEST_CASE("kernel cache: what a writer left behind goes after an hour") {
  const TemporaryDirectory folder;
  KernelCache cache(options_in(folder));
  CHECK(load_and_try(cache, 1, 1));
  write_file(folder / "cache/batches/tmp-1-0", "half");
  write_file(folder / "cache/batches/tmp-1-1", "being written");
  std::filesystem::last_write_time(
      folder / "cache/batches/tmp-1-0",
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  std::filesystem::create_symlink("../batches/gone", folder / "cache/kernels/dangling");
  std::string problem;
  const auto directory = open_directory(folder / "cache", false, problem);
  CHECK(list_batches(*directory).size() == 1);
  CHECK(evict(*directory, std::uint64_t{1} << 30).empty());
  CHECK(entries(folder / "cache/batches").size() == 2);
  CHECK(evict(*directory, 0).size() == 1);
  CHECK(entries(folder / "cache/kernels").empty());
}

TEST_CASE("kernel cache: nothing in it depends on the process") {
  const TemporaryDirectory one, two;
  std::vector<std::string> contents[2];
  for (const TemporaryDirectory* folder : {&one, &two}) {
    KernelCache cache(options_in(*folder));
    CHECK(load_and_try(cache, 1, 2));
    for (const auto& batch : entries(*folder / "cache/batches")) {
      std::string problem;
      const auto file = decode(read_file(batch), problem);
      REQUIRE(file);
      for (const char* name : {"version", "abi", "cpu", "features", "precision", "compiler",
                               "compile_flags", "link_flags", "prelude"})
        CHECK_FALSE(ingredient(file->ingredients, name).value_or("").empty());
      contents[folder == &two].push_back(batch.filename().string() + file->ingredients +
                                         file->kernels.front().symbol + file->image);
    }
    for (const auto& link : entries(*folder / "cache/kernels"))
      contents[folder == &two].push_back(link.filename());
  }
  CHECK(contents[0] == contents[1]);
}

}  // namespace
}  // namespace sinter::jit
