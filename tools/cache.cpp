// Lists, verifies and prunes the kernels that sinter keeps on disk.

#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jit/kernel_directory.h"
#include "jit/kernel_file.h"
#include "jit/kernel_key.h"
#include "runtime/error.h"
#include "runtime/options.h"

namespace {

using sinter::jit::BatchStatus;
using sinter::jit::KernelDirectory;

constexpr std::string_view usage =
    "usage: sinter-cache list | verify | prune [--to SIZE] [--all]\n"
    "\n"
    "  list     kernels on disk: size, age, compiler and processor of each batch\n"
    "  verify   checks every batch; ends with 1 where one is broken, and names it\n"
    "  prune    removes the batches unused longest until the rest takes at most SIZE (such as "
    "64M),\n"
    "           SINTER_CACHE_SIZE if none is given, or all of them\n"
    "\n"
    "The place is SINTER_CACHE, $XDG_CACHE_HOME/sinter or ~/.cache/sinter.\n";

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const double kibi = static_cast<double>(bytes) / 1024;
  return kibi < 1024 ? fmt::format("{:.1f} KiB", kibi) : fmt::format("{:.1f} MiB", kibi / 1024);
}

std::string age_text(std::int64_t seconds) {
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} days", seconds / 86400);
}

/// The path of the compiler, and the first line of what it said of its version.
std::string compiler_text(std::string_view identity) {
  std::vector<std::string_view> lines;
  while (lines.size() < 5) {
    const std::size_t end = identity.find('\n');
    lines.push_back(identity.substr(0, end));
    identity.remove_prefix(end == std::string_view::npos ? identity.size() : end + 1);
  }
  return fmt::format("{} ({})", lines[0], lines[4]);
}

/// Reads a batch; the reason in `problem` where it is broken.
std::optional<sinter::jit::KernelFile> read(const KernelDirectory& directory,
                                            const std::string& name, std::string& problem) {
  sinter::jit::Trouble trouble;
  const auto batch = sinter::jit::read_batch(directory, name, trouble);
  if (batch) return sinter::jit::decode(batch->bytes, problem);
  problem = trouble.problem;
  return std::nullopt;
}

void list_batch(const BatchStatus& batch, const sinter::jit::KernelFile& file, std::int64_t now) {
  const auto part = [&](std::string_view name) {
    return sinter::jit::ingredient(file.ingredients, name).value_or("?");
  };
  fmt::print("{}  {}, made {} ago, used {} ago, {}, {}\n", batch.name, size_text(batch.bytes),
             age_text(now - file.made), age_text(now - batch.used / 1'000'000'000), part("cpu"),
             compiler_text(part("compiler")));
  for (const sinter::jit::StoredKernel& kernel : file.kernels) fmt::print("  {}\n", kernel.symbol);
}

int list(const KernelDirectory& directory) {
  const std::int64_t now = std::time(nullptr);
  std::uint64_t bytes = 0;
  std::size_t kernels = 0;
  const std::vector<BatchStatus> batches = list_batches(directory);
  for (const BatchStatus& batch : batches) {
    std::string problem;
    bytes += batch.bytes;
    if (const auto file = read(directory, batch.name, problem)) {
      kernels += file->kernels.size();
      list_batch(batch, *file, now);
    } else {
      fmt::print("{}  {}, broken: {}\n", batch.name, size_text(batch.bytes), problem);
    }
  }
  fmt::print("{}: {} kernels in {} batches, {}\n", directory.path, kernels, batches.size(),
             size_text(bytes));
  return 0;
}

int verify(const KernelDirectory& directory) {
  const std::vector<BatchStatus> batches = list_batches(directory);
  std::size_t broken = 0;
  for (const BatchStatus& batch : batches) {
    std::string problem;
    if (read(directory, batch.name, problem)) continue;
    fmt::print("{}/batches/{} {}\n", directory.path, batch.name, problem);
    ++broken;
  }
  fmt::print("{}: {} batches, {} broken\n", directory.path, batches.size(), broken);
  return broken == 0 ? 0 : 1;
}

int prune(const KernelDirectory& directory, std::uint64_t bytes) {
  std::uint64_t freed = 0;
  const std::vector<BatchStatus> removed = evict(directory, bytes);
  for (const BatchStatus& batch : removed) freed += batch.bytes;
  fmt::print("{}: removed {} batches, {}\n", directory.path, removed.size(), size_text(freed));
  return 0;
}

struct Command {
  std::string_view name;
  std::uint64_t bytes;
};

/// \throws UsageError
Command parse(const std::vector<std::string_view>& words) {
  if (words.empty()) throw sinter::UsageError("what should be done?");
  Command command{words[0], sinter::options().cache_bytes};
  if (command.name != "list" && command.name != "verify" && command.name != "prune")
    throw sinter::UsageError(fmt::format("no command \"{}\"", command.name));
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (command.name == "prune" && words[i] == "--all") {
      command.bytes = 0;
    } else if (command.name == "prune" && words[i] == "--to") {
      const std::string_view size = ++i < words.size() ? words[i] : "";
      const auto bytes = sinter::parse_size(size);
      if (!bytes) throw sinter::UsageError(fmt::format("--to: \"{}\" is no size", size));
      command.bytes = *bytes;
    } else {
      throw sinter::UsageError(fmt::format("{} takes no \"{}\"", command.name, words[i]));
    }
  }
  return command;
}

int run(const Command& command) {
  std::string problem;
  const auto path = sinter::jit::cache_directory(sinter::options(), problem);
  const auto directory = path ? sinter::jit::open_directory(*path, false, problem) : std::nullopt;
  if (!directory) {
    if (problem.empty()) fmt::print("{}: there is no cache\n", *path);
    else fmt::print(stderr, "sinter-cache: {}\n", problem);
    return problem.empty() ? 0 : 1;
  }
  if (command.name == "list") return list(*directory);
  if (command.name == "verify") return verify(*directory);
  return prune(*directory, command.bytes);
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string_view> words(arguments + 1, arguments + count);
  try {
    if (!words.empty() && (words[0] == "--help" || words[0] == "-h")) {
      fmt::print("{}", usage);
      return 0;
    }
    const int status = run(parse(words));
    if (std::fflush(stdout) != 0) throw sinter::FileError("the output cannot be written");
    return status;
  } catch (const sinter::UsageError& error) {
    fmt::print(stderr, "sinter-cache: {}\n{}", error.what(), usage);
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "sinter-cache: {}\n", error.what());
    return 1;
  }
}
