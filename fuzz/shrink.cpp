#include "fuzz/shrink.h"

#include "fuzz/replay.h"
#include "fuzz/shrink_moves.h"

namespace sinter::fuzz {

Shrunk shrink(const Script& script, const Fails& fails, int most) {
  Shrunk best{script};
  const auto accept = [&](const Script& candidate) {
    if (best.tried >= most) return false;
    Script next;
    try {
      next = inferred(pruned(candidate));
    } catch (const Error&) {
      return false;  // no program could have recorded it
    }
    ++best.tried;
    if (!fails(next)) return false;
    best.script = std::move(next);
    return true;
  };
  // Steps nobody needs, and dtypes and shapes that are not known yet.
  accept(script);
  for (bool smaller = true; smaller && best.tried < most;) {
    smaller = false;
    for (const Move move : moves)
      while (move(Script(best.script), accept)) smaller = true;
  }
  return best;
}

}  // namespace sinter::fuzz
