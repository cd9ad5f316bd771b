/// \file
/// A check in a process of its own, so that a crash or an endless loop is a finding like others.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace sinter::fuzz {

/// What `check` finds in a child process, or `crashed: signal 11` where that ends by a signal; a
/// child that takes longer than five minutes is ended by one (14). The calling process should have
/// evaluated on one thread only, so that the child starts threads of its own.
std::optional<std::string> isolated(const std::function<std::optional<std::string>()>& check);

}  // namespace sinter::fuzz
