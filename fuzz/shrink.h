/// \file
/// A failing Script made as small as it gets while it still fails.
#pragma once

#include <functional>

#include "fuzz/script.h"

namespace sinter::fuzz {

/// Whether a Script still shows what is looked for. Asked only of Scripts that record.
using Fails = std::function<bool(const Script&)>;

struct Shrunk {
  Script script;
  int tried = 0;  ///< how many Scripts were asked about
};

/// A local minimum: without a single output, step, operand, attribute or size that could be dropped
/// or made simpler by one of the moves in shrink_moves.h. `script` fails. Ends early, with what it
/// has by then, after `most` questions.
Shrunk shrink(const Script& script, const Fails& fails, int most = 2000);

}  // namespace sinter::fuzz
