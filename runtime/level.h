/// \file
/// How graphs are evaluated, for the whole process.
#pragma once

#include "error.h"
#include "options.h"

namespace sinter {

/// The level in force: that of SINTER_LEVEL until set_level is called.
Level level();

/// From the next evaluation on. \throws UsageError for a value that is no level.
void set_level(Level level, Where where = Where::current());

}  // namespace sinter
