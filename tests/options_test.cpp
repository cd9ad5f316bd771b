#include "runtime/options.h"

#include <doctest/doctest.h>

#include <map>

#include "runtime/error.h"

namespace sinter {
namespace {

Options read(std::map<std::string, std::string, std::less<>> variables) {
  return read_options([&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

TEST_CASE("options: an empty environment gives the defaults") {
  const Options options = read({{"SINTER_LEVEL", ""}, {"SINTER_LEVELS", "interpret"}});
  CHECK(options.level == Level::fused);
  CHECK(options.threads == 0);
  CHECK(options.cpu == CpuPath::automatic);
  CHECK(options.logs == LogChannels{});
  CHECK_FALSE(options.check_nan);
  CHECK_FALSE(options.shadow);
  CHECK(options.cuda_path.empty());
}

TEST_CASE("options: each variable is read") {
  const Options options = read({{"SINTER_LEVEL", "interpret"},
                                {"SINTER_THREADS", "3"},
                                {"SINTER_CPU", "avx2"},
                                {"SINTER_LOGS", "plan,cache"},
                                {"SINTER_CXX", "clang++"},
                                {"SINTER_CACHE", "kernels"},
                                {"SINTER_CACHE_SIZE", "64M"},
                                {"SINTER_CHECK", "nan"},
                                {"SINTER_SHADOW", "1"},
                                {"SINTER_TRACE_DIR", "traces"},
                                {"SINTER_CUDA_PATH", "/usr/local/cuda"},
                                {"HOME", "/anna"},
                                {"TMPDIR", ""}});
  CHECK(options.level == Level::interpret);
  CHECK(options.threads == 3);
  CHECK(options.cpu == CpuPath::avx2);
  CHECK(options.cuda_path == "/usr/local/cuda");
  CHECK(options.logs.has(LogChannel::plan));
  CHECK(options.logs.has(LogChannel::cache));
  CHECK_FALSE(options.logs.has(LogChannel::fusion));
  CHECK(options.compiler == "clang++");
  CHECK(options.disk_cache);
  CHECK(options.cache_directory == "kernels");
  CHECK(options.cache_bytes == 64u << 20);
  CHECK(options.surroundings.home == "/anna");
  CHECK(options.surroundings.temporary.empty());
  CHECK(options.check_nan);
  CHECK(options.shadow);
  CHECK(options.trace_directory == "traces");
  CHECK_FALSE(read({{"SINTER_SHADOW", "0"}}).shadow);
  CHECK_FALSE(read({{"SINTER_CACHE", "off"}}).disk_cache);
}

TEST_CASE("options: a size is bytes, or a number with a unit") {
  CHECK(parse_size("0") == 0u);
  CHECK(parse_size("4096") == 4096u);
  CHECK(parse_size("3K") == 3072u);
  CHECK(parse_size("2G") == std::uint64_t{2} << 30);
  CHECK(parse_size("17179869183G") == 17179869183u * (std::uint64_t{1} << 30));
  for (const char* text :
       {"", "K", "-1", "1.5M", "1m", "1GB", " 1", "1 K", "17179869184G", "18446744073709551616"})
    CHECK_FALSE(parse_size(text));
  CHECK_THROWS_WITH_AS(read({{"SINTER_CACHE_SIZE", "big"}}),
                       "SINTER_CACHE_SIZE: bad value \"big\", allowed: bytes, or a number with K, "
                       "M or G",
                       UsageError);
}

TEST_CASE("options: a bad value names the variable, the value and what is allowed") {
  CHECK_THROWS_WITH_AS(read({{"SINTER_LEVEL", "fast"}}),
                       "SINTER_LEVEL: bad value \"fast\", allowed: interpret, eager, fused",
                       UsageError);
  CHECK_THROWS_WITH_AS(read({{"SINTER_CPU", "AVX2"}}),
                       "SINTER_CPU: bad value \"AVX2\", allowed: auto, avx512, avx2, portable",
                       UsageError);
  for (const char* value : {"0", "-1", "two", "2x", " 2", "1025", "99999999999999999999", "1.5"})
    CHECK_THROWS_WITH_AS(
        read({{"SINTER_THREADS", value}}),
        ("SINTER_THREADS: bad value \"" + std::string(value) + "\", allowed: 1 to 1024").c_str(),
        UsageError);
  CHECK_THROWS_WITH_AS(read({{"SINTER_CHECK", "inf"}}),
                       "SINTER_CHECK: bad value \"inf\", allowed: nan", UsageError);
  CHECK_THROWS_WITH_AS(read({{"SINTER_SHADOW", "yes"}}),
                       "SINTER_SHADOW: bad value \"yes\", allowed: 0, 1", UsageError);
  CHECK_THROWS_AS(read({{"SINTER_LOGS", "plans"}}), UsageError);
}

TEST_CASE("options: the table documents every variable once") {
  std::map<std::string_view, int> seen;
  for (const OptionInfo& info : option_table()) {
    CHECK(info.variable.starts_with("SINTER_"));
    CHECK_FALSE(info.allowed.empty());
    CHECK(info.meaning.ends_with("."));
    CHECK(++seen[info.variable] == 1);
  }
  CHECK(seen.size() == 11);
}

}  // namespace
}  // namespace sinter
