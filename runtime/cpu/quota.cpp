// How many cores the control groups of a process allow.
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/cpu/probe.h"

namespace sinter::cpu {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The number at the beginning of `text`; 0 where there is none, as for `max`.
std::int64_t leading_number(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// The quota of one group in cores, rounded up; `cpu.max` holds `quota period`, version 1 has a
/// file for each.
std::optional<int> group_cores(const std::filesystem::path& group) {
  const std::string both = content(group / "cpu.max");
  const std::size_t space = both.find(' ');
  std::int64_t quota = 0, period = 0;
  if (space != std::string::npos) {
    quota = leading_number(both);
    period = leading_number(std::string_view(both).substr(space + 1));
  } else {
    quota = leading_number(content(group / "cpu.cfs_quota_us"));
    period = leading_number(content(group / "cpu.cfs_period_us"));
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return static_cast<int>(quota / period + (quota % period != 0 ? 1 : 0));
}

/// The folders that may hold the group of a line with these `controllers`; version 2 has none.
std::vector<std::filesystem::path> mounts(const std::filesystem::path& root,
                                          const std::string& controllers) {
  if (controllers.empty()) return {root, root / "unified"};
  if (("," + controllers + ",").find(",cpu,") == std::string::npos) return {};
  return {root / "cpu", root / controllers};
}

}  // namespace

std::optional<int> quota_cores(const std::filesystem::path& root,
                               const std::filesystem::path& membership) {
  std::optional<int> least;
  std::ifstream lines(membership);
  for (std::string line; std::getline(lines, line);) {  // id:controllers:/path
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::filesystem::path path(line.substr(second + 1));
    for (const auto& mount : mounts(root, line.substr(first + 1, second - first - 1))) {
      // Inside a container the path may be the host's: then only the mount itself exists.
      for (std::filesystem::path group = path.relative_path();; group = group.parent_path()) {
        const std::optional<int> cores = group_cores(mount / group);
        if (cores && (!least || *cores < *least)) least = cores;
        if (group.empty()) break;
      }
    }
  }
  return least;
}

}  // namespace sinter::cpu
