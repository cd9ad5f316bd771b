/// \file
/// Emit: a loop as the source text of one kernel.
#pragma once

#include <string>

#include "jit/loop.h"

namespace sinter::jit {

/// The kernel `name`, to follow a device's prelude (jit/prelude.h). The text is the same for every
/// device, and depends on nothing but the loop and the name.
std::string emit(const Loop& loop, const std::string& name);

}  // namespace sinter::jit
