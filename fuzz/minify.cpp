#include "fuzz/minify.h"

#include <fmt/format.h>

#include "fuzz/isolated.h"
#include "fuzz/print.h"

namespace sinter::fuzz {
namespace {

/// The first error of a run at the level eager.
std::optional<std::string> find_error(const Script& script) {
  for (const Reading& reading : run(script, {}))
    if (!reading.error.empty()) return reading.error;
  return std::nullopt;
}

/// `UsageError: take`: what stays of an error when numbers change.
std::string_view kind_of(std::string_view error) {
  const std::size_t first = error.find(':');
  return error.substr(0, first == std::string_view::npos ? first : error.find(':', first + 1));
}

enum class Manner { values, errors, crash };

Manner manner_of(std::string_view difference) {
  if (difference.substr(0, 8) == "crashed:") return Manner::crash;
  return difference.find(": errors '") == std::string_view::npos ? Manner::values : Manner::errors;
}

std::optional<std::string> difference_of(const Script& script, Check check) {
  return isolated([&] { return find_difference(script, check); });
}

}  // namespace

std::optional<Failure> find_failure(const Script& script, std::optional<Check> only) {
  for (const Check check : all_checks) {
    if (only && *only != check) continue;
    if (auto difference = difference_of(script, check)) return Failure{check, *difference};
  }
  if (only) return std::nullopt;
  if (auto error = isolated([&] { return find_error(script); }))
    return Failure{std::nullopt, *error};
  return std::nullopt;
}

bool fails_alike(const Script& script, const Failure& failure) {
  if (!failure.check) {
    const auto error = isolated([&] { return find_error(script); });
    return error && kind_of(*error) == kind_of(failure.text);
  }
  const auto difference = difference_of(script, *failure.check);
  return difference && manner_of(*difference) == manner_of(failure.text);
}

Shrunk minified(const Script& script, const Failure& failure, int most) {
  return shrink(
      script, [&](const Script& one) { return fails_alike(one, failure); }, most);
}

std::string minified_text(const Shrunk& shrunk, const Failure& failure, std::string_view origin) {
  std::string last = failure.text;
  if (auto now = find_failure(shrunk.script, failure.check)) last = now->text;
  const std::string heading = fmt::format("// {}, {}: {}\n// Shrunk in {} runs.\n", origin,
                                          failure.check ? to_string(*failure.check) : "error",
                                          last.substr(0, last.find('\n')), shrunk.tried);
  return to_cpp(shrunk.script, failure.check, heading);
}

}  // namespace sinter::fuzz
