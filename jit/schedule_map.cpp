#include "jit/schedule_map.h"

#include <string>

#include "jit/loop_builder.h"

namespace sinter::jit {
namespace {

class MapScheduler {
 public:
  MapScheduler(const ForeachTrace& body, const std::vector<MapReading>& lists,
               const std::vector<bool>& wanted)
      : body_(body),
        lists_(lists),
        wanted_(wanted),
        values_(static_cast<std::size_t>(body.first_step()) + body.steps.size()),
        builder_(name_of(body)) {}

  Loop run() {
    find_used();
    find_rows();
    for (const DType dtype : body_.list_dtypes) builder_.memory(dtype);
    for (const DType dtype : body_.shared_dtypes) builder_.memory(dtype);
    for (const DType dtype : body_.number_dtypes) builder_.argument(compute_dtype(dtype));
    builder_.begin_row();
    emit(true);
    builder_.begin_columns();
    emit(false);
    for (std::size_t r = 0; r < body_.results.size(); ++r) {
      if (!wanted_[r]) continue;
      const auto value = static_cast<std::size_t>(body_.results[r]);
      builder_.store(values_[value].id, builder_.memory(body_.dtype_of_value(body_.results[r])));
    }
    return builder_.finish();
  }

 private:
  /// A value of the body.
  struct Known {
    bool used = false;
    bool of_row = true;
    ValueId id = no_value;
  };

  static std::string name_of(const ForeachTrace& body) {
    std::string name = "map";
    for (const ForeachStep& step : body.steps) append_op(name, step.op);
    return name;
  }

  std::size_t first_step() const { return static_cast<std::size_t>(body_.first_step()); }
  const ForeachStep& step(std::size_t value) const { return body_.steps[value - first_step()]; }

  void find_used() {
    for (std::size_t r = 0; r < body_.results.size(); ++r)
      if (wanted_[r]) values_[static_cast<std::size_t>(body_.results[r])].used = true;
    for (std::size_t v = values_.size(); v-- > first_step();) {
      if (!values_[v].used) continue;
      for (const int operand : step(v).operands)
        if (operand >= 0) values_[static_cast<std::size_t>(operand)].used = true;
    }
  }

  void find_rows() {
    for (std::size_t l = 0; l < lists_.size(); ++l)
      values_[l].of_row = lists_[l] == MapReading::one;
    for (std::size_t v = first_step(); v < values_.size(); ++v)
      for (const int operand : step(v).operands)
        if (operand >= 0 && !values_[static_cast<std::size_t>(operand)].of_row)
          values_[v].of_row = false;
  }

  void emit(bool of_row) {
    for (std::size_t v = 0; v < values_.size(); ++v)
      if (values_[v].used && values_[v].of_row == of_row) values_[v].id = emit_value(v);
  }

  ValueId emit_value(std::size_t v) {
    const auto first_number = static_cast<std::size_t>(body_.first_number());
    if (v < first_number) return builder_.load(static_cast<std::uint32_t>(v));
    if (v < first_step()) return builder_.number(static_cast<std::uint32_t>(v - first_number));
    const ForeachStep& own = step(v);
    std::array<ValueId, 3> operands{no_value, no_value, no_value};
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (own.operands[k] >= 0)
        operands[k] = builder_.in_compute(known(own.operands[k]), own.compute);
    if (own.op == Op::cast)
      return builder_.rounded({operands[0], known(own.operands[0]).dtype}, own.dtype).value;
    const ValueId value = builder_.apply(own.op, operands[0], operands[1], operands[2]);
    return builder_.rounded({value, own.compute}, own.dtype).value;
  }

  Rounded known(int value) const {
    return {values_[static_cast<std::size_t>(value)].id, body_.dtype_of_value(value)};
  }

  const ForeachTrace& body_;
  const std::vector<MapReading>& lists_;
  const std::vector<bool>& wanted_;
  std::vector<Known> values_;
  LoopBuilder builder_;
};

}  // namespace

Loop schedule_map(const ForeachTrace& body, const std::vector<MapReading>& lists,
                  const std::vector<bool>& wanted) {
  return MapScheduler(body, lists, wanted).run();
}

}  // namespace sinter::jit
