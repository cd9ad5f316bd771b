/// \file
/// The recorded graph: immutable nodes with counted references.
///
/// Every op call records one node and nothing else happens: no folding, no value numbering. What a
/// node computes never changes; what evaluation adds is its value, and what it takes away are its
/// inputs, once nobody can ask for a gradient through them. Both happen under the launch lock.
///
/// No walk over the graph and no destructor recurses, so depth is bounded by memory alone.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "dtype.h"
#include "op.h"
#include "ref.h"
#include "shape.h"
#include "storage.h"

namespace sinter {

class Node;
class PendingList;
using NodeRef = Ref<Node>;

/// A host number a node carries that may differ from step to step without making another program.
/// Which member is in use is fixed by the op (attributes.h).
union Slot {
  double real;
  std::int64_t integer;
};

/// What a node carries beside numbers: a body, a closure.
struct Payload {
  virtual ~Payload() = default;
  /// Whether evaluation depends on it: a Program keeps and compares such payloads only.
  virtual bool in_program() const = 0;
  /// Whether two payloads mean the same program. Asked of those that are in one.
  virtual bool same_program(const Payload& other) const = 0;
  /// A hash that agrees with same_program.
  virtual std::uint64_t fingerprint() const = 0;
};

/// The region of a compiled function, and which call of it, that a node was recorded in; region 0
/// is outside of any.
struct RegionTag {
  std::uint32_t region = 0;
  std::uint32_t call = 0;
  bool backward = false;

  friend bool operator==(const RegionTag&, const RegionTag&) = default;
};

enum class NodeState : std::uint8_t { pending, evaluated, failed };

/// Everything a node is made from.
struct NodeSpec {
  Op op;
  DType dtype;
  Shape shape;
  std::span<const NodeRef> inputs;
  std::span<const std::int64_t> fixed = {};
  std::span<const Slot> slots = {};
  std::shared_ptr<const Payload> payload = nullptr;
  bool differentiable = true;
  Where where = {};
  /// The function that was called, for errors; the op's name where empty.
  std::string_view call = {};
};

class Node {
 public:
  const Op op;
  const DType dtype;
  const Shape shape;
  const Where where;          ///< the line that called the op
  const Where user;           ///< the line outside of every layer
  const std::uint64_t order;  ///< position in the order of recording, unique in the process
  const RegionTag region;
  const bool tracked;        ///< recorded with gradients enabled: a derivative may pass through
  const bool requires_grad;  ///< a trainable Variable reaches this node through tracked nodes
  const std::shared_ptr<const Payload> payload;

  std::span<const NodeRef> inputs() const { return {inputs_begin(), input_count_}; }
  const NodeRef& input(int i) const { return inputs_begin()[i]; }
  std::span<const std::int64_t> fixed() const { return {fixed_begin(), fixed_count_}; }
  std::span<const Slot> slots() const { return {slots_begin(), slot_count_}; }

  NodeState state() const { return state_.load(std::memory_order_acquire); }
  /// Of an evaluated node that has one result.
  const Value& value() const { return value_; }
  /// Whether evaluation took the inputs away although a derivative could have passed.
  bool released() const { return released_; }

  /// Whether a Tensor or Variable outside of the graph refers to the node.
  bool has_handles() const { return (counts_.load(std::memory_order_acquire) >> 32) != 0; }
  std::uint32_t reference_count() const {
    return static_cast<std::uint32_t>(counts_.load(std::memory_order_acquire));
  }

  void retain() { counts_.fetch_add(1, std::memory_order_relaxed); }
  void release() { drop(1); }
  void retain_handle() { counts_.fetch_add(handle, std::memory_order_relaxed); }
  void release_handle() { drop(handle); }

  // What follows is for evaluation and differentiation, with the launch lock held.

  void set_value(Value value) noexcept;
  /// From now on whoever reads the node gets `failure`, even where it had a value.
  void set_failed(std::exception_ptr failure) noexcept;
  const std::exception_ptr& failure() const { return failure_; }  ///< of a failed node
  /// Drops the inputs.
  void release_inputs();

  /// Room for the walks of whoever holds the launch lock: a mark and an index.
  std::uint64_t mark = 0;
  std::uint32_t index = 0;
  /// Set when gradients were taken through the node without asking to keep its history.
  bool differentiated = false;

  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

 private:
  friend NodeRef record(const NodeSpec& spec);
  friend NodeRef record_leaf(Op, DType, const Shape&, NodeRef, Value, bool, Where);
  friend class PendingList;

  static constexpr std::uint64_t handle = (std::uint64_t{1} << 32) | 1;

  Node(const NodeSpec& spec, bool tracked, bool requires_grad);
  ~Node() = default;
  static Node* allocate(const NodeSpec& spec, bool tracked, bool requires_grad);
  void drop(std::uint64_t count) {
    const std::uint64_t before = counts_.fetch_sub(count, std::memory_order_acq_rel);
    if (static_cast<std::uint32_t>(before) == 1) destroy(this);
  }
  static void destroy(Node* node);

  // The inputs, fixed attributes and slots follow the node in one allocation.
  NodeRef* inputs_begin() const { return reinterpret_cast<NodeRef*>(const_cast<Node*>(this) + 1); }
  std::int64_t* fixed_begin() const {
    return reinterpret_cast<std::int64_t*>(inputs_begin() + allocated_inputs_);
  }
  Slot* slots_begin() const { return reinterpret_cast<Slot*>(fixed_begin() + fixed_count_); }

  std::atomic<std::uint64_t> counts_{0};  // handles in the upper half, all references in the lower
  std::uint32_t input_count_;
  std::uint32_t allocated_inputs_;
  std::uint32_t fixed_count_;
  std::uint32_t slot_count_;
  std::atomic<NodeState> state_{NodeState::pending};
  bool released_ = false;
  Value value_;
  std::exception_ptr failure_;

  std::int64_t pinned_bytes_ = 0;  // of the evaluated values this node reads
  PendingList* list_ = nullptr;    // while pending
  Node* previous_ = nullptr;
  Node* next_ = nullptr;
};

/// The number of a new walk, to compare marks with, so that no mark is ever cleared. The launch
/// lock is held.
std::uint64_t next_walk();

/// Records a node on this thread. It is differentiable where `spec.differentiable`, gradients are
/// enabled and the dtype is floating.
NodeRef record(const NodeSpec& spec);

/// Records a leaf: with a value it is evaluated from the start; without, `input` is pending.
NodeRef record_leaf(Op op, DType dtype, const Shape& shape, NodeRef input, Value value,
                    bool requires_grad, Where where);

/// The pending nodes this thread has recorded and something outside the graph refers to, oldest
/// first. Evaluation samples this once.
std::vector<NodeRef> pending_with_handles();

/// What this thread has recorded and nobody has evaluated yet.
struct PendingSize {
  std::int64_t nodes = 0;
  std::int64_t pinned_bytes = 0;  ///< of the evaluated values they read, each counted by reader
};
PendingSize pending_size();

}  // namespace sinter
