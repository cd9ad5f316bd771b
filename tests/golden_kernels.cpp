// golden_kernels DIR [--update-golden]: the text that is emitted for each loop of
// tests/pattern_chains.h against DIR/NAME.txt, byte by byte. With --update-golden the files are
// written instead.

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "jit/emit.h"
#include "tests/pattern_chains.h"

namespace sinter::tests {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

int run(const std::filesystem::path& directory, bool update) {
  int checked = 0, different = 0;
  for (const NamedLoop& named : named_loops()) {
    const std::filesystem::path path = directory / (named.name + ".txt");
    const std::string text = jit::emit(named.loop, named.name);
    ++checked;
    if (update) {
      std::ofstream(path, std::ios::binary) << text;
    } else if (const std::string golden = read(path); golden != text) {
      ++different;
      fmt::print("{} differs; now it is\n{}\n", path.string(), text);
    }
  }
  fmt::print("{} kernels, {} different\n", checked, different);
  return different == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sinter::tests

int main(int count, char** arguments) {
  const bool update = count == 3 && std::string_view(arguments[2]) == "--update-golden";
  if (count != 2 && !update) {
    fmt::print("usage: golden_kernels DIR [--update-golden]\n");
    return 2;
  }
  return sinter::tests::run(arguments[1], update);
}
