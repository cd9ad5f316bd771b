#include "jit/join_maps.h"

#include <algorithm>
#include <optional>

#include "jit/fallible.h"
#include "jit/reading.h"
#include "kernels/loop_arguments.h"

namespace sinter::jit {
namespace {

Map make_map(const Primitives& primitives, PrimitiveId i) {
  const Node& node = *primitives.steps[i].node;
  Map map;
  map.primitive = i;
  map.body = std::static_pointer_cast<const ForeachTrace>(node.payload);
  map.length = static_cast<std::size_t>(node.fixed()[1]);
  const auto operands = primitives.operands_of(i);
  map.operands.assign(operands.begin(), operands.end());
  for (std::uint32_t slot = 0; slot < node.slots().size(); ++slot) map.numbers.push_back({i, slot});
  std::uint32_t index = 0;
  for (std::size_t r = 0; r < map.body->results.size(); ++r) {
    Map::Result& result = map.results.emplace_back(Map::Result{i, {}});
    for (std::size_t p = 0; p < map.length; ++p) result.index.push_back(index++);
  }
  return map;
}

/// How a map reads another: for each list the other's result, and for each position the other's.
struct Link {
  static constexpr std::size_t no_result = SIZE_MAX;
  std::uint32_t reader;
  std::vector<std::size_t> result;
  std::vector<std::size_t> position;
};

/// One body that computes what `first` gives and then `second`, whose lists with a result in `link`
/// are results of `first`. Values are numbered anew.
class JoinedBody {
 public:
  JoinedBody(const ForeachTrace& first, const ForeachTrace& second, const Link& link)
      : first_(first), second_(second) {
    joined_ = std::make_shared<ForeachTrace>();
    for (std::size_t l = 0; l < link.result.size(); ++l)
      if (link.result[l] == Link::no_result) own_lists_.push_back(static_cast<int>(l));
    number_values(link);
    fill();
  }

  std::shared_ptr<const ForeachTrace> body() const { return joined_; }
  /// The lists of `second` that are still read.
  const std::vector<int>& own_lists() const { return own_lists_; }

 private:
  /// The number in the joined body of each value of `first` and of `second`.
  void number_values(const Link& link) {
    first_values_.resize(count(first_));
    second_values_.resize(count(second_));
    int next = 0;
    const auto give = [&](std::vector<int>& values, int begin, int end) {
      for (int v = begin; v < end; ++v) values[static_cast<std::size_t>(v)] = next++;
    };
    give(first_values_, 0, first_.lists);
    for (const int list : own_lists_) second_values_[static_cast<std::size_t>(list)] = next++;
    give(first_values_, first_.first_shared(), first_.first_number());
    give(second_values_, second_.first_shared(), second_.first_number());
    give(first_values_, first_.first_number(), first_.first_step());
    give(second_values_, second_.first_number(), second_.first_step());
    give(first_values_, first_.first_step(), static_cast<int>(count(first_)));
    give(second_values_, second_.first_step(), static_cast<int>(count(second_)));
    for (std::size_t l = 0; l < link.result.size(); ++l)
      if (link.result[l] != Link::no_result)
        second_values_[l] = value(first_values_, first_.results[link.result[l]]);
  }

  void fill() {
    joined_->lists = first_.lists + static_cast<int>(own_lists_.size());
    joined_->list_dtypes = first_.list_dtypes;
    for (const int list : own_lists_)
      joined_->list_dtypes.push_back(second_.list_dtypes[static_cast<std::size_t>(list)]);
    joined_->shared_dtypes = both(first_.shared_dtypes, second_.shared_dtypes);
    joined_->number_dtypes = both(first_.number_dtypes, second_.number_dtypes);
    add_steps(first_, first_values_);
    add_steps(second_, second_values_);
    for (const int result : second_.results)
      joined_->results.push_back(value(second_values_, result));
    for (const int result : first_.results)
      joined_->results.push_back(value(first_values_, result));
  }

  void add_steps(const ForeachTrace& body, const std::vector<int>& values) {
    for (ForeachStep step : body.steps) {
      for (int& operand : step.operands)
        if (operand >= 0) operand = value(values, operand);
      joined_->steps.push_back(step);
    }
  }

  static std::size_t count(const ForeachTrace& body) {
    return static_cast<std::size_t>(body.first_step()) + body.steps.size();
  }
  static int value(const std::vector<int>& values, int old) {
    return values[static_cast<std::size_t>(old)];
  }
  static std::vector<DType> both(std::vector<DType> a, const std::vector<DType>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  const ForeachTrace& first_;
  const ForeachTrace& second_;
  std::shared_ptr<ForeachTrace> joined_;
  std::vector<int> own_lists_, first_values_, second_values_;
};

class Joiner {
 public:
  Joiner(const Trace& trace, const Primitives& primitives)
      : trace_(trace), primitives_(primitives) {}

  Maps run() {
    find_maps();
    find_readers();
    for (auto map = maps_.rbegin(); map != maps_.rend(); ++map) try_to_join(*map);
    return collect();
  }

 private:
  struct Candidate {
    Map map;
    std::vector<bool> kept;  // of its foreach_map's results, those that outlive the evaluation
    bool only_maps = true;   // whether nothing but maps reads it
    bool joined = false;     // whether it has become a part of others
  };

  const Node& node(PrimitiveId i) const { return *primitives_.steps[i].node; }
  std::size_t length_of(PrimitiveId i) const {
    return static_cast<std::size_t>(node(i).fixed()[1]);
  }

  void find_maps() {
    number_of_.assign(primitives_.steps.size(), Maps::none);
    for (PrimitiveId i = 0; i < primitives_.steps.size(); ++i) {
      if (node(i).op != Op::foreach_map || can_fail(node(i))) continue;
      Map map = make_map(primitives_, i);
      if (access_count(map) > kernels::loop_max_accesses) continue;
      number_of_[i] = static_cast<std::uint32_t>(maps_.size());
      maps_.push_back({std::move(map), std::vector<bool>(result_count(node(i)), false)});
      given_by_[i].assign(length_of(i), number_of_[i]);
    }
  }

  /// The foreach_map that a value is picked from, if it is one of these.
  std::optional<PrimitiveId> picked_from(Operand o) const {
    if (o.leaf || node(o.index).op != Op::pick) return std::nullopt;
    const PrimitiveId from = primitives_.operands_of(o.index)[0].index;
    if (number_of_[from] == Maps::none) return std::nullopt;
    return from;
  }
  std::size_t picked_index(Operand o) const {
    return static_cast<std::size_t>(node(o.index).fixed()[0]);
  }

  void find_readers() {
    for (PrimitiveId i = 0; i < primitives_.steps.size(); ++i) {
      if (number_of_[i] != Maps::none) continue;
      for (const Operand o : primitives_.operands_of(i))
        if (const auto from = picked_from(o)) maps_[number_of_[*from]].only_maps = false;
    }
    for (std::size_t s = 0; s < trace_.steps.size(); ++s) {
      if (!trace_.keeps_value(s)) continue;
      const Operand o = primitives_.value_of[s];
      if (const auto from = picked_from(o)) maps_[number_of_[*from]].kept[picked_index(o)] = true;
    }
  }

  void try_to_join(Candidate& candidate) {
    if (!candidate.only_maps) return;
    std::vector<Link> links;
    for (std::uint32_t m = 0; m < maps_.size(); ++m) {
      if (maps_[m].joined || !reads(maps_[m].map, candidate.map.primitive)) continue;
      std::optional<Link> link = find_link(m, candidate.map);
      if (!link) return;
      links.push_back(*std::move(link));
    }
    if (links.empty() || !gives_what_is_kept(candidate, links)) return;
    for (const Link& link : links) join(candidate.map, link);
    candidate.joined = true;
  }

  bool reads(const Map& reader, PrimitiveId from) const {
    return std::any_of(reader.operands.begin(), reader.operands.end(),
                       [&](Operand o) { return picked_from(o) == from; });
  }

  /// Nothing where a list is not a result of the map all along, lists differ in positions or
  /// shapes, or the kernel would have too many accesses.
  std::optional<Link> find_link(std::uint32_t reader, const Map& from) const {
    const Map& map = maps_[reader].map;
    Link link{reader, std::vector<std::size_t>(map.lists(), Link::no_result), {}};
    for (std::size_t s = map.lists() * map.length; s < map.operands.size(); ++s)
      if (picked_from(map.operands[s]) == from.primitive) return std::nullopt;
    for (std::size_t l = 0; l < map.lists(); ++l) {
      std::vector<std::size_t> positions;
      for (std::size_t p = 0; p < map.length; ++p) {
        const Operand o = map.operand(l, p);
        if (picked_from(o) != from.primitive) continue;
        const std::size_t result = picked_index(o) / from.length;
        if (!positions.empty() && link.result[l] != result) return std::nullopt;
        link.result[l] = result;
        positions.push_back(picked_index(o) % from.length);
      }
      if (positions.empty()) continue;
      if (positions.size() != map.length) return std::nullopt;
      if (!link.position.empty() && link.position != positions) return std::nullopt;
      link.position = std::move(positions);
    }
    for (std::size_t p = 0; p < map.length; ++p)
      if (!(shape_at(trace_, primitives_, map, p) ==
            shape_at(trace_, primitives_, from, link.position[p])))
        return std::nullopt;
    const std::size_t accesses = access_count(map) + access_count(from);
    return accesses <= kernels::loop_max_accesses ? std::optional(std::move(link)) : std::nullopt;
  }

  static std::size_t access_count(const Map& map) {
    return map.lists() + map.body->shared_dtypes.size() + map.results.size();
  }

  /// What is kept has to be stored, and once.
  static bool gives_what_is_kept(const Candidate& candidate, const std::vector<Link>& links) {
    const std::vector<bool>& kept = candidate.kept;
    if (std::find(kept.begin(), kept.end(), true) == kept.end()) return true;
    std::vector<int> given(candidate.map.length, 0);
    for (const Link& link : links)
      for (const std::size_t position : link.position) ++given[position];
    return std::all_of(given.begin(), given.end(), [](int times) { return times == 1; });
  }

  void join(const Map& from, const Link& link) {
    Map& map = maps_[link.reader].map;
    const JoinedBody joined(*from.body, *map.body, link);
    std::vector<Operand> operands;
    for (std::size_t l = 0; l < from.lists(); ++l)
      for (const std::size_t p : link.position) operands.push_back(from.operand(l, p));
    for (const int l : joined.own_lists())
      for (std::size_t p = 0; p < map.length; ++p)
        operands.push_back(map.operand(static_cast<std::size_t>(l), p));
    const auto add_shared = [&](const Map& own) {
      const auto lists = static_cast<std::ptrdiff_t>(own.lists() * own.length);
      operands.insert(operands.end(), own.operands.begin() + lists, own.operands.end());
    };
    add_shared(from);
    add_shared(map);
    map.operands = std::move(operands);
    map.numbers.insert(map.numbers.begin(), from.numbers.begin(), from.numbers.end());
    for (const Map::Result& result : from.results) {
      Map::Result& own = map.results.emplace_back(Map::Result{result.primitive, {}});
      for (const std::size_t p : link.position) own.index.push_back(result.index[p]);
    }
    map.body = joined.body();
    for (const std::size_t p : link.position) given_by_[from.primitive][p] = link.reader;
  }

  Maps collect() {
    Maps result;
    std::vector<std::uint32_t> number(maps_.size(), Maps::none);
    for (std::size_t m = 0; m < maps_.size(); ++m) {
      if (maps_[m].joined) continue;
      number[m] = static_cast<std::uint32_t>(result.maps.size());
      result.maps.push_back(std::move(maps_[m].map));
    }
    for (auto& [primitive, given] : given_by_)
      for (std::uint32_t& map : given) map = number[map];
    result.given_by = std::move(given_by_);
    return result;
  }

  const Trace& trace_;
  const Primitives& primitives_;
  std::vector<Candidate> maps_;
  std::vector<std::uint32_t> number_of_;  // of each primitive, its own map
  std::map<PrimitiveId, std::vector<std::uint32_t>> given_by_;
};

}  // namespace

Maps join_maps(const Trace& trace, const Primitives& primitives) {
  return Joiner(trace, primitives).run();
}

}  // namespace sinter::jit
