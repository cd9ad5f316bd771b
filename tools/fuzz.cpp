// Draws random programs for as long as asked, compares them at all levels, and shrinks what
// differs.

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include "fuzz/draw_script.h"
#include "fuzz/minify.h"
#include "fuzz/print.h"
#include "runtime/error.h"

namespace {

using Clock = std::chrono::steady_clock;
using sinter::fuzz::Failure;
using sinter::fuzz::Script;

constexpr std::string_view usage =
    "usage: sinter-fuzz [--minutes N] [--seed S] [--seeds COUNT]\n"
    "       sinter-fuzz --print SEED\n"
    "\n"
    "  --minutes N     runs for about N minutes (1)\n"
    "  --seed S        the first seed (1); a seed is one program\n"
    "  --seeds COUNT   ends after so many seeds\n"
    "  --print SEED    prints the program of a seed as C++ and does not run it\n"
    "\n"
    "Each program runs at interpret, eager and fused, there also with other data, other sizes and\n"
    "one thread. What differs is shrunk and printed as C++, with its seed.\n";

/// Runs that a shrinking may take: each compiles kernels.
constexpr int most_runs = 400;

struct Command {
  std::uint64_t minutes = 1, seed = 1, seeds = UINT64_MAX;
  std::optional<std::uint64_t> print = {};
};

/// \throws sinter::UsageError
Command parse(const std::vector<std::string_view>& words) {
  Command command;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    if (words[i] == "--print") command.print = 0;
    std::uint64_t* const number = words[i] == "--minutes" ? &command.minutes
                                  : words[i] == "--seed"  ? &command.seed
                                  : words[i] == "--seeds" ? &command.seeds
                                  : words[i] == "--print" ? &*command.print
                                                          : nullptr;
    if (!number) throw sinter::UsageError(fmt::format("no option \"{}\"", words[i]));
    const std::string_view value = i + 1 < words.size() ? words[i + 1] : "";
    const char* const end = value.data() + value.size();
    const auto [stop, problem] = std::from_chars(value.data(), end, *number);
    if (value.empty() || problem != std::errc() || stop != end)
      throw sinter::UsageError(fmt::format("{}: \"{}\" is no whole number", words[i], value));
  }
  return command;
}

/// Prints the smallest program that still shows the difference.
void report(std::uint64_t seed, const Failure& failure, const Script& script) {
  fmt::print("seed {}: {}\n", seed, failure.text);
  std::fflush(stdout);
  const auto small = sinter::fuzz::minified(script, failure, most_runs);
  fmt::print("{}\n", minified_text(small, failure, fmt::format("seed {}", seed)));
  std::fflush(stdout);
}

int run(const Command& command) {
  const auto start = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  std::uint64_t done = 0, steps = 0, findings = 0;
  for (std::uint64_t seed = command.seed; done < command.seeds; ++seed) {
    if (passed() > static_cast<double>(command.minutes) * 60) break;
    const Script script = draw_script(seed, sinter::fuzz::options_for(seed));
    steps += script.steps.size();
    const auto failure = sinter::fuzz::find_failure(script);
    // What is the same error in all runs is as it should be.
    if (failure && failure->check) {
      ++findings;
      report(seed, *failure, script);
    }
    ++done;
  }
  fmt::print("{} programs of {} steps (seeds {} to {}), {:.2f} hours, {} findings\n", done, steps,
             command.seed, command.seed + done - 1, passed() / 3600, findings);
  return findings == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string_view> words(arguments + 1, arguments + count);
  Command command;
  try {
    command = parse(words);
  } catch (const sinter::UsageError& error) {
    fmt::print(stderr, "sinter-fuzz: {}\n{}", error.what(), usage);
    return 2;
  }
  try {
    if (!command.print) return run(command);
    const Script script = draw_script(*command.print, sinter::fuzz::options_for(*command.print));
    fmt::print("{}", to_cpp(script, sinter::fuzz::Check::first, ""));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "sinter-fuzz: {}\n", error.what());
    return 1;
  }
}
