#include "runtime/foreach.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "runtime/foreach_body.h"
#include "runtime/modes.h"
#include "runtime/record.h"
#include "runtime/results.h"
#include "runtime/word_hash.h"

namespace sinter {

DType ForeachTrace::dtype_of_value(int value) const {
  const auto i = [](int index) { return static_cast<std::size_t>(index); };
  if (value < first_shared()) return list_dtypes[i(value)];
  if (value < first_number()) return shared_dtypes[i(value - first_shared())];
  if (value < first_step()) return number_dtypes[i(value - first_number())];
  return steps[i(value - first_step())].dtype;
}

bool ForeachTrace::same_program(const Payload& other) const {
  const auto* body = dynamic_cast<const ForeachTrace*>(&other);
  if (!body) return false;
  const auto same_step = [](const ForeachStep& a, const ForeachStep& b) {
    return a.op == b.op && a.dtype == b.dtype && a.operands == b.operands && a.compute == b.compute;
  };
  return lists == body->lists && list_dtypes == body->list_dtypes &&
         shared_dtypes == body->shared_dtypes && number_dtypes == body->number_dtypes &&
         results == body->results &&
         std::equal(steps.begin(), steps.end(), body->steps.begin(), body->steps.end(), same_step);
}

std::uint64_t ForeachTrace::fingerprint() const {
  WordHash hash;
  hash.add(lists);
  for (const DType dtype : list_dtypes) hash.add(dtype);
  for (const DType dtype : shared_dtypes) hash.add(dtype);
  for (const DType dtype : number_dtypes) hash.add(dtype);
  for (const ForeachStep& step : steps) {
    hash.add(step.op);
    hash.add(step.dtype);
    for (const int operand : step.operands) hash.add(operand);
  }
  for (const int result : results) hash.add(result);
  return hash.value();
}

namespace {

constexpr std::string_view name = "foreach_map";

void check_lists(const std::vector<std::vector<Tensor>>& lists, Where at) {
  if (lists.empty()) usage_error(name, "no lists", at);
  for (std::size_t list = 0; list < lists.size(); ++list) {
    if (lists[list].size() != lists[0].size())
      usage_error(name,
                  fmt::format("list {} has {} tensors, list 0 has {}", list, lists[list].size(),
                              lists[0].size()),
                  at);
    for (const Tensor& tensor : lists[list]) {
      require_defined(name, tensor, at);
      if (tensor.dtype() != lists[list][0].dtype())
        usage_error(name,
                    fmt::format("list {} has both {} and {}", list,
                                to_string(lists[list][0].dtype()), to_string(tensor.dtype())),
                    at);
    }
  }
  for (std::size_t i = 0; i < lists[0].size(); ++i) {
    Shape shape;
    for (std::size_t list = 0; list < lists.size(); ++list) {
      const Shape& own = lists[list][i].shape();
      if (!own.empty() && !shape.empty() && !(own == shape))
        usage_error(name,
                    fmt::format("position {}: list {} has shape {}, another {}", i, list,
                                to_string(own), to_string(shape)),
                    at);
      if (!own.empty()) shape = own;
    }
  }
}

/// Reads what the body recorded into a ForeachTrace.
class BodyReader {
 public:
  BodyReader(const std::vector<Tensor>& stand_ins, Where at)
      : stand_ins_(stand_ins), at_(at), trace_(std::make_shared<ForeachTrace>()) {
    trace_->lists = static_cast<int>(stand_ins.size());
    for (const Tensor& stand_in : stand_ins) {
      numbers_.emplace(stand_in.node(), static_cast<int>(trace_->list_dtypes.size()));
      trace_->list_dtypes.push_back(stand_in.dtype());
    }
  }

  void read(const std::vector<Tensor>& results) {
    const std::vector<Node*> nodes = collect(results);
    for (Node* node : nodes) classify(node);
    for (const Tensor& result : results) classify_operand(result.node());
    assign_numbers();
    for (const Node* node : steps_) trace_->steps.push_back(step_of(*node));
    for (const Tensor& result : results) trace_->results.push_back(numbers_.at(result.node()));
  }

  const std::shared_ptr<ForeachTrace>& trace() const { return trace_; }
  const std::vector<NodeRef>& shared() const { return shared_; }
  const std::vector<Slot>& slots() const { return slots_; }

 private:
  /// What the results depend on, from the first stand-in on, in order of recording.
  std::vector<Node*> collect(const std::vector<Tensor>& results) const {
    const std::uint64_t first = stand_ins_.front().node()->order;
    std::vector<Node*> nodes;
    std::unordered_map<const Node*, bool> seen;
    const auto visit = [&](Node* node) {
      if (node->order >= first && seen.emplace(node, true).second) nodes.push_back(node);
    };
    for (const Tensor& result : results) visit(result.node());
    for (std::size_t next = 0; next < nodes.size(); ++next)
      for (const NodeRef& input : nodes[next]->inputs()) visit(input.get());
    std::sort(nodes.begin(), nodes.end(),
              [](const Node* a, const Node* b) { return a->order < b->order; });
    return nodes;
  }

  bool varies(const Node* node) const { return numbers_.contains(node) || varying_.contains(node); }

  void classify(Node* node) {
    const bool depends = std::any_of(node->inputs().begin(), node->inputs().end(),
                                     [&](const NodeRef& input) { return varies(input.get()); });
    if (!depends) return;
    if (info(node->op).kind != OpKind::elementwise && node->op != Op::cast)
      usage_error(name,
                  fmt::format("the body uses {}; only elementwise ops and casts may be used",
                              to_string(node->op)),
                  node->where);
    for (const NodeRef& input : node->inputs()) classify_operand(input.get());
    varying_.emplace(node, true);
    steps_.push_back(node);
  }

  /// An operand that is the same at every position: a host number or a shared tensor.
  void classify_operand(Node* node) {
    if (varies(node) || numbers_.contains(node) || outside_.contains(node)) return;
    if (!node->shape.empty())
      usage_error(
          name,
          fmt::format("the body uses a tensor of shape {} from outside", to_string(node->shape)),
          at_);
    outside_.emplace(node, true);
    if (node->op == Op::constant) {
      constants_.push_back(node);
    } else {
      shared_.emplace_back(node);
    }
  }

  void assign_numbers() {
    for (const NodeRef& node : shared_) trace_->shared_dtypes.push_back(node->dtype);
    for (const Node* node : constants_) {
      trace_->number_dtypes.push_back(node->dtype);
      slots_.push_back(node->slots()[0]);
    }
    int next = trace_->first_shared();
    for (const NodeRef& node : shared_) numbers_.emplace(node.get(), next++);
    for (const Node* node : constants_) numbers_.emplace(node, next++);
    for (const Node* node : steps_) numbers_.emplace(node, next++);
  }

  ForeachStep step_of(const Node& node) const {
    ForeachStep step{node.op, node.dtype, {-1, -1, -1}, node.dtype};
    for (std::size_t i = 0; i < node.inputs().size(); ++i)
      step.operands[i] = numbers_.at(node.inputs()[i].get());
    // The condition of a select says nothing about the type of the arithmetic.
    const std::size_t typed = info(node.op).rule == Rule::select ? 1 : 0;
    step.compute = compute_dtype(node.inputs()[typed]->dtype);
    return step;
  }

  const std::vector<Tensor>& stand_ins_;
  Where at_;
  std::shared_ptr<ForeachTrace> trace_;
  std::unordered_map<const Node*, int> numbers_;
  std::unordered_map<const Node*, bool> varying_, outside_;
  std::vector<const Node*> steps_, constants_;
  std::vector<NodeRef> shared_;
  std::vector<Slot> slots_;
};

/// What stands for one position of each list. It has no value: whoever asks for one, or for what
/// was computed from it outside of the node, gets this error, and nobody else does.
std::vector<Tensor> make_stand_ins(const std::vector<std::vector<Tensor>>& lists, Where at) {
  std::exception_ptr failure;
  try {
    usage_error(name, "the value of an operand of the body is not known", at);
  } catch (const UsageError&) {
    failure = std::current_exception();
  }
  std::vector<Tensor> stand_ins;
  for (const std::vector<Tensor>& list : lists) {
    const DType dtype = list.empty() ? DType::f32 : list[0].dtype();
    stand_ins.emplace_back(record_leaf(Op::data, dtype, {}, {}, {}, false, at));
    stand_ins.back().node()->set_failed(failure);
  }
  return stand_ins;
}

}  // namespace

std::vector<std::vector<Tensor>> foreach_map(const ForeachBody& body,
                                             const std::vector<std::vector<Tensor>>& lists,
                                             Where at) {
  if (!body) usage_error(name, "the body is empty", at);
  check_lists(lists, at);
  const NoGrad no_grad;
  const std::vector<Tensor> stand_ins = make_stand_ins(lists, at);
  const std::vector<Tensor> body_results = body(stand_ins);
  for (const Tensor& result : body_results) require_defined(name, result, at);
  const std::size_t length = lists[0].size();
  std::vector<std::vector<Tensor>> results(body_results.size());
  if (length == 0 || body_results.empty()) return results;

  BodyReader reader(stand_ins, at);
  reader.read(body_results);
  std::vector<NodeRef> inputs;
  for (const std::vector<Tensor>& list : lists)
    for (const Tensor& tensor : list) inputs.push_back(tensor.ref());
  inputs.insert(inputs.end(), reader.shared().begin(), reader.shared().end());
  const std::array<std::int64_t, 3> fixed{static_cast<std::int64_t>(lists.size()),
                                          static_cast<std::int64_t>(length),
                                          static_cast<std::int64_t>(body_results.size())};
  Shape first;
  for (const std::vector<Tensor>& list : lists)
    if (!list[0].shape().empty()) first = list[0].shape();
  const NodeRef node = record({.op = Op::foreach_map,
                               .dtype = body_results[0].dtype(),
                               .shape = first,
                               .inputs = inputs,
                               .fixed = fixed,
                               .slots = reader.slots(),
                               .payload = reader.trace(),
                               .differentiable = false,
                               .where = at});
  for (std::size_t i = 0; i < results.size() * length; ++i)
    results[i / length].push_back(pick_result(node, i, at));
  return results;
}

}  // namespace sinter
