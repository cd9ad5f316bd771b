#include "fuzz/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "fuzz/call.h"
#include "runtime/creation.h"
#include "runtime/grad.h"
#include "runtime/level.h"
#include "runtime/threads.h"
#include "runtime/variable.h"

namespace sinter::fuzz {
namespace {

/// The leaf as a tensor whose elements lie in memory as its strides say.
Tensor leaf_tensor(const Step& step, std::uint64_t turn) {
  const Shape& shape = step.shape;
  const auto count = static_cast<std::size_t>(element_count(shape));
  if (step.strides.empty() || count == 0)
    return from_bytes(elements(step.contents, step.dtype, count, turn), step.dtype, shape);
  std::int64_t lowest = 0, highest = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t extent = (shape[axis] - 1) * step.strides[axis];
    (extent < 0 ? lowest : highest) += extent;
  }
  const auto held = static_cast<std::size_t>(highest - lowest + 1);
  const auto memory =
      std::make_shared<std::vector<std::byte>>(elements(step.contents, step.dtype, held, turn));
  const std::byte* first =
      memory->data() + static_cast<std::size_t>(-lowest) * item_size(step.dtype);
  return borrow_strided(first, step.dtype, shape, step.strides, [memory] {});
}

/// Runs the steps one after the other. A value is let go when nobody will ask for it again, as in a
/// program that a user writes.
class Recorder {
 public:
  enum class Purpose { run, run_all, infer };

  Recorder(const Script& script, std::uint64_t turn, Purpose purpose)
      : script_(script),
        turn_(turn),
        infers_(purpose == Purpose::infer),
        results_(script.steps.size()),
        cells_(script.steps.size()) {
    last_use_.assign(script.steps.size(), 0);
    for (std::size_t i = 0; i < script.steps.size(); ++i) {
      last_use_[i] = std::max(last_use_[i], i);
      for (const std::size_t operand : script.steps[i].operands) last_use_[operand] = i;
    }
    for (const std::size_t output : script.outputs) last_use_[output] = kept;
    if (purpose != Purpose::run) last_use_.assign(script.steps.size(), kept);
  }

  /// The steps once more, on the Variables there are and with other data.
  void begin_round() {
    ++turn_;
    results_.assign(script_.steps.size(), {});
  }

  void record_all() {
    for (std::size_t i = 0; i < script_.steps.size(); ++i) {
      results_[i] = take(i);
      if (last_use_[i] == i) results_[i].clear();
      for (const std::size_t operand : script_.steps[i].operands)
        if (last_use_[operand] == i) results_[operand].clear();
    }
  }

  const Tensor& value(std::size_t step) const { return results_[step].at(0); }
  const Variable& written(std::size_t leaf) const { return *cells_[leaf]; }

 private:
  static constexpr std::size_t kept = SIZE_MAX;

  std::vector<Tensor> take(std::size_t i) {
    const Step& step = script_.steps[i];
    const auto operand = [&](std::size_t k) { return value(step.operands[k]); };
    switch (step.kind) {
      case StepKind::leaf: return {leaf(i)};
      case StepKind::op: return op(step);
      case StepKind::gradient: {
        const Tensor y = operand(0), x = operand(1);
        const Tensor found = vjp({y}, {ones_like(y)}, {x}, {.create_graph = true})[0];
        return {found.defined() ? found : zeros_like(x)};
      }
      case StepKind::assign: {
        const Variable& cell = written(step.operands[0]);
        cell.set(operand(1));
        return {cell.value()};
      }
      default: operand(0).evaluate(); return {operand(0)};
    }
  }

  Tensor leaf(std::size_t i) {
    const Step& step = script_.steps[i];
    if (cells_[i]) return cells_[i]->value();  // of a round before
    Tensor tensor = infers_ ? placeholder(step.dtype, step.shape) : leaf_tensor(step, turn_);
    if (!step.variable) return tensor;
    cells_[i].emplace(tensor);
    return cells_[i]->value();
  }

  std::vector<Tensor> op(const Step& step) {
    CallOperands operands;
    for (const std::size_t operand : step.operands) {
      operands.tensors.push_back(value(operand));
      operands.steps.push_back(&script_.steps[operand]);
    }
    if (step.op == Op::variable) {
      made_.emplace_back(operands.tensors[0], "", false);
      return {made_.back().value()};
    }
    if (step.op == Op::pick) operands.results = results_[step.operands[0]];
    return call(step, operands);
  }

  const Script& script_;
  std::uint64_t turn_;
  bool infers_;
  std::vector<std::vector<Tensor>> results_;
  std::vector<std::size_t> last_use_;
  std::vector<std::optional<Variable>> cells_;
  std::vector<Variable> made_;
};

std::string describe_error() {
  try {
    throw;
  } catch (const UsageError& error) {
    return fmt::format("UsageError: {}", error.what());
  } catch (const CompileError& error) {
    return fmt::format("CompileError: {}\n{}", error.what(), error.log());
  } catch (const InternalError& error) {
    return fmt::format("InternalError: {}", error.what());
  } catch (const std::exception& error) {
    return fmt::format("error: {}", error.what());
  }
}

Reading read(const Tensor& tensor) {
  Reading reading{tensor.dtype(), tensor.shape(), {}, {}};
  try {
    reading.bytes.resize(static_cast<std::size_t>(tensor.element_count()) *
                         item_size(reading.dtype));
    tensor.read_bytes(reading.bytes);
  } catch (const std::exception&) {
    reading.bytes.clear();
    reading.error = describe_error();
  }
  return reading;
}

/// Puts level and threads back.
class Setting {
 public:
  explicit Setting(const RunOptions& options) {
    set_level(options.level);
    set_threads(options.threads);
  }
  ~Setting() {
    set_level(level_);
    set_threads(threads_);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  Level level_ = level();
  int threads_ = threads();
};

/// Evaluates what is left of Variables that were written, so that it is no part of what comes next.
void end_writes() {
  try {
    zeros({}).evaluate();
  } catch (const std::exception&) {
    // The failure of a write has been seen by those who read it.
  }
}

/// The same values, but nothing that waits for an evaluation or asks for one.
Script without_effects(Script script) {
  for (Step& step : script.steps) {
    if (step.kind == StepKind::assign) {
      step.operands = {step.operands[1]};
    }
    const bool acts = step.kind == StepKind::assign || step.kind == StepKind::evaluate;
    const bool holds = step.kind == StepKind::op && step.op == Op::variable;
    if (!acts && !holds) continue;
    step.kind = StepKind::op;
    step.op = Op::detach;
  }
  for (Step& step : script.steps) step.variable = false;
  return script;
}

/// What one round gives: `outputs`, then the Variables.
std::vector<Reading> read_round(Recorder& recorder, std::span<const std::size_t> outputs,
                                const std::vector<std::size_t>& leaves) {
  std::vector<Reading> readings;
  try {
    recorder.record_all();
    for (const std::size_t output : outputs) readings.push_back(read(recorder.value(output)));
    for (const std::size_t leaf : leaves) readings.push_back(read(recorder.written(leaf).value()));
  } catch (const std::exception&) {
    Reading failed;
    failed.error = describe_error();
    readings.assign(outputs.size() + leaves.size(), failed);
  }
  return readings;
}

/// What the script records, evaluates and reads.
std::vector<Reading> run_and_read(const Script& script, const RunOptions& options,
                                  std::span<const std::size_t> outputs, Recorder::Purpose purpose) {
  const Setting setting(options);
  const std::vector<std::size_t> leaves = written_leaves(script);
  std::vector<Reading> all;
  {
    Recorder recorder(script, options.turn, purpose);
    for (int round = 0; round < options.rounds; ++round) {
      if (round > 0) recorder.begin_round();
      const std::vector<Reading> readings = read_round(recorder, outputs, leaves);
      all.insert(all.end(), readings.begin(), readings.end());
    }
  }
  end_writes();
  return all;
}

}  // namespace

Tensor placeholder(DType dtype, const Shape& shape) {
  static constexpr std::uint64_t zero = 0;
  return borrow_strided(&zero, dtype, shape, Strides::filled(shape.rank(), 0), [] {});
}

std::vector<Reading> run(const Script& script, const RunOptions& options) {
  return run_and_read(script, options, script.outputs, Recorder::Purpose::run);
}

std::vector<Reading> run_all(const Script& script) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < script.steps.size(); ++i) all.push_back(i);
  return run_and_read(script, {.level = Level::interpret}, all, Recorder::Purpose::run_all);
}

std::vector<Tensor> record(const Script& script) {
  const Script pure = without_effects(script);
  Recorder recorder(pure, 0, Recorder::Purpose::run);
  recorder.record_all();
  std::vector<Tensor> outputs;
  for (const std::size_t output : script.outputs) outputs.push_back(recorder.value(output));
  return outputs;
}

Script inferred(const Script& script) {
  const Script pure = without_effects(script);
  Recorder recorder(pure, 0, Recorder::Purpose::infer);
  recorder.record_all();
  Script known = script;
  for (std::size_t i = 0; i < known.steps.size(); ++i) {
    Step& step = known.steps[i];
    step.dtype = recorder.value(i).dtype();
    step.shape = recorder.value(i).shape();
    if (step.kind != StepKind::assign) continue;
    const Step& leaf = known.steps[step.operands[0]];
    if (leaf.dtype != step.dtype || leaf.shape != step.shape)
      usage_error("Variable", "written with another dtype or shape", Where::current());
  }
  return known;
}

}  // namespace sinter::fuzz
