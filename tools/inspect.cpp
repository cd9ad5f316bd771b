// Looks inside: one command a file.

#include "tools/inspect.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <vector>

namespace {

struct Command {
  std::string_view name;
  int (*run)(std::span<const std::string_view> words);
  std::string_view meaning;
};

constexpr Command commands[] = {
    {"kernel", sinter::tools::write_kernel,
     "NAME [--trace DIR] [--out DIR]   writes a generated kernel as a program of its own"},
    {"kernels", sinter::tools::list_kernels,
     "[--trace DIR]                   lists the generated kernels of a trace"},
    {"minify", sinter::tools::minify,
     "FILE [--check NAME]             shrinks a recorded program that fails, and prints it as C++"},
};

void print_usage(std::FILE* to) {
  fmt::print(to, "usage: sinter-inspect COMMAND ...\n\n");
  for (const Command& command : commands)
    fmt::print(to, "  {:<7} {}\n", command.name, command.meaning);
}

int run(std::span<const std::string_view> words) {
  if (!words.empty() && (words[0] == "--help" || words[0] == "-h")) {
    print_usage(stdout);
    return 0;
  }
  for (const Command& command : commands)
    if (!words.empty() && words[0] == command.name) return command.run(words.subspan(1));
  print_usage(stderr);
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string_view> words(arguments + 1, arguments + count);
  try {
    return run(words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "sinter-inspect: {}\n", error.what());
    return 1;
  }
}
