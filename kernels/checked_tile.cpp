#include "kernels/checked_tile.h"

#include <array>

namespace sinter::kernels {
namespace {

bool is_bad(Op op, std::int64_t divisor) { return op == Op::pow ? divisor < 0 : divisor == 0; }

bool has_bad_divisor(Op op, const TileArguments& tile) {
  const auto* divisor = static_cast<const std::int64_t*>(tile.in[1]);
  const std::int64_t count = tile.step[1] == 0 ? 1 : tile.count;
  bool bad = false;
  for (std::int64_t i = 0; i < count; ++i) bad |= is_bad(op, divisor[i]);
  return bad;
}

}  // namespace

bool is_checked(Op op, DType compute) {
  return compute == DType::i64 && info(op).kind == OpKind::elementwise && can_fail_on_data(op);
}

void run_checked_tile(Op op, TileFunction function, const TileArguments& tile, std::int64_t first,
                      Fault& fault) {
  if (!has_bad_divisor(op, tile)) return function(tile);
  // Divides by 1 where the divisor is bad, then writes 0 there.
  std::array<std::int64_t, tile_size> divisors, safe;
  const auto* given = static_cast<const std::int64_t*>(tile.in[1]);
  for (std::int64_t i = 0; i < tile.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    divisors[at] = given[i * tile.step[1]];
    safe[at] = is_bad(op, divisors[at]) ? 1 : divisors[at];
  }
  TileArguments other = tile;
  other.in[1] = safe.data();
  other.step[1] = 1;
  function(other);
  for (std::int64_t i = tile.count; i-- > 0;) {
    const std::int64_t divisor = divisors[static_cast<std::size_t>(i)];
    if (!is_bad(op, divisor)) continue;
    static_cast<std::int64_t*>(tile.out)[i] = 0;
    fault.report(FaultKind::division_by_zero, first + i, divisor, 0);
  }
}

}  // namespace sinter::kernels
