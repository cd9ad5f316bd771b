#include "jit/schedule_arguments.h"

namespace sinter::jit {

bool LoopArgumentList::Before::operator()(const Key& a, const Key& b) const {
  const auto plain = [](const Key& key) {
    const auto& [kind, value, axes] = key;
    return std::tuple(kind, value.key(), axes);
  };
  return plain(a) < plain(b);
}

template <class Declare>
std::uint32_t LoopArgumentList::once(LoopOperand::Kind kind, const Reading& reading,
                                     Declare declare) {
  const Key key(kind, reading.from, reading.axes);
  const auto known = accesses_.find(key);
  if (known != accesses_.end()) return known->second;
  operands_.push_back({kind, reading.from, {reading.axes.begin(), reading.axes.end()}});
  return accesses_.emplace(key, declare()).first->second;
}

std::uint32_t LoopArgumentList::memory(LoopOperand::Kind kind, const Reading& reading, DType dtype,
                                       Columns columns) {
  return once(kind, reading, [&] { return builder_.memory(dtype, columns); });
}

std::uint32_t LoopArgumentList::position(const Reading& reading) {
  return once(LoopOperand::Kind::coordinate, reading, [&] { return builder_.position(); });
}

ValueId LoopArgumentList::number(PrimitiveId primitive, std::uint32_t slot, DType compute) {
  slots_.push_back({primitive, slot});
  return builder_.number(builder_.argument(compute));
}

std::pair<ValueId, ValueId> LoopArgumentList::range(PrimitiveId i) {
  const auto known = ranges_.find(i);
  if (known != ranges_.end()) return known->second;
  const ValueId start = number(i, 0, DType::i64), step = number(i, 1, DType::i64);
  return ranges_.emplace(i, std::pair(start, step)).first->second;
}

}  // namespace sinter::jit
