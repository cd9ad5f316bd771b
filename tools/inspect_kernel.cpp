// inspect kernel, inspect kernels: a generated kernel of a trace, as a program of its own.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "jit/digest.h"
#include "jit/file_bytes.h"
#include "jit/prelude.h"
#include "jit/report_file.h"
#include "runtime/error.h"
#include "runtime/options.h"
#include "tools/inspect.h"
#include "tools/kernel_text.h"
#include "tools/trace_folder.h"

namespace sinter::tools {
namespace {

constexpr std::string_view usage =
    "usage: sinter-inspect kernel NAME [--trace DIR] [--out DIR]\n"
    "       sinter-inspect kernels [--trace DIR]\n"
    "\n"
    "  kernels  lists the generated kernels of all programs of a trace\n"
    "  kernel   writes NAME.cpp: the kernel NAME (or that of a number, as `kernels` shows them) "
    "with\n"
    "           all it needs, the memory it had and a main that runs it, compares bits and prints\n"
    "           the time; NAME.bin beside it where the memory is large. Of several programs the\n"
    "           last that has such a kernel is taken.\n"
    "\n"
    "The trace is what SINTER_TRACE_DIR has written: the directory, or the folder of one "
    "program.\n";

struct Request {
  std::string kernel;
  std::string trace = options().trace_directory;
  std::string out = ".";
};

std::optional<Request> parse(std::span<const std::string_view> words, bool with_kernel) {
  Request request;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--trace" || (with_kernel && words[i] == "--out")) {
      if (i + 1 == words.size()) return std::nullopt;
      (words[i] == "--trace" ? request.trace : request.out) = words[i + 1];
      ++i;
    } else if (with_kernel && request.kernel.empty() && words[i].substr(0, 1) != "-") {
      request.kernel = words[i];
    } else {
      return std::nullopt;
    }
  }
  if (request.trace.empty() || request.kernel.empty() == with_kernel) return std::nullopt;
  return request;
}

int refuse() {
  fmt::print(stderr, "{}", usage);
  return 2;
}

struct Choice {
  const TraceFolder* folder;
  std::size_t kernel;
};

/// The kernels of a folder that are called so, by name or number.
std::vector<std::size_t> matches(const TraceFolder& folder, const std::string& wanted) {
  std::size_t number = 0;
  const auto [stop, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  const bool is_number = error == std::errc{} && stop == wanted.data() + wanted.size();
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < folder.kernels.size(); ++k)
    if (is_number ? k == number : folder.kernels[k].at("name") == wanted) found.push_back(k);
  return found;
}

/// The last one that was launched with its memory kept. \throws UsageError
Choice choose(const std::vector<TraceFolder>& folders, const Request& request) {
  bool known = false;
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder)
    for (const std::size_t kernel : matches(*folder, request.kernel)) {
      known = true;
      if (folder->launch_of(kernel)) return {&*folder, kernel};
    }
  if (known)
    throw UsageError(fmt::format("{}: the kernel did not run, or its memory was too large to keep",
                                 request.kernel));
  throw UsageError(
      fmt::format("{}: no program of {} has such a kernel", request.kernel, request.trace));
}

void write_whole(const std::string& path, std::string_view bytes) {
  jit::ReportFile file(path);
  file.write(bytes);
  file.done();
}

}  // namespace

int write_kernel(std::span<const std::string_view> words) {
  const auto request = parse(words, true);
  if (!request) return refuse();
  const std::vector<TraceFolder> folders = read_trace_folders(request->trace);
  const Choice chosen = choose(folders, *request);
  const TraceFolder& folder = *chosen.folder;
  if (folder.prelude != jit::to_hex(jit::digest_of(jit::prelude())))
    throw UsageError(
        fmt::format("{}: was written by another build of sinter, whose kernels begin "
                    "with another text: take its own tools/inspect",
                    folder.path.string()));
  const KernelText text =
      kernel_text(folder, chosen.kernel, jit::read_file_bytes(folder.path / "launch.bin"));
  const std::string path = (std::filesystem::path(request->out) / text.name).string();
  if (!text.data.empty()) write_whole(path + ".bin", text.data);
  write_whole(path + ".cpp", text.source);
  fmt::print("{}.cpp: kernel {} of {}\n{}\n", path, chosen.kernel, folder.path.string(),
             text.command);
  return 0;
}

int list_kernels(std::span<const std::string_view> words) {
  const auto request = parse(words, false);
  if (!request) return refuse();
  for (const TraceFolder& folder : read_trace_folders(request->trace)) {
    fmt::print("{}: {} kernels\n", folder.path.string(), folder.kernels.size());
    for (std::size_t k = 0; k < folder.kernels.size(); ++k) {
      const nlohmann::json* launch = folder.launch_of(k);
      std::string took = "not kept";
      if (launch && launch->at("kernel") != k)
        took = fmt::format("the same as {}", launch->at("kernel").get<std::size_t>());
      else if (launch)
        took = fmt::format("{:.1f} us", launch->at("nanoseconds").get<double>() / 1000);
      fmt::print("  {:>3}  {:<44} {}\n", k, folder.kernels[k].at("name").get<std::string>(), took);
    }
  }
  return 0;
}

}  // namespace sinter::tools
