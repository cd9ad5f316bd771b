/// \file
/// How graphs are evaluated, for the whole process.
#pragma once

#include "options.h"

namespace sinter {

/// The level in force: that of SINTER_LEVEL until set_level is called.
Level level();

/// From the next evaluation on.
void set_level(Level level);

}  // namespace sinter
