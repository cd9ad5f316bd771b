#include "jit/map.h"

#include "jit/reading.h"

namespace sinter::jit {

Shape shape_at(const Trace& trace, const Primitives& primitives, const Map& map,
               std::size_t position) {
  Shape shape;
  for (std::size_t list = 0; list < map.lists(); ++list) {
    const Shape& own = shape_of(trace, primitives, map.operand(list, position));
    if (!own.empty()) shape = own;
  }
  return shape;
}

}  // namespace sinter::jit
