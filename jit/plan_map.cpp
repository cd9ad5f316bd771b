#include "jit/plan_map.h"

#include <algorithm>
#include <map>

#include "jit/reading.h"
#include "jit/schedule_map.h"

namespace sinter::jit {
namespace {

class MapPlanner {
 public:
  MapPlanner(const Trace& trace, const Primitives& primitives, PlannedMap& planned,
             const std::vector<bool>& contiguous_leaf, const std::vector<bool>& contiguous_step)
      : trace_(trace),
        primitives_(primitives),
        planned_(planned),
        map_(planned.map),
        contiguous_leaf_(contiguous_leaf),
        contiguous_step_(contiguous_step) {}

  /// \return whether it fits.
  bool run() {
    planned_.single = true;
    for (std::size_t p = 0; p < map_.length; ++p)
      planned_.single = planned_.single && element_count(shape(p)) == 1;
    std::map<std::vector<MapReading>, std::uint32_t> loops;
    for (std::size_t p = 0; p < map_.length; ++p) {
      const std::vector<MapReading> readings = readings_at(p);
      const auto [found, is_new] =
          loops.emplace(readings, static_cast<std::uint32_t>(planned_.loops.size()));
      if (is_new) {
        std::optional<Loop> loop = schedule_map(*map_.body, readings, planned_.wanted);
        if (!loop) return false;
        planned_.loops.push_back(*std::move(loop));
      }
      planned_.loop_of.push_back(found->second);
    }
    return true;
  }

 private:
  std::size_t lists() const { return static_cast<std::size_t>(map_.body->lists); }
  const Shape& shape(Operand o) const { return shape_of(trace_, primitives_, o); }

  /// The shape that the results at a position have.
  Shape shape(std::size_t position) const {
    Shape all;
    for (std::size_t l = 0; l < lists(); ++l)
      if (const Shape& own = shape(map_.operand(l, position)); !own.empty()) all = own;
    return all;
  }

  std::vector<MapReading> readings_at(std::size_t position) const {
    std::vector<MapReading> readings(lists(), MapReading::contiguous);
    const Shape all = shape(position);
    if (planned_.single || element_count(all) == 0) return readings;
    for (std::size_t l = 0; l < lists(); ++l) {
      const Operand o = map_.operand(l, position);
      const bool lies = o.leaf ? contiguous_leaf_[o.index] : contiguous_step_[o.index];
      if (shape(o).empty() && !all.empty()) readings[l] = MapReading::one;
      else if (!lies) readings[l] = MapReading::strided;
    }
    return readings;
  }

  const Trace& trace_;
  const Primitives& primitives_;
  PlannedMap& planned_;
  const Map& map_;
  const std::vector<bool>& contiguous_leaf_;
  const std::vector<bool>& contiguous_step_;
};

}  // namespace

Map make_map(const Primitives& primitives, PrimitiveId i) {
  const Node& node = *primitives.steps[i].node;
  Map map;
  map.body = std::static_pointer_cast<const ForeachTrace>(node.payload);
  map.length = static_cast<std::size_t>(node.fixed()[1]);
  const auto operands = primitives.operands_of(i);
  map.operands.assign(operands.begin(), operands.end());
  for (std::uint32_t slot = 0; slot < node.slots().size(); ++slot) map.numbers.push_back({i, slot});
  for (std::size_t r = 0; r < map.body->results.size(); ++r)
    map.results.push_back({i, static_cast<std::uint32_t>(r * map.length)});
  return map;
}

std::optional<PlannedMap> plan_map(const Trace& trace, const Primitives& primitives, Map map,
                                   std::vector<bool> wanted,
                                   const std::vector<bool>& contiguous_leaf,
                                   const std::vector<bool>& contiguous_step) {
  PlannedMap planned;
  planned.map = std::move(map);
  planned.wanted = std::move(wanted);
  if (!MapPlanner(trace, primitives, planned, contiguous_leaf, contiguous_step).run())
    return std::nullopt;
  planned.functions.resize(planned.loops.size());
  return planned;
}

}  // namespace sinter::jit
