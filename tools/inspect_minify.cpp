// inspect minify: a recorded program that fails becomes a small one.

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>

#include "fuzz/json.h"
#include "fuzz/minify.h"
#include "tools/inspect.h"

namespace sinter::tools {
namespace {

constexpr std::string_view usage =
    "usage: sinter-inspect minify FILE [--check NAME]\n"
    "\n"
    "FILE is a graph.json that SINTER_TRACE_DIR wrote, or has such a graph on each line. The\n"
    "first one that differs between levels, or ends with an error, is made as small as it still\n"
    "does and printed as C++. NAME is the check to try, all of them where it is left out:\n"
    "\n"
    "  meaning        interpret and eager\n"
    "  eager-threads  eager on one thread and on two\n"
    "  first          eager and the first call at fused\n"
    "  later          eager and a second call at fused, with other data and numbers\n"
    "  sizes          eager and fused with other sizes, after a call with these\n"
    "  rounds         eager and fused, three times on the same Variables\n"
    "  threads        fused on one thread and on two\n";

/// Runs that a shrinking may take: each compiles kernels.
constexpr int most_runs = 1000;

struct Request {
  std::string path;
  std::optional<fuzz::Check> check;
};

std::optional<Request> parse(std::span<const std::string_view> words) {
  Request request;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--check") {
      if (++i == words.size()) return std::nullopt;
      request.check = fuzz::parse_check(words[i]);
      if (!request.check) return std::nullopt;
    } else if (request.path.empty() && words[i].substr(0, 1) != "-") {
      request.path = words[i];
    } else {
      return std::nullopt;
    }
  }
  if (request.path.empty()) return std::nullopt;
  return request;
}

}  // namespace

int minify(std::span<const std::string_view> words) {
  const auto request = parse(words);
  if (!request) {
    fmt::print(stderr, "{}", usage);
    return 2;
  }
  const std::vector<fuzz::Script> scripts = fuzz::read_scripts(request->path);
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    const auto failure = find_failure(scripts[i], request->check);
    if (!failure) continue;
    fmt::print(stderr, "graph {} of {}: {}\n", i + 1, scripts.size(), failure->text);
    const fuzz::Shrunk shrunk = minified(scripts[i], *failure, most_runs);
    fmt::print("{}", minified_text(shrunk, *failure, request->path));
    return 0;
  }
  fmt::print("{}: none of {} graphs fails\n", request->path, scripts.size());
  return 1;
}

}  // namespace sinter::tools
