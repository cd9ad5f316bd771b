#include "tools/simgpu/machine/settings.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace simgpu {
namespace {

[[noreturn]] void refuse(const char* name, std::string_view value, const char* known) {
  std::fprintf(stderr, "simgpu: %s=%.*s: it may be: %s\n", name, static_cast<int>(value.size()),
               value.data(), known);
  std::abort();
}

std::optional<std::string> value_of(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

/// One of the words of a list like "all, memory, none".
std::optional<std::string> word(const char* name, std::string_view list) {
  auto value = value_of(name);
  for (std::string_view rest = list; value; rest.remove_prefix(rest.find(' ') + 1)) {
    if (rest.substr(0, rest.find(',')) == *value) break;
    if (rest.find(' ') == std::string_view::npos) refuse(name, *value, list.data());
  }
  return value;
}

std::optional<std::uint64_t> number(const char* name, std::uint64_t least, std::uint64_t most,
                                    const char* known) {
  const auto value = value_of(name);
  if (!value) return std::nullopt;
  std::uint64_t number = 0;
  const char* end = value->data() + value->size();
  const auto [stop, error] = std::from_chars(value->data(), end, number);
  if (error != std::errc() || stop != end || number < least || number > most)
    refuse(name, *value, known);
  return number;
}

/// A name that is misspelt would be a test under other settings than it names.
void refuse_unknown_names() {
  constexpr std::string_view prefix = "SIMGPU_";
  for (char** each = environ; *each != nullptr; ++each) {
    std::string_view name = *each;
    name = name.substr(0, name.find('='));
    if (!name.starts_with(prefix)) continue;
    bool is_known = false;
    for (const std::string_view known :
         {"BUDGET", "CHECK", "CPU", "ORDER", "PERTURB", "PROFILE", "REPORT", "THREADS"})
      is_known |= name.substr(prefix.size()) == known;
    if (is_known) continue;
    std::fprintf(stderr, "simgpu: %.*s: there is no such variable\n", static_cast<int>(name.size()),
                 name.data());
    std::abort();
  }
}

Settings read() {
  refuse_unknown_names();
  Settings settings;
  if (const auto value = word("SIMGPU_PROFILE", "sm_80, sm_90, sm_100")) settings.profile = *value;
  if (const auto value = word("SIMGPU_CPU", "portable, avx2")) settings.cpu = *value;
  if (const auto value = number("SIMGPU_THREADS", 1, 1024, "whole numbers from 1 to 1024"))
    settings.threads = static_cast<int>(*value);
  if (const auto value = word("SIMGPU_CHECK", "all, memory, none")) {
    settings.check_memory = *value != "none";
    settings.check_races = *value == "all";
  }
  if (const auto value = value_of("SIMGPU_ORDER"); value == "backward") {
    settings.order = Order::backward;
  } else if (value && value != "forward") {
    settings.order = Order::random;
    settings.order_seed =
        *number("SIMGPU_ORDER", 0, UINT64_MAX,
                "forward, backward, whole numbers from 0, as the seed of a random one");
  }
  settings.perturb = number("SIMGPU_PERTURB", 0, UINT64_MAX, "whole numbers from 0, as a seed");
  if (const auto value = number("SIMGPU_BUDGET", 1, INT64_MAX, "whole numbers from 1"))
    settings.budget = static_cast<std::int64_t>(*value);
  settings.report = value_of("SIMGPU_REPORT").value_or("");
  return settings;
}

}  // namespace

const Settings& settings() {
  static const Settings read_once = read();
  return read_once;
}

const std::uint64_t* perturbation() {
  const std::optional<std::uint64_t>& seed = settings().perturb;
  return seed ? &*seed : nullptr;
}

}  // namespace simgpu
