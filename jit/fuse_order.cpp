#include "jit/fuse_order.h"

#include <algorithm>
#include <utility>

#include "jit/reading.h"

namespace sinter::jit {
namespace {

/// Between the labels of units that follow each other when they are numbered anew.
constexpr std::uint64_t label_step = std::uint64_t{1} << 32;

/// Where a search gets longer, the tree may say at once that a path exists.
constexpr std::size_t short_search = 64;
/// So that no trace takes more than a time in proportion to its length.
constexpr std::size_t longest_search = 2048;

}  // namespace

FuseOrder::FuseOrder(const Trace& trace, const Primitives& primitives) {
  const std::size_t count = primitives.steps.size();
  const std::vector<Operand> bases = find_bases(trace, primitives);
  reads_.reserve(primitives.operands.size());
  first_read_.reserve(count + 1);
  for (PrimitiveId i = 0; i < count; ++i) {
    first_read_.push_back(static_cast<std::uint32_t>(reads_.size()));
    for (const Operand o : primitives.operands_of(i))
      if (const Operand from = o.leaf ? o : bases[o.index]; !from.leaf)
        reads_.push_back(from.index);
  }
  first_read_.push_back(static_cast<std::uint32_t>(reads_.size()));
  number_tree();
  unit_of_.resize(count);
  next_in_unit_.resize(count);
  before_.resize(count);
  after_.resize(count);
  label_.resize(count);
  visited_.assign(count, 0);
}

void FuseOrder::append(PrimitiveId i) {
  unit_of_[i] = i;
  next_in_unit_[i] = i;
  before_[i] = last_;
  after_[i] = none;
  label_[i] = last_ == none ? label_step : label_[last_] + label_step;
  (last_ == none ? first_ : after_[last_]) = i;
  last_ = i;
}

/// A path along the tree is a path whatever becomes one unit.
void FuseOrder::number_tree() {
  constexpr PrimitiveId no_parent = UINT32_MAX;
  const auto count = static_cast<PrimitiveId>(first_read_.size() - 1);
  std::vector<PrimitiveId> parent(count, no_parent);
  for (PrimitiveId i = 0; i < count; ++i)
    for (std::uint32_t k = first_read_[i]; k < first_read_[i + 1]; ++k)
      if (parent[i] == no_parent || parent[i] < reads_[k]) parent[i] = reads_[k];
  std::vector<std::uint32_t> size(count, 1);
  for (PrimitiveId i = count; i-- > 0;)
    if (parent[i] != no_parent) size[parent[i]] += size[i];
  std::uint32_t next_root = 0;
  std::vector<std::uint32_t> next_below(count);
  in_tree_.resize(count);
  tree_end_.resize(count);
  for (PrimitiveId i = 0; i < count; ++i) {
    std::uint32_t& next = parent[i] == no_parent ? next_root : next_below[parent[i]];
    in_tree_[i] = next;
    next += size[i];
    next_below[i] = in_tree_[i] + 1;
    tree_end_[i] = in_tree_[i] + size[i];
  }
}

Between FuseOrder::contract(PrimitiveId a, PrimitiveId b) {
  Unit first = unit_of_[a], second = unit_of_[b];
  if (label_[first] > label_[second]) std::swap(first, second);
  const Between between = find_between(first, second);
  if (between != Between::nothing) return between;
  move_between_before(first);
  absorb(first, second);
  return Between::nothing;
}

Between FuseOrder::find_between(Unit first, Unit second) {
  ++search_;
  between_.clear();
  // That one of the two reads the other is no path through a third.
  visited_[first] = visited_[second] = search_;
  look_below(second, first);
  for (std::size_t next = 0; next < between_.size(); ++next) {
    if (!look_below(between_[next], first)) return Between::path;
    if (next == short_search && surely_needs(second, first)) return Between::path;
    if (between_.size() > longest_search) return Between::too_much;
  }
  return Between::nothing;
}

bool FuseOrder::surely_needs(Unit second, Unit first) const {
  PrimitiveId member = second;
  do {
    for (std::uint32_t k = first_read_[member]; k < first_read_[member + 1]; ++k) {
      const PrimitiveId read = reads_[k];
      if (unit_of_[read] == first || unit_of_[read] == second) continue;
      PrimitiveId from = first;
      do {
        if (descends(read, from)) return true;
        from = next_in_unit_[from];
      } while (from != first);
    }
    member = next_in_unit_[member];
  } while (member != second);
  return false;
}

bool FuseOrder::look_below(Unit reader, Unit first) {
  bool reads_first = false;
  PrimitiveId member = reader;
  do {
    for (std::uint32_t k = first_read_[member]; k < first_read_[member + 1]; ++k) {
      const Unit unit = unit_of_[reads_[k]];
      reads_first = reads_first || unit == first;
      if (visited_[unit] == search_ || label_[unit] < label_[first]) continue;
      visited_[unit] = search_;
      if (unit != reader) between_.push_back(unit);
    }
    member = next_in_unit_[member];
  } while (member != reader);
  return !reads_first;
}

/// They stay in their order, and what they read in turn stands before `unit` or is among them.
void FuseOrder::move_between_before(Unit unit) {
  std::sort(between_.begin(), between_.end(),
            [&](Unit a, Unit b) { return label_[a] < label_[b]; });
  for (const Unit moved : between_) remove(moved);
  const auto low = [&] { return before_[unit] == none ? 0 : label_[before_[unit]]; };
  if (label_[unit] - low() <= between_.size()) number_anew();
  const std::uint64_t step = (label_[unit] - low()) / (between_.size() + 1);
  for (const Unit moved : between_) insert_before(unit, moved, low() + step);
}

void FuseOrder::insert_before(Unit place, Unit unit, std::uint64_t label) {
  label_[unit] = label;
  before_[unit] = before_[place];
  after_[unit] = place;
  (before_[place] == none ? first_ : after_[before_[place]]) = unit;
  before_[place] = unit;
}

void FuseOrder::remove(Unit unit) {
  (before_[unit] == none ? first_ : after_[before_[unit]]) = after_[unit];
  (after_[unit] == none ? last_ : before_[after_[unit]]) = before_[unit];
}

void FuseOrder::number_anew() {
  std::uint64_t label = 0;
  for (Unit unit = first_; unit != none; unit = after_[unit]) label_[unit] = label += label_step;
}

/// `second` becomes a part of `first`, where that stands.
void FuseOrder::absorb(Unit first, Unit second) {
  remove(second);
  PrimitiveId member = second;
  do {
    unit_of_[member] = first;
    member = next_in_unit_[member];
  } while (member != second);
  std::swap(next_in_unit_[first], next_in_unit_[second]);
}

}  // namespace sinter::jit
