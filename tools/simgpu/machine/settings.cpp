#include "tools/simgpu/machine/settings.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

namespace simgpu {
namespace {

[[noreturn]] void refuse(const char* name, std::string_view value, const char* known) {
  std::fprintf(stderr, "simgpu: %s=%.*s: it is one of: %s\n", name, static_cast<int>(value.size()),
               value.data(), known);
  std::abort();
}

std::optional<std::string> value_of(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

bool is_one_of(std::string_view value, std::initializer_list<std::string_view> known) {
  for (const std::string_view each : known)
    if (value == each) return true;
  return false;
}

std::uint64_t number(const char* name, const std::string& value, std::uint64_t most,
                     const char* known) {
  std::uint64_t number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || stop != end || number > most) refuse(name, value, known);
  return number;
}

Settings read() {
  Settings settings;
  if (const auto value = value_of("SIMGPU_PROFILE")) {
    if (!is_one_of(*value, {"sm_80", "sm_90", "sm_100"}))
      refuse("SIMGPU_PROFILE", *value, "sm_80, sm_90, sm_100");
    settings.profile = *value;
  }
  if (const auto value = value_of("SIMGPU_CPU")) {
    if (!is_one_of(*value, {"portable", "avx2"})) refuse("SIMGPU_CPU", *value, "portable, avx2");
    settings.cpu = *value;
  }
  if (const auto value = value_of("SIMGPU_THREADS")) {
    settings.threads = static_cast<int>(number("SIMGPU_THREADS", *value, 1024, "1 to 1024"));
    if (settings.threads == 0) refuse("SIMGPU_THREADS", *value, "1 to 1024");
  }
  if (const auto value = value_of("SIMGPU_CHECK")) {
    if (!is_one_of(*value, {"all", "memory", "none"}))
      refuse("SIMGPU_CHECK", *value, "all, memory, none");
    settings.check_memory = *value != "none";
    settings.check_races = *value == "all";
  }
  if (const auto value = value_of("SIMGPU_ORDER")) {
    constexpr const char* known = "forward, backward, the seed of a random one";
    if (*value == "backward") settings.order = Order::backward;
    else if (*value != "forward") {
      settings.order = Order::random;
      settings.order_seed = number("SIMGPU_ORDER", *value, UINT64_MAX, known);
    }
  }
  if (const auto value = value_of("SIMGPU_PERTURB"))
    settings.perturb = number("SIMGPU_PERTURB", *value, UINT64_MAX, "the seed of what is moved");
  if (const auto value = value_of("SIMGPU_BUDGET"))
    settings.budget = static_cast<std::int64_t>(
        number("SIMGPU_BUDGET", *value, INT64_MAX, "instructions of warps in a launch"));
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
