/// \file
/// Checks that a call without meaning is refused with the op's name and the caller's line.
#pragma once

#include <functional>

#include "tests/each_level.h"

namespace sinter::tests {

/// Fails unless at each level `call` throws a UsageError of `op` that names `where`.
inline void expect_refusal(std::string_view op, const std::function<void()>& call,
                           Where where = Where::current()) {
  at_each_level([&] {
    const std::string message = usage_message(call);
    const std::string place = to_string(where);
    CAPTURE(message);
    CAPTURE(place);
    CHECK(message.starts_with(std::string(op) + ": "));
    CHECK(contains(message, place));
  });
}

#define REFUSES(op, ...) expect_refusal(op, [&] { (void)(__VA_ARGS__); })

}  // namespace sinter::tests
