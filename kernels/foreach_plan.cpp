#include "kernels/foreach_plan.h"

#include <algorithm>

#include "kernels/checked_tile.h"

namespace sinter::kernels {
namespace {

ConvertFunction conversion(const Tiles& table, DType from, DType to) {
  return from == to ? nullptr : load_function(table, from, to);
}

}  // namespace

ForeachPlan::ForeachPlan(const ForeachBody& body) {
  find_dtypes(body);
  find_last_uses(body);
  choose_functions(body);
  assign_buffers(body);
}

void ForeachPlan::find_dtypes(const ForeachBody& body) {
  dtypes.assign(body.list_dtypes.begin(), body.list_dtypes.end());
  dtypes.insert(dtypes.end(), body.shared_dtypes.begin(), body.shared_dtypes.end());
  for (const ForeachNumber& number : body.numbers) dtypes.push_back(number.dtype);
  for (const ForeachOp& step : body.steps) dtypes.push_back(step.dtype);
}

void ForeachPlan::find_last_uses(const ForeachBody& body) {
  last_use.assign(dtypes.size(), 0);
  list_is_result.assign(body.list_dtypes.size(), false);
  for (std::size_t s = 0; s < body.steps.size(); ++s)
    for (const int operand : body.steps[s].operands)
      if (operand >= 0) last_use[static_cast<std::size_t>(operand)] = s;
  for (const int result : body.results) {
    const auto value = static_cast<std::size_t>(result);
    last_use[value] = body.steps.size();
    if (value < list_is_result.size()) list_is_result[value] = true;
  }
}

void ForeachPlan::choose_functions(const ForeachBody& body) {
  const Tiles& table = tiles();
  for (const ForeachOp& step : body.steps) {
    Step& chosen = steps.emplace_back();
    const bool is_cast = step.op == Op::cast;
    chosen.function = is_cast ? nullptr : tile_function(table, step.op, step.compute);
    for (std::size_t i = 0; i < 3; ++i) {
      const int operand = step.operands[i];
      if (operand < 0) continue;
      const DType from = compute_dtype(dtypes[static_cast<std::size_t>(operand)]);
      chosen.convert[i] = conversion(table, from, step.compute);
    }
    if (step.dtype != step.compute) {
      const DType compute = compute_dtype(step.dtype);
      chosen.round = store_function(table, step.compute, step.dtype);
      chosen.load = conversion(table, step.dtype, compute);
    }
    chosen.checked = is_checked(step.op, step.compute);
    chosen.arity = is_cast ? 1 : static_cast<std::size_t>(info(step.op).arity);
    chosen.item = item_size(compute_dtype(step.dtype));
    chosen.plain = chosen.function != nullptr && chosen.round == nullptr && !chosen.checked &&
                   std::all_of(chosen.convert.begin(), chosen.convert.end(),
                               [](ConvertFunction convert) { return convert == nullptr; });
  }
}

void ForeachPlan::assign_buffers(const ForeachBody& body) {
  for (std::size_t list = 0; list < body.list_dtypes.size(); ++list)
    list_buffers.push_back(buffers++);
  std::vector<std::size_t> free;
  const std::size_t first = dtypes.size() - steps.size();
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto release = [&] {
      for (std::size_t v = first; v < first + s; ++v) {
        const auto& operands = body.steps[s].operands;
        const bool read_here =
            std::find(operands.begin(), operands.end(), static_cast<int>(v)) != operands.end();
        if (read_here && last_use[v] == s) free.push_back(steps[v - first].buffer);
      }
    };
    // Where nothing is converted the result may take the place of an operand.
    const bool in_place = steps[s].function != nullptr && steps[s].round == nullptr;
    if (in_place) release();
    if (free.empty()) {
      steps[s].buffer = buffers++;
    } else {
      steps[s].buffer = free.back();
      free.pop_back();
    }
    if (!in_place) release();
  }
}

}  // namespace sinter::kernels
