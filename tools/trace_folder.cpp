#include "tools/trace_folder.h"

#include <fmt/format.h>

#include <algorithm>

#include "jit/file_bytes.h"
#include "runtime/error.h"

namespace sinter::tools {
namespace {

using Json = nlohmann::json;

/// Calls body(record) for each line.
template <class Body>
void for_records(const std::filesystem::path& path, Body body) {
  const std::string text = jit::read_file_bytes(path.string());
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    try {
      Json record = Json::parse(rest.substr(0, end));
      const auto kind = record.at("record").get<std::string>();
      body(kind, std::move(record));
    } catch (const Json::exception& error) {
      throw FileError(fmt::format("{}:{}: {}", path.string(), line, error.what()));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

TraceFolder read_folder(const std::filesystem::path& path) {
  TraceFolder folder;
  folder.path = path;
  for_records(path / "program.jsonl", [&](const std::string& kind, Json record) {
    if (kind == "program") {
      folder.prelude = record.at("prelude").get<std::string>();
      folder.flags = record.at("flags").get<std::vector<std::string>>();
    } else if (kind == "kernel") {
      folder.kernels.push_back(std::move(record));
    }
  });
  if (folder.prelude.empty())
    throw FileError(fmt::format("{}: has no record `program`", (path / "program.jsonl").string()));
  if (std::filesystem::exists(path / "launch.jsonl"))
    for_records(path / "launch.jsonl", [&](const std::string& kind, Json record) {
      if (kind == "launch") folder.launches.push_back(std::move(record));
    });
  return folder;
}

}  // namespace

const Json* TraceFolder::launch_of(std::size_t kernel) const {
  for (const Json& launch : launches) {
    const auto launched = launch.at("kernel").get<std::size_t>();
    if (launched < kernels.size() &&
        kernels[launched].at("source") == kernels.at(kernel).at("source"))
      return &launch;
  }
  return nullptr;
}

std::vector<TraceFolder> read_trace_folders(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> paths;
  if (std::filesystem::exists(directory / "program.jsonl")) {
    paths.push_back(directory);
  } else {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error))
      if (std::filesystem::exists(entry.path() / "program.jsonl")) paths.push_back(entry.path());
    if (error) throw FileError(fmt::format("{}: {}", directory.string(), error.message()));
  }
  if (paths.empty())
    throw FileError(
        fmt::format("{}: holds no program that SINTER_TRACE_DIR has written", directory.string()));
  std::sort(paths.begin(), paths.end());
  std::vector<TraceFolder> folders;
  for (const auto& path : paths) folders.push_back(read_folder(path));
  return folders;
}

}  // namespace sinter::tools
