/// \file
/// Variable: a cell whose value is replaced as time goes by: a parameter, an optimizer's moment, a
/// step count. Copies of the handle are the same cell.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tensor.h"

namespace sinter {

class Variable {
 public:
  /// No cell.
  Variable() = default;
  /// A cell that holds the value of `initial`. A trainable one is reached by gradients.
  explicit Variable(const Tensor& initial, std::string name = "", bool trainable = true,
                    Where where = Where::current());

  bool defined() const { return cell_ != nullptr; }
  /// The current value, as a tensor that stays what it is when the cell is written again.
  Tensor value(Where where = Where::current()) const;

  /// Replaces the value. The new one has the cell's dtype and shape; its history is cut. Nothing is
  /// computed until the end of the region or the next read. If a fault in that evaluation reaches a
  /// written value, every Variable written since the one before keeps its old value; a value made
  /// of one that had failed before is refused alone. Either way the evaluation throws.
  void set(const Tensor& value, Where where = Where::current()) const;

  const Shape& shape(Where where = Where::current()) const;
  DType dtype(Where where = Where::current()) const;
  const std::string& name(Where where = Where::current()) const;
  bool trainable() const;
  /// Unique in the process, never reused.
  std::uint64_t id() const;

  friend bool operator==(const Variable& a, const Variable& b) { return a.cell_ == b.cell_; }

 private:
  struct Cell;
  std::shared_ptr<Cell> cell_;

  friend class WrittenVariables;
};

/// The Variables written since the last evaluation, for the evaluator.
class WrittenVariables {
 public:
  /// Takes the list: the pending values, to be computed.
  static WrittenVariables take();
  /// Whether any Variable has been written and not yet evaluated.
  static bool any();
  const std::vector<NodeRef>& values() const { return values_; }
  /// The node each cell had before it was written, which rollback returns to; null at first.
  const std::vector<NodeRef>& previous() const { return previous_; }

  /// Ends the evaluation: a cell whose value was computed keeps it, unless `undo`; any other goes
  /// back to the value before. Where the memory of that was handed on, the cell fails: with
  /// `failure`, unless its value has one of its own. Returns why a cell did not keep its value, if
  /// any did not.
  std::exception_ptr settle(bool undo, const std::exception_ptr& failure) noexcept;

  /// Adds a cell that has been written.
  static void add(const std::shared_ptr<Variable::Cell>& cell);

 private:
  struct List;
  static List& list();

  std::vector<std::shared_ptr<Variable::Cell>> cells_;
  std::vector<NodeRef> values_, previous_;
};

}  // namespace sinter
