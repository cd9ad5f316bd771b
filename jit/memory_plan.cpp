#include "jit/memory_plan.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "jit/arena.h"
#include "jit/group_launch.h"
#include "jit/live_values.h"
#include "jit/plan_values.h"

namespace sinter::jit {
namespace {

class MemoryPlanner {
 public:
  explicit MemoryPlanner(const LiveValues& values)
      : values_(values),
        plan_(values.plan()),
        places_(values),
        block_of_(plan_.value_count, none),
        leaf_readers_(values.trace().leaves.size()),
        leaves_(plan_.value_count) {}

  MemoryPlan run() {
    memory_.block_sums.resize(plan_.groups.size());
    find_kept();
    for (at_ = 0; at_ < plan_.operations.size(); ++at_) place_operation(plan_.operations[at_]);
    finish();
    return std::move(memory_);
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  Operand shown_by(const Operation& operation) const {
    return values_.primitives().operands_of(operation.primitive)[0];
  }

  /// A value that is kept, or shown by one, has memory of its own.
  void find_kept() {
    for (const std::uint32_t death : plan_.death) kept_.push_back(death == Plan::never);
    for (auto operation = plan_.operations.rbegin(); operation != plan_.operations.rend();
         ++operation) {
      if (operation->kind != Operation::Kind::view ||
          !kept_[plan_.first_value[operation->primitive]])
        continue;
      const Source base = values_.base_of(shown_by(*operation));
      if (!base.leaf) kept_[base.index] = true;
    }
  }

  void place_operation(const Operation& operation) {
    if (operation.kind == Operation::Kind::view) return place_view(operation);
    if (operation.kind == Operation::Kind::group) place_block_sums(operation.number);
    count_readers(operation);
    std::size_t position = 0;
    for_given(plan_, operation, [&](PrimitiveId i, std::uint32_t r) {
      const std::uint32_t number = plan_.first_value[i] + r;
      const Result result = values_.result(i, r);
      places_[number] = {{}, 0, contiguous_strides(result.shape)};
      const auto beside = operands_in_place(operation, i, r, position++);
      place(number, byte_count(result), operand_to_take(number, beside, result));
      if (kept_[number]) find_leaves(number, beside, result);
    });
  }

  /// Gives a value the block of an operand, or one of its own.
  void place(std::uint32_t number, std::int64_t bytes, std::optional<Operand> taken) {
    if (taken) {
      block_of_[number] = block_of(*taken);
      readers_[block_of_[number]] = 0;  // nothing else of the operation can take it
      extend(number);
    } else {
      block_of_[number] = add_block(plan_.death[number], bytes, kept_[number]);
    }
  }

  /// Strides show what is asked for, or there is a copy; of a leaf that is known when it runs.
  void place_view(const Operation& operation) {
    const std::uint32_t number = plan_.first_value[operation.primitive];
    const Operand shown = shown_by(operation);
    if (block_of(shown) == none) return;
    const Node& node = values_.node(operation.primitive);
    const auto place_shown = alias(node, values_.shape(shown), places_.placement_of(shown));
    if (place_shown) {
      places_[number] = {{}, place_shown->offset, place_shown->strides};
      block_of_[number] = block_of(shown);
      shown_.insert(number);
      extend(number);
    } else {
      places_[number] = {{}, 0, contiguous_strides(node.shape)};
      place(number, byte_count({node.dtype, node.shape}), std::nullopt);
    }
  }

  /// The block of the value is in use while the value is.
  void extend(std::uint32_t number) {
    if (block_of_[number] == none) return;
    BlockUse& block = blocks_[block_of_[number]];
    block.last = std::max(block.last, plan_.death[number]);
  }

  std::uint32_t add_block(std::uint32_t death, std::int64_t bytes, bool kept) {
    blocks_.push_back({at_, death, bytes});
    own_.push_back(kept);
    readers_.push_back(0);
    return static_cast<std::uint32_t>(blocks_.size() - 1);
  }

  /// Of what has the operand's elements; none where a leaf has them.
  std::uint32_t block_of(Operand o) const {
    const Source base = values_.base_of(o);
    return base.leaf ? none : block_of_[base.index];
  }

  void place_block_sums(std::uint32_t group) {
    const ScheduledGroup& schedule = plan_.groups[group].schedule;
    const Dims space = wide_sizes(values_.shape(schedule.widest));
    for (std::size_t k = 0; k < schedule.operands.size(); ++k) {
      const LoopOperand& operand = schedule.operands[k];
      if (operand.kind != LoopOperand::Kind::block_sums) continue;
      const Shape sums{row_blocks(schedule, space), element_count(values_.shape(operand.value))};
      // The number of the block, until it is placed.
      memory_.block_sums[group].push_back(
          add_block(at_, byte_count({schedule.loop.accesses[k].dtype, sums}), false));
    }
  }

  /// How often the operation reads each block. A primitive may read an operand twice and write over
  /// it, if it reads it in no other way.
  void count_readers(const Operation& operation) {
    for (const std::uint32_t block : read_blocks_) readers_[block] = 0;
    for (const std::uint32_t leaf : read_leaves_) leaf_readers_[leaf] = 0;
    read_blocks_.clear();
    read_leaves_.clear();
    std::vector<Operand> operands = operands_of(plan_, values_.primitives(), operation);
    if (operation.kind == Operation::Kind::library || operation.kind == Operation::Kind::fold) {
      std::sort(operands.begin(), operands.end(),
                [](Operand x, Operand y) { return x.key() < y.key(); });
      operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    }
    for (const Operand o : operands) {
      const Source base = values_.base_of(o);
      if (base.leaf) {
        ++leaf_readers_[base.index];
        read_leaves_.push_back(base.index);
      } else if (const std::uint32_t block = block_of(o); block != none) {
        ++readers_[block];
        read_blocks_.push_back(block);
      }
    }
  }

  /// The operand whose memory a value is to be written over.
  std::optional<Operand> operand_to_take(std::uint32_t number, const std::vector<Operand>& beside,
                                         const Result& result) const {
    if (kept_[number]) return std::nullopt;
    const auto found =
        std::find_if(beside.begin(), beside.end(), [&](Operand o) { return can_take(o, result); });
    return found == beside.end() ? std::nullopt : std::optional(*found);
  }

  void find_leaves(std::uint32_t number, const std::vector<Operand>& beside, const Result& result) {
    if (at_ < plan_.fallible_operations) return;
    for (const Operand o : beside)
      if (o.leaf && leaf_readers_[o.index] == 1 && plan_.last_read[o.index] == at_ &&
          values_.dtype(o) == result.dtype && values_.shape(o) == result.shape)
        leaves_[number].push_back(o);
  }

  /// Those that are read where the result is written, and before.
  std::vector<Operand> operands_in_place(const Operation& operation, PrimitiveId i, std::uint32_t r,
                                         std::size_t position) const {
    if (operation.kind == Operation::Kind::group)
      return operands_beside(plan_.groups[operation.number].schedule, i);
    if (operation.kind == Operation::Kind::fold) return {};
    if (operation.kind == Operation::Kind::map) {
      const PlannedMap& planned = plan_.maps[operation.number];
      if (planned.single) return {};
      return operands_at(planned.map.operands, planned.map.lists(), planned.map.length, position);
    }
    const auto operands = values_.primitives().operands_of(i);
    if (operation.kernel.in_place == InPlace::any_input) return {operands.begin(), operands.end()};
    if (operation.kernel.in_place != InPlace::own_position) return {};
    const auto& fixed = values_.node(i).fixed();
    return operands_at(operands, static_cast<std::size_t>(fixed[0]),
                       static_cast<std::size_t>(fixed[1]), r);
  }

  static std::vector<Operand> operands_at(std::span<const Operand> operands, std::size_t lists,
                                          std::size_t length, std::size_t position) {
    std::vector<Operand> found;
    for (std::size_t list = 0; list < lists; ++list)
      found.push_back(operands[list * length + position % length]);
    return found;
  }

  /// Elements of operands along the same axes are read where those of the result are written.
  static std::vector<Operand> operands_beside(const ScheduledGroup& schedule, PrimitiveId i) {
    std::vector<Operand> found;
    if (!schedule.in_place) return found;
    for (const LoopOperand& written : schedule.operands) {
      if (written.kind != LoopOperand::Kind::written || written.value.index != i) continue;
      for (const LoopOperand& read : schedule.operands)
        if (read.kind == LoopOperand::Kind::read && read.axes == written.axes)
          found.push_back(read.value);
    }
    return found;
  }

  /// Whether all that shows the operand's memory ends here, and nothing else of it is read.
  bool can_take(Operand o, const Result& result) const {
    const std::uint32_t block = block_of(o);
    if (block == none || own_[block] || readers_[block] != 1) return false;
    const Source base = values_.base_of(o);
    return blocks_[block].last == at_ && plan_.death[base.index] == at_ &&
           blocks_[block].bytes == byte_count(result) && values_.dtype(o) == result.dtype &&
           values_.shape(o) == result.shape &&
           is_contiguous(result.shape, places_.placement_of(o).strides);
  }

  /// What each operation holds, and where the blocks are.
  void finish() {
    std::vector<std::int64_t> changes(plan_.operations.size() + 1);
    std::vector<BlockUse> shared;
    std::vector<std::size_t> number_of(blocks_.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      changes[blocks_[b].first] += blocks_[b].bytes;
      if (!own_[b]) {
        changes[blocks_[b].last + 1] -= blocks_[b].bytes;
        number_of[b] = shared.size();
        shared.push_back(blocks_[b]);
      }
    }
    std::int64_t held = 0;
    for (std::size_t at = 0; at < plan_.operations.size(); ++at)
      memory_.held.push_back(held += changes[at]);
    const Arena arena = arrange(shared);
    memory_.bytes = arena.bytes;
    memory_.live = arena.live;
    for (auto& sums : memory_.block_sums)
      for (std::int64_t& block : sums)
        block = arena.offsets[number_of[static_cast<std::size_t>(block)]];
    for (const std::vector<Operand>& found : leaves_) {
      memory_.first_leaf.push_back(static_cast<std::uint32_t>(memory_.leaves.size()));
      memory_.leaves.insert(memory_.leaves.end(), found.begin(), found.end());
    }
    memory_.first_leaf.push_back(static_cast<std::uint32_t>(memory_.leaves.size()));
    memory_.offsets.assign(plan_.value_count, MemoryPlan::outside);
    for (std::uint32_t value = 0; value < plan_.value_count; ++value) {
      const std::uint32_t block = block_of_[value];
      if (block != none && !own_[block] && shown_.count(value) == 0)
        memory_.offsets[value] = arena.offsets[number_of[block]];
    }
  }

  const LiveValues& values_;
  const Plan& plan_;
  LiveValues places_;  // where in its memory each value is, without any memory
  MemoryPlan memory_;
  std::vector<bool> kept_;               // of each value
  std::vector<std::uint32_t> block_of_;  // of each value
  std::set<std::uint32_t> shown_;        // values that are other views of a block
  std::vector<BlockUse> blocks_;
  std::vector<bool> own_;               // of each block, whether it is one of its own
  std::vector<std::uint32_t> readers_;  // of each block, how often the operation reads it
  std::vector<std::uint32_t> leaf_readers_;
  std::vector<std::uint32_t> read_blocks_, read_leaves_;  // by the operation
  std::vector<std::vector<Operand>> leaves_;  // of each value those it may be written over
  std::uint32_t at_ = 0;                      // the operation
};

}  // namespace

MemoryPlan plan_memory(const LiveValues& values) { return MemoryPlanner(values).run(); }

}  // namespace sinter::jit
