#include "models/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace sinter::models {
namespace {

[[noreturn]] void refuse(const std::string& problem) { throw UsageError(problem); }

template <typename T>
Option::Fill number(const std::string& name, T& value) {
  return [name, &value](std::string_view text) {
    T read{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (error != std::errc() || end != text.data() + text.size())
      refuse(fmt::format("--{}: {} is not {}", name, text,
                         std::is_integral_v<T> ? "a whole number in range" : "a number"));
    value = read;
  };
}

}  // namespace

template <typename T>
Option::Option(std::string name, std::string meaning, T& value, Fill fill)
    : name_(std::move(name)),
      meaning_(std::move(meaning)),
      shown_(fmt::format("{}", value)),
      value_([&value] { return fmt::format("{}", value); }),
      fill_(std::move(fill)) {}

Option::Option(const std::string& name, std::string meaning, std::int64_t& value)
    : Option(name, std::move(meaning), value, number(name, value)) {}

Option::Option(const std::string& name, std::string meaning, std::uint64_t& value)
    : Option(name, std::move(meaning), value, number(name, value)) {}

Option::Option(const std::string& name, std::string meaning, int& value)
    : Option(name, std::move(meaning), value, number(name, value)) {}

Option::Option(const std::string& name, std::string meaning, double& value)
    : Option(name, std::move(meaning), value, number(name, value)) {}

Option::Option(const std::string& name, std::string meaning, std::string& value)
    : Option(name, std::move(meaning), value, [name, &value](std::string_view text) {
        if (text.empty()) refuse(fmt::format("--{}: the value is empty", name));
        value = text;
      }) {}

Option::Option(std::string name, std::string meaning, bool& value)
    : Option(std::move(name), std::move(meaning), value,
             [&value](std::string_view) { value = true; }) {
  takes_text_ = false;
  shown_.clear();
}

Option::Option(const std::string& name, const std::string& meaning, std::string& value,
               const std::vector<std::string>& allowed)
    : Option(
          name, fmt::format("{}: {}", meaning, fmt::join(allowed, ", ")), value,
          [name, allowed, &value](std::string_view text) {
            if (std::find(allowed.begin(), allowed.end(), text) == allowed.end())
              refuse(fmt::format("--{}: {} is none of {}", name, text, fmt::join(allowed, ", ")));
            value = text;
          }) {}

std::string Option::help() const {
  const std::string left = takes_text_ ? fmt::format("--{} VALUE", name_) : "--" + name_;
  const std::string standard = shown_.empty() ? "" : fmt::format(" [{}]", shown_);
  return fmt::format("  {:<24} {}{}\n", left, meaning_, standard);
}

std::set<std::string, std::less<>> read_arguments(std::span<const char* const> arguments,
                                                  const std::vector<Option>& options) {
  std::set<std::string, std::less<>> given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view argument = arguments[i];
    if (!argument.starts_with("--")) refuse(fmt::format("{}: not an option", argument));
    argument.remove_prefix(2);
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const Option& known) { return known.name() == name; });
    if (option == options.end()) refuse(fmt::format("--{}: no such option", name));
    if (!option->takes_text()) {
      if (equals != std::string_view::npos) refuse(fmt::format("--{} takes no value", name));
      option->fill("");
    } else if (equals != std::string_view::npos) {
      option->fill(argument.substr(equals + 1));
    } else {
      if (i + 1 == arguments.size()) refuse(fmt::format("--{}: the value is missing", name));
      option->fill(arguments[++i]);
    }
    given.insert(option->name());
  }
  return given;
}

std::string help(const std::vector<Option>& options) {
  std::string text;
  for (const Option& option : options) text += option.help();
  return text;
}

int run_program(std::string_view name, int (*run)(std::span<const char* const> arguments),
                int count, const char* const* arguments) {
  const std::span all(arguments, static_cast<std::size_t>(count));
  try {
    options();  // an environment that makes no sense is refused before anything is done
    return run(all.subspan(std::min<std::size_t>(all.size(), 1)));
  } catch (const Error& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return 1;
  }
}

}  // namespace sinter::models
