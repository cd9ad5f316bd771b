#include "runtime/graph.h"

#include <exception>
#include <mutex>
#include <new>
#include <vector>

#include "runtime/modes.h"

namespace sinter {
namespace {

std::atomic<std::uint64_t> next_order{1};

/// Held for a few instructions at a time: a list link or unlink. Nobody is woken, which is a system
/// call, but where somebody waits.
class SpinLock {
 public:
  void lock() {
    std::uint32_t expected = free;
    if (state_.compare_exchange_strong(expected, held, std::memory_order_acquire)) return;
    while (state_.exchange(waited_for, std::memory_order_acquire) != free) state_.wait(waited_for);
  }
  void unlock() {
    if (state_.exchange(free, std::memory_order_release) == waited_for) state_.notify_one();
  }

 private:
  static constexpr std::uint32_t free = 0, held = 1, waited_for = 2;
  std::atomic<std::uint32_t> state_{free};
};

}  // namespace

/// The pending nodes of one thread in order of recording. It outlives its thread while nodes are
/// on it.
class PendingList {
 public:
  void link(Node* node) {
    const std::lock_guard lock(lock_);
    node->list_ = this;
    node->previous_ = last_;
    (last_ ? last_->next_ : first_) = node;
    last_ = node;
    ++size_.nodes;
    size_.pinned_bytes += node->pinned_bytes_;
  }

  static void unlink(Node* node) {
    PendingList* list = std::exchange(node->list_, nullptr);
    if (!list) return;
    bool unused = false;
    {
      const std::lock_guard lock(list->lock_);
      (node->previous_ ? node->previous_->next_ : list->first_) = node->next_;
      (node->next_ ? node->next_->previous_ : list->last_) = node->previous_;
      node->previous_ = node->next_ = nullptr;
      list->size_.pinned_bytes -= node->pinned_bytes_;
      unused = --list->size_.nodes == 0 && list->orphaned_;
    }
    if (unused) delete list;
  }

  /// The thread has ended.
  void orphan() {
    bool unused = false;
    {
      const std::lock_guard lock(lock_);
      orphaned_ = true;
      unused = size_.nodes == 0;
    }
    if (unused) delete this;
  }

  std::vector<NodeRef> with_handles() {
    std::vector<NodeRef> nodes;
    const std::lock_guard lock(lock_);
    for (Node* node = first_; node; node = node->next_) {
      // A node whose last reference is being dropped elsewhere is still linked: it must not be
      // brought back to life.
      std::uint64_t counts = node->counts_.load(std::memory_order_acquire);
      while ((counts >> 32) != 0) {
        if (node->counts_.compare_exchange_weak(counts, counts + 1, std::memory_order_acq_rel)) {
          nodes.push_back(NodeRef::adopt(node));
          break;
        }
      }
    }
    return nodes;
  }

  PendingSize size() {
    const std::lock_guard lock(lock_);
    return size_;
  }

 private:
  SpinLock lock_;
  Node* first_ = nullptr;
  Node* last_ = nullptr;
  PendingSize size_;
  bool orphaned_ = false;
};

namespace {

PendingList& thread_list() {
  struct Owner {
    PendingList* list = new PendingList;
    ~Owner() { list->orphan(); }
  };
  thread_local Owner owner;
  return *owner.list;
}

}  // namespace

Node::Node(const NodeSpec& spec, bool is_tracked, bool is_requires_grad)
    : op(spec.op),
      dtype(spec.dtype),
      shape(spec.shape),
      where(spec.where),
      user(CallScope::outermost(spec.where)),
      order(next_order.fetch_add(1, std::memory_order_relaxed)),
      region(current_region()),
      tracked(is_tracked),
      requires_grad(is_requires_grad),
      payload(spec.payload),
      input_count_(static_cast<std::uint32_t>(spec.inputs.size())),
      allocated_inputs_(input_count_),
      fixed_count_(static_cast<std::uint32_t>(spec.fixed.size())),
      slot_count_(static_cast<std::uint32_t>(spec.slots.size())) {
  for (std::size_t i = 0; i < spec.inputs.size(); ++i)
    new (inputs_begin() + i) NodeRef(spec.inputs[i]);
  for (std::size_t i = 0; i < spec.fixed.size(); ++i) fixed_begin()[i] = spec.fixed[i];
  for (std::size_t i = 0; i < spec.slots.size(); ++i) slots_begin()[i] = spec.slots[i];
}

Node* Node::allocate(const NodeSpec& spec, bool is_tracked, bool is_requires_grad) {
  static_assert(alignof(Node) >= alignof(NodeRef) && sizeof(NodeRef) == 8 && sizeof(Slot) == 8);
  const std::size_t bytes =
      sizeof(Node) + 8 * (spec.inputs.size() + spec.fixed.size() + spec.slots.size());
  void* memory = ::operator new(bytes);
  return new (memory) Node(spec, is_tracked, is_requires_grad);
}

void Node::destroy(Node* node) {
  // The nodes whose last reference has gone, linked through next_. Dropping one may add more; the
  // nested calls only add to the list, so a chain of a million nodes needs no stack. Nothing here
  // has a destructor: tensors of static duration end after the thread's own objects.
  thread_local Node* dead = nullptr;
  thread_local bool running = false;
  PendingList::unlink(node);
  node->next_ = dead;
  dead = node;
  if (running) return;
  running = true;
  while (dead) {
    Node* next = std::exchange(dead, dead->next_);
    next->release_inputs();
    next->~Node();
    ::operator delete(next);
  }
  running = false;
}

void Node::release_inputs() {
  const std::uint32_t count = std::exchange(input_count_, 0);
  for (std::uint32_t i = 0; i < count; ++i) inputs_begin()[i] = NodeRef();
  if (count != 0 && tracked) released_ = true;
}

void Node::set_value(Value value) noexcept {
  value_ = std::move(value);
  PendingList::unlink(this);
  state_.store(NodeState::evaluated, std::memory_order_release);
}

void Node::set_failed(std::exception_ptr failure) noexcept {
  failure_ = std::move(failure);
  PendingList::unlink(this);
  state_.store(NodeState::failed, std::memory_order_release);
}

std::uint64_t next_walk() {
  static std::uint64_t walk = 0;
  return ++walk;
}

namespace {

/// What evaluated inputs keep in memory; one that several nodes read counts for each.
std::int64_t bytes_of_evaluated(std::span<const NodeRef> inputs) {
  std::int64_t bytes = 0;
  for (const NodeRef& input : inputs)
    if (input->state() == NodeState::evaluated && input->value())
      bytes += static_cast<std::int64_t>(input->value().storage->bytes());
  return bytes;
}

}  // namespace

NodeRef record(const NodeSpec& spec) {
  check_shape(spec.call.empty() ? to_string(spec.op) : spec.call, spec.shape, spec.where);
  bool tracked = spec.differentiable && is_floating(spec.dtype) && grad_enabled();
  bool requires_grad = false;
  if (tracked)
    for (const NodeRef& input : spec.inputs) requires_grad |= input->requires_grad;
  Node* node = Node::allocate(spec, tracked, requires_grad);
  NodeRef reference(node);
  node->pinned_bytes_ = bytes_of_evaluated(spec.inputs);
  thread_list().link(node);
  return reference;
}

NodeRef record_leaf(Op op, DType dtype, const Shape& shape, NodeRef input, Value value,
                    bool requires_grad, Where where) {
  const std::span<const NodeRef> inputs(&input, input ? 1 : 0);
  const NodeSpec spec{.op = op, .dtype = dtype, .shape = shape, .inputs = inputs, .where = where};
  Node* node = Node::allocate(spec, false, requires_grad);
  NodeRef reference(node);
  if (value) {
    node->set_value(std::move(value));
  } else {
    thread_list().link(node);
  }
  return reference;
}

std::vector<NodeRef> pending_with_handles() { return thread_list().with_handles(); }

PendingSize pending_size() { return thread_list().size(); }

}  // namespace sinter
