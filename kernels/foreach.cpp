#include "kernels/foreach.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/checked_tile.h"
#include "kernels/foreach_plan.h"
#include "kernels/tile_access.h"
#include "runtime/cpu/pool.h"

namespace sinter::kernels {
namespace {

constexpr std::int64_t elements_per_task = 16384;
constexpr std::size_t buffer_bytes = 8 * static_cast<std::size_t>(tile_size);
constexpr std::size_t splat_bytes = 8 * static_cast<std::size_t>(tile_vector);

struct alignas(64) Line {
  std::byte bytes[64];
};

/// Memory aligned to cache lines.
class Lines {
 public:
  explicit Lines(std::size_t bytes)
      : lines_(std::make_unique_for_overwrite<Line[]>((bytes + 63) / 64)) {}
  std::byte* at(std::size_t byte) const { return lines_[0].bytes + byte; }

 private:
  std::unique_ptr<Line[]> lines_;
};

/// A value as a tile: step 0 where it is the same for all elements.
struct Value {
  const std::byte* data = nullptr;
  std::int64_t step = 1;
};

/// What all positions share.
struct Call {
  const ForeachBody& body;
  const ForeachPlan plan;
  std::int64_t length;
  std::span<const ConstView> inputs;
  std::span<const View> outputs;
  Fault& fault;

  std::size_t lists() const { return body.list_dtypes.size(); }
  const ConstView& input(std::size_t list, std::int64_t position) const {
    return inputs[list * static_cast<std::size_t>(length) + static_cast<std::size_t>(position)];
  }
  const View& output(std::size_t result, std::int64_t position) const {
    return outputs[result * static_cast<std::size_t>(length) + static_cast<std::size_t>(position)];
  }
};

/// One element of `dtype` as a splat of its compute type.
void splat(const void* element, DType dtype, std::byte* to) {
  const DType compute = compute_dtype(dtype);
  alignas(8) std::array<std::byte, 8> value;
  load_function(tiles(), dtype, compute)(element, value.data(), 1);
  copy_run(value.data(), 0, to, 1, tile_vector, item_size(compute));
}

void splat_number(const ForeachNumber& number, std::byte* to) {
  alignas(8) std::array<std::byte, 8> stored;
  if (is_floating(number.dtype))
    store_function(tiles(), f64, number.dtype)(&number.real, stored.data(), 1);
  else store_function(tiles(), i64, number.dtype)(&number.integer, stored.data(), 1);
  splat(stored.data(), number.dtype, to);
}

/// Runs the body over one tensor of each list at a time, on one thread.
class Runner {
 public:
  explicit Runner(const Call& call)
      : call_(call),
        plan_(call.plan),
        values_(plan_.dtypes.size()),
        splats_(plan_.dtypes.size() * splat_bytes),
        buffers_((plan_.buffers + 5) * buffer_bytes),
        bases_(call.lists()),
        readers_(call.lists()),
        targets_(plan_.steps.size()) {
    std::size_t value = call.lists();
    for (std::size_t i = 0; i < call.body.shared_dtypes.size(); ++i) {
      const auto lists = call.lists() * static_cast<std::size_t>(call.length);
      splat(call.inputs[lists + i].data, call.body.shared_dtypes[i], uniform(value++));
    }
    for (const ForeachNumber& number : call.body.numbers) splat_number(number, uniform(value++));
  }

  /// Elements [begin, end) of the tensors at `position`.
  void run(std::int64_t position, std::int64_t begin, std::int64_t end) {
    open(position);
    for (; begin < end; begin += tile_size) run_tile(begin, std::min(tile_size, end - begin));
  }

 private:
  std::byte* splat_of(std::size_t value) const { return splats_.at(value * splat_bytes); }
  std::byte* uniform(std::size_t value) {
    values_[value] = {splat_of(value), 0};
    return splat_of(value);
  }
  std::byte* buffer(std::size_t index) const { return buffers_.at(index * buffer_bytes); }
  /// Buffers beside those of the plan, for what lives within a step.
  std::byte* spare(std::size_t index) const { return buffer(plan_.buffers + index); }

  void open(std::int64_t position) {
    position_ = position;
    count_ = element_count(call_.output(0, position).shape);
    for (std::size_t list = 0; list < call_.lists(); ++list) open_list(list);
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      const auto& operands = call_.body.steps[s].operands;
      const bool same = std::all_of(operands.begin(), operands.end(), [&](int operand) {
        return operand < 0 || values_[static_cast<std::size_t>(operand)].step == 0;
      });
      const std::size_t value = plan_.value_of_step(s);
      values_[value].step = same ? 0 : 1;
      if (!same) continue;
      run_step(s, 0, 1, splat_of(value));
      copy_run(splat_of(value), 0, uniform(value), 1, tile_vector,
               item_size(compute_dtype(plan_.dtypes[value])));
    }
    find_targets();
  }

  void open_list(std::size_t list) {
    const ConstView& view = call_.input(list, position_);
    const DType compute = compute_dtype(view.dtype);
    bases_[list] = nullptr;
    readers_[list].reset();
    if (view.shape.empty() || count_ == 1) return splat(view.data, view.dtype, uniform(list));
    values_[list].step = 1;
    if (view.dtype == compute && is_contiguous(view.shape, view.strides))
      bases_[list] = static_cast<const std::byte*>(view.data);
    else readers_[list].emplace(view, compute, tiles());
  }

  /// Where a step can write its result straight to an output: not while a later step still reads
  /// the input that was there.
  void find_targets() {
    std::fill(targets_.begin(), targets_.end(), nullptr);
    const std::size_t first = plan_.value_of_step(0);
    for (std::size_t r = 0; r < call_.body.results.size(); ++r) {
      const auto value = static_cast<std::size_t>(call_.body.results[r]);
      const View& out = call_.output(r, position_);
      if (value < first || values_[value].step == 0 || out.dtype != compute_dtype(out.dtype))
        continue;
      bool free = true;
      for (std::size_t list = 0; list < call_.lists(); ++list)
        free = free && (call_.input(list, position_).data != out.data ||
                        plan_.last_use[list] <= value - first);
      if (free) targets_[value - first] = static_cast<std::byte*>(out.data);
    }
  }

  void run_tile(std::int64_t first, std::int64_t count) {
    for (std::size_t list = 0; list < call_.lists(); ++list)
      if (values_[list].step == 1) load_list(list, first, count);
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      Value& value = values_[plan_.value_of_step(s)];
      if (value.step == 0) continue;
      const ForeachPlan::Step& step = plan_.steps[s];
      std::byte* const to = targets_[s] != nullptr
                                ? targets_[s] + static_cast<std::size_t>(first) * step.item
                                : buffer(step.buffer);
      run_step(s, first, count, to);
      value.data = to;
    }
    for (std::size_t r = 0; r < call_.body.results.size(); ++r) store_result(r, first, count);
  }

  void load_list(std::size_t list, std::int64_t first, std::int64_t count) {
    const std::size_t item = item_size(compute_dtype(call_.body.list_dtypes[list]));
    std::byte* const to = buffer(plan_.list_buffers[list]);
    if (bases_[list] == nullptr) {
      readers_[list]->load_into(first, count, to);
    } else if (const std::byte* at = bases_[list] + static_cast<std::size_t>(first) * item;
               plan_.list_is_result[list]) {
      std::memcpy(to, at, static_cast<std::size_t>(count) * item);
    } else {
      values_[list].data = at;
      return;
    }
    values_[list].data = to;
  }

  void run_step(std::size_t s, std::int64_t first, std::int64_t count, std::byte* to) {
    const ForeachOp& op = call_.body.steps[s];
    const ForeachPlan::Step& step = plan_.steps[s];
    TileArguments tile;
    tile.count = count;
    tile.out = to;
    for (std::size_t i = 0; i < step.arity; ++i) {
      const Value& operand = values_[static_cast<std::size_t>(op.operands[i])];
      tile.in[i] = operand.data;
      tile.step[i] = operand.step;
    }
    if (step.plain) return step.function(tile);
    for (std::size_t i = 0; i < step.arity; ++i) {
      const Value& operand = values_[static_cast<std::size_t>(op.operands[i])];
      if (step.convert[i] == nullptr) continue;
      step.convert[i](operand.data, spare(i), operand.step == 0 ? tile_vector : count);
      tile.in[i] = spare(i);
    }
    if (step.round != nullptr) tile.out = spare(3);
    if (step.function == nullptr)
      tile.out = cast(tile, step.round == nullptr ? to : nullptr, item_size(op.compute));
    else if (step.checked) run_checked_tile(op.op, step.function, tile, first, call_.fault);
    else step.function(tile);
    if (step.round == nullptr) return;
    std::byte* const rounded = step.load == nullptr ? to : spare(4);
    step.round(tile.out, rounded, count);
    if (step.load != nullptr) step.load(rounded, to, count);
  }

  /// The operand of a cast, copied to `to` where that is not null.
  void* cast(const TileArguments& operand, std::byte* to, std::size_t item) const {
    if (to == nullptr) return const_cast<void*>(operand.in[0]);
    std::memcpy(to, operand.in[0], static_cast<std::size_t>(operand.count) * item);
    return to;
  }

  void store_result(std::size_t r, std::int64_t first, std::int64_t count) {
    const auto index = static_cast<std::size_t>(call_.body.results[r]);
    const View& out = call_.output(r, position_);
    const DType compute = compute_dtype(out.dtype);
    auto* const to =
        static_cast<std::byte*>(out.data) + static_cast<std::size_t>(first) * item_size(out.dtype);
    const std::byte* from = values_[index].data;
    if (from == to) return;
    if (values_[index].step == 0) {
      copy_run(from, 0, spare(0), 1, count, item_size(compute));
      from = spare(0);
    }
    if (out.dtype == compute)
      std::memcpy(to, from, static_cast<std::size_t>(count) * item_size(compute));
    else store_function(tiles(), compute, out.dtype)(from, to, count);
  }

  const Call& call_;
  const ForeachPlan& plan_;
  std::vector<Value> values_;
  Lines splats_, buffers_;
  std::vector<const std::byte*> bases_;  // lists read in place
  std::vector<std::optional<TileReader>> readers_;
  std::vector<std::byte*> targets_;  // outputs written in place, by step
  std::int64_t position_ = 0;
  std::int64_t count_ = 0;
};

/// A part of the tensors at one position.
struct Chunk {
  std::int64_t position, begin, end;
};

/// Tensors of one element each, as the counts of an optimizer's steps are, become one tensor.
void map_single_elements(const ForeachBody& body, std::int64_t length,
                         std::span<const ConstView> inputs, std::span<const View> outputs,
                         Fault& fault) {
  const auto count = static_cast<std::size_t>(length);
  std::vector<Lines> held;
  std::vector<ConstView> gathered;
  for (std::size_t list = 0; list < body.list_dtypes.size(); ++list) {
    const std::size_t item = item_size(body.list_dtypes[list]);
    std::byte* const to = held.emplace_back(count * item).at(0);
    for (std::size_t p = 0; p < count; ++p)
      std::memcpy(to + p * item, inputs[list * count + p].data, item);
    gathered.push_back({to, body.list_dtypes[list], {length}, {1}});
  }
  const auto shared = inputs.subspan(body.list_dtypes.size() * count);
  gathered.insert(gathered.end(), shared.begin(), shared.end());
  std::vector<View> results;
  for (std::size_t r = 0; r < body.results.size(); ++r) {
    const DType dtype = outputs[r * count].dtype;
    results.push_back({held.emplace_back(count * item_size(dtype)).at(0), dtype, {length}, {1}});
  }
  Fault found;
  foreach_map(body, 1, gathered, results, found);
  if (found.set()) fault.report(found.kind(), 0, found.value(), found.limit());
  for (std::size_t r = 0; r < results.size(); ++r) {
    const std::size_t item = item_size(results[r].dtype);
    for (std::size_t p = 0; p < count; ++p)
      std::memcpy(outputs[r * count + p].data, static_cast<std::byte*>(results[r].data) + p * item,
                  item);
  }
}

}  // namespace

void foreach_map(const ForeachBody& body, std::int64_t length, std::span<const ConstView> inputs,
                 std::span<const View> outputs, Fault& fault) {
  if (length == 0 || body.results.empty()) return;
  const auto single = [](const View& out) { return element_count(out.shape) == 1; };
  if (length > 1 && std::all_of(outputs.begin(), outputs.end(), single))
    return map_single_elements(body, length, inputs, outputs, fault);
  const Call call{body, ForeachPlan(body), length, inputs, outputs, fault};
  std::vector<Chunk> chunks;
  std::vector<std::size_t> tasks{0};  // the first chunk of each task
  std::int64_t gathered = 0;
  for (std::int64_t position = 0; position < length; ++position) {
    const std::int64_t count = element_count(call.output(0, position).shape);
    for (std::int64_t begin = 0; begin < count; begin += elements_per_task) {
      chunks.push_back({position, begin, std::min(count, begin + elements_per_task)});
      gathered += chunks.back().end - begin + tile_size / 2;
      if (gathered < elements_per_task) continue;
      gathered = 0;
      tasks.push_back(chunks.size());
    }
  }
  if (tasks.back() != chunks.size()) tasks.push_back(chunks.size());
  cpu::parallel_for(static_cast<std::int64_t>(tasks.size()) - 1, [&](std::int64_t task) {
    Runner runner(call);
    const auto t = static_cast<std::size_t>(task);
    for (std::size_t c = tasks[t]; c < tasks[t + 1]; ++c)
      runner.run(chunks[c].position, chunks[c].begin, chunks[c].end);
  });
}

}  // namespace sinter::kernels
