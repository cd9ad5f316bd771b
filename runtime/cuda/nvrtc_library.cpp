#include "runtime/cuda/nvrtc_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/options.h"

namespace sinter::cuda {
namespace {

namespace fs = std::filesystem;

using Handle = std::unique_ptr<void, int (*)(void*)>;

/// Where to look for the library: in folders of the CUDA path, or, with an empty one, by its name.
std::vector<fs::path> folders() {
  const fs::path root = options().cuda_path;
  if (root.empty()) return {fs::path()};
  return {root, root / "lib64", root / "lib"};
}

Handle open(const fs::path& path) {
  return {::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), ::dlclose};
}

/// For as long as the process lives.
void keep_open(Handle library) { static_cast<void>(library.release()); }

/// NVRTC opens a second library by its bare name when it compiles, which is found only if it is
/// already open or lies where the loader looks. So the one beside it is opened here, and stays so.
void open_builtins(void* library, int major) {
  link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return;
  const std::string prefix = fmt::format("libnvrtc-builtins.so.{}", major);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(map->l_name).parent_path(), error))
    if (entry.path().filename().string().starts_with(prefix)) keep_open(open(entry.path()));
}

/// Fills the table; false where a function is missing.
bool find_functions(void* library, NvrtcLibrary& table) {
  bool complete = true;
#define SINTER_FIND(Result, name, parameters)                                           \
  table.name = reinterpret_cast<Result(*) parameters>(::dlsym(library, "nvrtc" #name)); \
  complete = complete && table.name != nullptr;
  SINTER_NVRTC_FUNCTIONS(SINTER_FIND)
#undef SINTER_FIND
  return complete && table.Version(&table.major, &table.minor) == 0;
}

std::optional<NvrtcLibrary> find_library() {
  for (const int major : {13, 12}) {
    for (const fs::path& folder : folders()) {
      Handle library = open(folder / fmt::format("libnvrtc.so.{}", major));
      NvrtcLibrary table;
      if (library == nullptr || !find_functions(library.get(), table)) continue;
      open_builtins(library.get(), major);
      keep_open(std::move(library));
      return table;
    }
  }
  return std::nullopt;
}

}  // namespace

const NvrtcLibrary* nvrtc_library() {
  static const std::optional<NvrtcLibrary> library = find_library();
  return library ? &*library : nullptr;
}

}  // namespace sinter::cuda
