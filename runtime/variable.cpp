#include "runtime/variable.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <utility>

#include "runtime/record.h"

namespace sinter {

struct Variable::Cell {
  std::string name;
  bool trainable = true;
  std::uint64_t id = 0;
  DType dtype = DType::f32;  // of every value
  Shape shape;

  std::mutex mutex;     // guards what follows
  Tensor current;       // what readers record as their input
  Tensor previous;      // the value before the writes that are not evaluated yet, if any are
  bool listed = false;  // among the written cells that the next evaluation takes
};

namespace {

std::atomic<std::uint64_t> next_id{1};

/// A leaf that stands for one value of a cell. Evaluation cuts off its input, the written value,
/// and no derivative passes through it.
Tensor value_leaf(const Tensor& written, bool trainable, Where where) {
  const bool requires_grad = trainable && is_floating(written.dtype());
  return Tensor(record_leaf(Op::variable, written.dtype(), written.shape(), written.ref(), {},
                            requires_grad, where));
}

/// What a cell that has neither its old value nor the new one says.
std::exception_ptr lost_value(const std::string& name, Where written,
                              const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    try {
      return std::make_exception_ptr(Error(
          fmt::format("Variable: the value{}{} written here is lost, and the memory of the one "
                      "before was in use already ({}): {}",
                      name.empty() ? "" : " of ", name, to_string(written), error.what())));
    } catch (const std::exception&) {
      return failure;  // no memory for the message
    }
  }
}

}  // namespace

struct WrittenVariables::List {
  std::mutex mutex;
  std::vector<std::shared_ptr<Variable::Cell>> cells;  // in order of their first write
  std::atomic<bool> any{false};
};

/// Never destroyed: threads may still evaluate while the program ends.
WrittenVariables::List& WrittenVariables::list() {
  static auto* const forever = new List;
  return *forever;
}

Variable::Variable(const Tensor& initial, std::string name, bool trainable, Where where)
    : cell_(std::make_shared<Cell>()) {
  require_defined("Variable", initial, where);
  cell_->name = std::move(name);
  cell_->trainable = trainable;
  cell_->id = next_id.fetch_add(1, std::memory_order_relaxed);
  cell_->dtype = initial.dtype();
  cell_->shape = initial.shape();
  cell_->current = value_leaf(initial, trainable, where);
  cell_->listed = true;
  WrittenVariables::add(cell_);
}

Tensor::Tensor(const Variable& variable, Where where) : Tensor(variable.value(where)) {}

Tensor Variable::value(Where where) const {
  if (!cell_) usage_error("Variable", "not defined", where);
  const std::lock_guard lock(cell_->mutex);
  return cell_->current;
}

void Variable::set(const Tensor& value, Where where) const {
  if (!cell_) usage_error("Variable", "not defined", where);
  require_defined("Variable", value, where);
  if (value.dtype() != dtype() || !(value.shape() == shape()))
    usage_error(
        "Variable",
        fmt::format("{}{}holds {} {}, written was {}", cell_->name, cell_->name.empty() ? "" : " ",
                    to_string(dtype()), to_string(shape()), describe(value)),
        where);
  Tensor leaf = value_leaf(value, cell_->trainable, where);
  bool list = false;
  {
    const std::lock_guard lock(cell_->mutex);
    if (!cell_->previous.defined()) cell_->previous = cell_->current;
    std::swap(cell_->current, leaf);
    list = !std::exchange(cell_->listed, true);
  }
  if (list) WrittenVariables::add(cell_);
}

const Shape& Variable::shape(Where where) const {
  if (!cell_) usage_error("Variable", "not defined", where);
  return cell_->shape;
}

DType Variable::dtype(Where where) const {
  if (!cell_) usage_error("Variable", "not defined", where);
  return cell_->dtype;
}

const std::string& Variable::name(Where where) const {
  if (!cell_) usage_error("Variable", "not defined", where);
  return cell_->name;
}

bool Variable::trainable() const { return cell_ && cell_->trainable; }

std::uint64_t Variable::id() const { return cell_ ? cell_->id : 0; }

void WrittenVariables::add(const std::shared_ptr<Variable::Cell>& cell) {
  List& all = list();
  const std::lock_guard lock(all.mutex);
  all.cells.push_back(cell);
  all.any.store(true, std::memory_order_relaxed);
}

bool WrittenVariables::any() { return list().any.load(std::memory_order_relaxed); }

WrittenVariables WrittenVariables::take() {
  WrittenVariables taken;
  List& all = list();
  {
    const std::lock_guard lock(all.mutex);
    taken.values_.reserve(all.cells.size());
    taken.previous_.reserve(all.cells.size());
    taken.cells_.swap(all.cells);
    all.any.store(false, std::memory_order_relaxed);
  }
  for (const auto& cell : taken.cells_) {
    const std::lock_guard lock(cell->mutex);
    cell->listed = false;
    taken.values_.push_back(cell->current.ref());
    taken.previous_.push_back(cell->previous.defined() ? cell->previous.ref() : NodeRef());
  }
  return taken;
}

std::exception_ptr WrittenVariables::settle(bool undo, const std::exception_ptr& failure) noexcept {
  std::exception_ptr lost;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    Variable::Cell& cell = *cells_[i];
    Node& value = *values_[i];
    Tensor ended;  // after the lock
    const std::lock_guard lock(cell.mutex);
    const bool written_again = cell.current.node() != &value;
    if (!undo && value.state() == NodeState::evaluated) {
      ended = std::exchange(cell.previous, written_again ? Tensor(values_[i]) : Tensor());
      continue;
    }
    if (written_again || !cell.previous.defined()) continue;  // there is nothing to go back to
    const Node& previous = *cell.previous.node();
    const bool overwritten = previous.state() == NodeState::failed && previous.value();
    if (overwritten) {
      const bool own = value.state() == NodeState::failed;
      value.set_failed(lost_value(cell.name, value.where, own ? value.failure() : failure));
      ended = std::exchange(cell.previous, Tensor());
    } else {
      ended = std::exchange(cell.current, std::exchange(cell.previous, Tensor()));
    }
    if (!lost) lost = value.state() == NodeState::failed ? value.failure() : failure;
  }
  return lost;
}

}  // namespace sinter
