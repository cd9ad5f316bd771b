#include "jit/plan_map.h"

#include <algorithm>
#include <map>

#include "jit/reading.h"
#include "jit/schedule_map.h"

namespace sinter::jit {
namespace {

class MapPlanner {
 public:
  MapPlanner(const Trace& trace, const Primitives& primitives, PlannedMap& planned)
      : trace_(trace), primitives_(primitives), planned_(planned), map_(planned.map) {}

  void run() {
    planned_.single = true;
    for (std::size_t p = 0; p < map_.length; ++p)
      planned_.single = planned_.single && element_count(shape(p)) == 1;
    std::map<std::vector<MapReading>, std::uint32_t> loops;
    for (std::size_t p = 0; p < map_.length; ++p) {
      const std::vector<MapReading> readings = readings_at(p);
      const auto [found, is_new] =
          loops.emplace(readings, static_cast<std::uint32_t>(planned_.loops.size()));
      if (is_new) planned_.loops.push_back(schedule_map(*map_.body, readings, planned_.wanted));
      planned_.loop_of.push_back(found->second);
    }
  }

 private:
  const Shape& shape(Operand o) const { return shape_of(trace_, primitives_, o); }

  Shape shape(std::size_t position) const { return shape_at(trace_, primitives_, map_, position); }

  std::vector<MapReading> readings_at(std::size_t position) const {
    std::vector<MapReading> readings(map_.lists(), MapReading::each);
    const Shape all = shape(position);
    for (std::size_t l = 0; !planned_.single && l < map_.lists(); ++l)
      if (shape(map_.operand(l, position)).empty() && !all.empty()) readings[l] = MapReading::one;
    return readings;
  }

  const Trace& trace_;
  const Primitives& primitives_;
  PlannedMap& planned_;
  const Map& map_;
};

}  // namespace

PlannedMap plan_map(const Trace& trace, const Primitives& primitives, Map map,
                    std::vector<bool> wanted) {
  PlannedMap planned;
  planned.map = std::move(map);
  planned.wanted = std::move(wanted);
  MapPlanner(trace, primitives, planned).run();
  planned.functions.resize(planned.loops.size());
  return planned;
}

}  // namespace sinter::jit
