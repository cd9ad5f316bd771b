/// \file
/// Command lines: options with values, checked against a closed list.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/sinter.h>

namespace sinter::models {

/// One option. Its text is read by the type of the variable it fills.
class Option {
 public:
  using Fill = std::function<void(std::string_view text)>;

  Option(const std::string& name, std::string meaning, std::int64_t& value);
  Option(const std::string& name, std::string meaning, std::uint64_t& value);
  Option(const std::string& name, std::string meaning, int& value);
  Option(const std::string& name, std::string meaning, double& value);
  Option(const std::string& name, std::string meaning, std::string& value);
  /// A switch: takes no text, sets `value`.
  Option(std::string name, std::string meaning, bool& value);
  /// One of `allowed`.
  Option(const std::string& name, const std::string& meaning, std::string& value,
         const std::vector<std::string>& allowed);

  const std::string& name() const { return name_; }
  bool takes_text() const { return takes_text_; }
  void fill(std::string_view text) const { fill_(text); }
  /// The value the variable has now, as text.
  std::string value() const { return value_(); }
  /// `--name VALUE  meaning (default)`.
  std::string help() const;

 private:
  template <typename T>
  Option(std::string name, std::string meaning, T& value, Fill fill);

  std::string name_, meaning_, shown_;
  bool takes_text_ = true;
  std::function<std::string()> value_;
  Fill fill_;
};

/// Fills the options' variables from `--name value` and `--name=value`, and returns the names
/// given. \throws UsageError naming the argument for an unknown option, a missing or a bad value.
std::set<std::string, std::less<>> read_arguments(std::span<const char* const> arguments,
                                                  const std::vector<Option>& options);

/// A line for each option.
std::string help(const std::vector<Option>& options);

/// What `main` returns: the status `run` gives for the arguments after the program's own name, or,
/// with a line on stderr, 2 where it throws an Error or a SINTER_ variable has a bad value, and 1
/// for any other exception.
int run_program(std::string_view name, int (*run)(std::span<const char* const> arguments),
                int count, const char* const* arguments);

}  // namespace sinter::models
