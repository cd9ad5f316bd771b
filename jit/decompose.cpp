#include "jit/decompose.h"

#include <algorithm>

#include "runtime/autocast.h"
#include "runtime/composites.h"
#include "runtime/modes.h"
#include "runtime/tensor.h"

namespace sinter::jit {
namespace {

bool passes_on(Op op) {
  return op == Op::detach || op == Op::custom_gradient || op == Op::variable;
}

/// Whether all axes after `axis` have one element, so that lines along it are rows.
bool is_last(const Shape& shape, std::int64_t axis) {
  for (int i = static_cast<int>(axis) + 1; i < shape.rank(); ++i)
    if (shape[i] != 1) return false;
  return true;
}

/// Whether the parts of the node can become one kernel.
bool is_taken_apart(const Node& node) {
  if (info(node.op).kind != OpKind::composite) return false;
  for (const NodeRef& input : node.inputs())
    if (element_count(input->shape) == 0) return false;
  switch (node.op) {
    case Op::softmax:
    case Op::log_softmax:
    case Op::softmax_grad:
    case Op::log_softmax_grad: return is_last(node.shape, node.fixed()[0]);
    default: return true;
  }
}

class Decomposition {
 public:
  explicit Decomposition(const Trace& trace) : trace_(trace), walk_(next_walk()) {
    for (Node* node : trace.leaves) node->mark = walk_;
    for (Node* node : trace.steps) node->mark = walk_;
    parts_.resize(trace.steps.size());
  }

  Primitives run() {
    const NoGrad no_grad;
    const NoAutocast no_autocast;
    for (std::uint32_t i = 0; i < trace_.steps.size(); ++i) {
      origin_ = i;
      result_.value_of.push_back(add_step(i));
    }
    result_.first_operand.push_back(static_cast<std::uint32_t>(result_.operands.size()));
    for (const NodeRef& node : result_.made) {  // what is left are attributes
      node->set_value({});
      node->release_inputs();
    }
    return std::move(result_);
  }

 private:
  Operand add_step(std::uint32_t i) {
    Node* node = trace_.steps[i];
    if (passes_on(node->op) && !node->inputs().empty()) return operand(node->input(0).get());
    if (node->op == Op::pick) {
      const auto& parts = parts_[node->input(0)->index];
      if (!parts.empty()) return parts[static_cast<std::size_t>(node->fixed()[0])];
    }
    if (!is_taken_apart(*node)) return add(node, true);
    parts_[i] = take_apart(*node);
    return parts_[i].front();
  }

  /// What has the value of a node: of the trace, or made before.
  Operand operand(const Node* node) const {
    const bool of_trace = node->mark == walk_;
    if (of_trace && node->state() != NodeState::pending) return Operand::of_leaf(node->index);
    return of_trace ? result_.value_of[node->index] : made_[node->index];
  }

  Operand add(const Node* node, bool whole) {
    result_.first_operand.push_back(static_cast<std::uint32_t>(result_.operands.size()));
    for (const NodeRef& input : node->inputs()) result_.operands.push_back(operand(input.get()));
    result_.steps.push_back({node, origin_, whole});
    return Operand::of_step(static_cast<std::uint32_t>(result_.steps.size() - 1));
  }

  /// What has each result of a composite, after its parts have become primitives.
  std::vector<Operand> take_apart(const Node& node) {
    std::vector<Tensor> inputs;
    for (const NodeRef& input : node.inputs()) inputs.emplace_back(input);
    const std::vector<Tensor> results = decompose(node, inputs, node.where);
    add_made(results);
    std::vector<Operand> operands;
    for (const Tensor& result : results) operands.push_back(operand(result.node()));
    return operands;
  }

  void add_made(const std::vector<Tensor>& results) {
    const std::uint64_t walk = next_walk();
    std::vector<Node*> found;
    const auto visit = [&](Node* node) {
      const bool known = node->mark == walk_ || node->mark == walk || is_made(node);
      if (known) return;
      node->mark = walk;
      found.push_back(node);
    };
    for (const Tensor& result : results) visit(result.node());
    for (std::size_t next = 0; next < found.size(); ++next)
      for (const NodeRef& input : found[next]->inputs()) visit(input.get());
    std::sort(found.begin(), found.end(),
              [](const Node* a, const Node* b) { return a->order < b->order; });
    for (Node* node : found) {
      const Operand value = add_part(node);
      result_.made.emplace_back(node);
      node->index = static_cast<std::uint32_t>(made_.size());
      node->mark = made_walk_;
      made_.push_back(value);
    }
  }

  bool is_made(const Node* node) const { return node->mark == made_walk_; }

  Operand add_part(Node* node) {
    if (passes_on(node->op)) return operand(node->input(0).get());
    if (is_taken_apart(*node)) return take_apart(*node).front();
    return add(node, false);
  }

  const Trace& trace_;
  const std::uint64_t walk_;
  const std::uint64_t made_walk_ = next_walk();
  std::uint32_t origin_ = 0;
  std::vector<std::vector<Operand>> parts_;  // the results of each step that was taken apart
  std::vector<Operand> made_;                // by the index of a made node
  Primitives result_;
};

}  // namespace

Primitives decompose_trace(const Trace& trace) { return Decomposition(trace).run(); }

}  // namespace sinter::jit
