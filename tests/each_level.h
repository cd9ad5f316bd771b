/// \file
/// Runs the same test at every level a graph can be evaluated at.
#pragma once

#include <doctest/doctest.h>

#include <sinter/sinter.h>

namespace sinter::tests {

/// Puts the level back when a test ends, however it ends.
class AtLevel {
 public:
  explicit AtLevel(Level level) : previous_(sinter::level()) { set_level(level); }
  ~AtLevel() { set_level(previous_); }
  AtLevel(const AtLevel&) = delete;
  AtLevel& operator=(const AtLevel&) = delete;

 private:
  Level previous_;
};

/// `body()` at every level, at the level fused both where its programs are not known yet and where
/// they are. Failures name the level.
template <typename Body>
void at_each_level(Body&& body) {
  for (const Level level : {Level::interpret, Level::eager, Level::fused}) {
    const AtLevel at(level);
    CAPTURE(to_string(level));
    if (level == Level::fused) {
      reset_programs();
      body();
    }
    body();
  }
}

/// The message of the UsageError that `body` throws, or "" when it throws none.
template <typename Body>
std::string usage_message(Body&& body) {
  try {
    body();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;

inline Tensor floats(const Floats& elements) {
  return from_host(elements, {static_cast<std::int64_t>(elements.size())});
}

}  // namespace sinter::tests
