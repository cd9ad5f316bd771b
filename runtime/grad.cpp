#include "runtime/grad.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "runtime/autocast.h"
#include "runtime/composites.h"
#include "runtime/creation.h"
#include "runtime/elementwise.h"
#include "runtime/evaluate.h"
#include "runtime/gradients.h"
#include "runtime/modes.h"
#include "runtime/record.h"
#include "runtime/reductions.h"
#include "runtime/results.h"
#include "runtime/slice_gradients.h"
#include "runtime/views.h"

namespace sinter {
namespace {

/// One node on the way from the outputs to what is asked for. What evaluation on another thread may
/// take away is copied under the launch lock.
struct Stop {
  NodeRef node;
  std::vector<NodeRef> inputs;
  std::size_t results = 1;        // of a node that still has its inputs
  bool released = false;          // whether an evaluation has cut the way down
  bool leads = false;             // whether something asked for lies below
  std::vector<Tensor> gradients;  // one for each result
  SliceGradients slices;          // of result 0, not yet added
};

class ReverseWalk {
 public:
  /// Nodes recorded before `first_order` are not walked through.
  ReverseWalk(const std::vector<Tensor>& outputs, const std::vector<Tensor>& wrt,
              std::uint64_t first_order = 0) {
    const LaunchLock lock;
    collect(outputs, first_order);
    for (const Tensor& tensor : wrt) {
      const auto found = places_.find(tensor.node());
      if (found != places_.end()) stops_[found->second].leads = true;
    }
    for (Stop& stop : stops_) {
      for (const NodeRef& input : stop.inputs) {
        const auto found = places_.find(input.get());
        if (found != places_.end() && stops_[found->second].leads) stop.leads = true;
      }
    }
  }

  /// Lets the next evaluation drop the history that the gradients were taken through.
  void mark_differentiated() {
    const LaunchLock lock;
    for (Stop& stop : stops_)
      if (stop.leads && !stop.inputs.empty()) stop.node->differentiated = true;
  }

  bool leads_to(const Tensor& tensor) const { return places_.contains(tensor.node()); }

  /// The first node recorded after `wrt` at which the way down was cut by an earlier evaluation.
  const Node* cut_by_evaluation(const Tensor& wrt) const {
    for (const Stop& stop : stops_) {
      const Node& node = *stop.node;
      const bool may_depend = wrt.requires_grad() ? node.requires_grad : node.tracked;
      if (stop.released && may_depend && node.order > wrt.node()->order) return &node;
    }
    return nullptr;
  }

  /// The first node recorded after `wrt` that belongs to a gradient taken without create_graph.
  const Node* cut_by_gradient(const Tensor& wrt) const {
    for (const Stop& stop : stops_) {
      const Node& node = *stop.node;
      if (!node.tracked && node.region.backward && node.order > wrt.node()->order) return &node;
    }
    return nullptr;
  }

  void add_gradient(const Tensor& output, const Tensor& gradient, Where at) {
    const auto found = places_.find(output.node());
    if (found != places_.end()) accumulate(stops_[found->second], 0, gradient, at);
  }

  /// Pushes gradients from the outputs down, in reverse order of recording.
  void run() {
    const NoAutocast exact;  // gradients follow the dtypes of what was recorded
    for (std::size_t i = stops_.size(); i-- > 0;) {
      Stop& stop = stops_[i];
      if (!stop.slices.empty())
        for (const Tensor& gradient : stop.slices.take(stop.node->shape))
          accumulate(stop, 0, gradient, stop.node->where);
      const bool reached = std::any_of(stop.gradients.begin(), stop.gradients.end(),
                                       [](const Tensor& g) { return g.defined(); });
      if (stop.leads && reached && !stop.inputs.empty()) push_down(stop);
    }
  }

  Tensor gradient_of(const Tensor& wrt) const {
    const auto found = places_.find(wrt.node());
    if (found == places_.end() || stops_[found->second].gradients.empty()) return {};
    return stops_[found->second].gradients[0];
  }

 private:
  void collect(const std::vector<Tensor>& outputs, std::uint64_t first_order) {
    const std::uint64_t walk = next_walk();
    std::vector<Node*> nodes;
    const auto visit = [&](Node* node) {
      if (node->mark == walk) return;
      node->mark = walk;
      nodes.push_back(node);
    };
    const auto walked = [&](const Node* node) {
      return node->tracked && node->order >= first_order;
    };
    for (const Tensor& output : outputs) visit(output.node());
    for (std::size_t next = 0; next < nodes.size(); ++next)
      if (walked(nodes[next]))
        for (const NodeRef& input : nodes[next]->inputs()) visit(input.get());
    std::sort(nodes.begin(), nodes.end(),
              [](const Node* a, const Node* b) { return a->order < b->order; });
    stops_.reserve(nodes.size());
    for (Node* node : nodes) {
      places_.emplace(node, stops_.size());
      Stop& stop = stops_.emplace_back();
      stop.node = NodeRef(node);
      stop.released = node->released();
      if (!walked(node) || node->inputs().empty()) continue;
      stop.inputs.assign(node->inputs().begin(), node->inputs().end());
      stop.results = result_count(*node);
    }
  }

  static void accumulate(Stop& stop, std::size_t result, const Tensor& gradient, Where at) {
    if (stop.gradients.size() <= result) stop.gradients.resize(std::max(stop.results, result + 1));
    Tensor& sum = stop.gradients[result];
    sum = sum.defined() ? add(sum, gradient, at) : gradient;
  }

  void push_down(Stop& stop) {
    const Node& node = *stop.node;
    const BackwardRegion region(node.region);
    const CallScope call(node.user);  // derivatives name the line of what they are taken of
    if (node.op == Op::pick) {
      Stop& source = stops_[places_.at(stop.inputs[0].get())];
      accumulate(source, static_cast<std::size_t>(node.fixed()[0]), stop.gradients[0], node.where);
      return;
    }
    if (node.op == Op::slice) {
      stops_[places_.at(stop.inputs[0].get())].slices.add(stop.node, stop.gradients[0]);
      return;
    }
    std::vector<Tensor> inputs;
    std::vector<std::uint8_t> wanted;
    for (const NodeRef& input : stop.inputs) {
      inputs.emplace_back(input);
      wanted.push_back(stops_[places_.at(input.get())].leads && is_floating(input->dtype));
    }
    const std::vector<Tensor> gradients = differentiate(stop, inputs, wanted);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!wanted[i] || !gradients[i].defined()) continue;
      const Tensor fitted = in_dtype(sum_to(gradients[i], inputs[i].shape(), node.where),
                                     inputs[i].dtype(), node.where);
      accumulate(stops_[places_.at(stop.inputs[i].get())], 0, fitted, node.where);
    }
  }

  static std::vector<Tensor> differentiate(const Stop& stop, const std::vector<Tensor>& inputs,
                                           const std::vector<std::uint8_t>& wanted);

  std::vector<Stop> stops_;
  std::unordered_map<const Node*, std::size_t> places_;
};

/// The rule of the op, or of what it is composed of.
std::vector<Tensor> ReverseWalk::differentiate(const Stop& stop, const std::vector<Tensor>& inputs,
                                               const std::vector<std::uint8_t>& wanted) {
  const Node& node = *stop.node;
  if (const GradientRule rule = gradient_rule(node.op)) {
    static_assert(sizeof(bool) == 1);
    const std::span<const bool> flags(reinterpret_cast<const bool*>(wanted.data()), wanted.size());
    return rule({node, inputs, stop.gradients, flags, Tensor(stop.node), node.where});
  }
  if (!has_decomposition(node.op)) return {};

  std::vector<Tensor> parts;
  std::uint64_t first_order = 0;
  {
    const EnableGrad tracked;
    // The first node of the decomposition bounds the walk: the inputs are where it ends.
    first_order = zeros({}, f32, node.where).node()->order;
    parts = decompose(node, inputs, node.where);
  }
  ReverseWalk inner(parts, inputs, first_order);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (stop.gradients[i].defined()) inner.add_gradient(parts[i], stop.gradients[i], node.where);
  inner.run();
  std::vector<Tensor> gradients;
  for (const Tensor& input : inputs) gradients.push_back(inner.gradient_of(input));
  return gradients;
}

void check_wrt(const ReverseWalk& walk, const std::vector<Tensor>& wrt, Where at) {
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (walk.leads_to(wrt[i])) continue;
    if (const Node* cut = walk.cut_by_evaluation(wrt[i]))
      usage_error(
          "grad",
          fmt::format(
              "the way to tensor {} of wrt is cut at {} ({}): its value was computed "
              "and no gradient was expected through it any more; take the gradient "
              "before the value is read, or {}",
              i, to_string(cut->op), to_string(cut->user),
              wrt[i].requires_grad() ? "all gradients at once" : "make the tensor a Variable"),
          at);
    if (const Node* cut = walk.cut_by_gradient(wrt[i]))
      usage_error(
          "grad",
          fmt::format("the way to tensor {} of wrt ends in the gradient of {} ({}), which was "
                      "taken without create_graph",
                      i, to_string(cut->op), to_string(cut->user)),
          at);
  }
}

}  // namespace

Tensor sum_to(const Tensor& g, const Shape& shape, Where at) {
  if (g.shape() == shape) return g;
  Dims axes;
  const int added = g.rank() - shape.rank();
  for (int i = 0; i < g.rank(); ++i)
    if (i < added || (shape[i - added] == 1 && g.shape()[i] != 1)) axes.push_back(i);
  const Tensor summed = axes.empty() ? g : sum(g, axes, true, at);
  return summed.shape() == shape ? summed : reshape(summed, shape, at);
}

std::vector<Tensor> vjp(const std::vector<Tensor>& outputs, const std::vector<Tensor>& cotangents,
                        const std::vector<Tensor>& wrt, const GradOptions& options, Where at) {
  if (outputs.size() != cotangents.size())
    usage_error("vjp", fmt::format("{} outputs, {} gradients", outputs.size(), cotangents.size()),
                at);
  for (const Tensor& tensor : wrt) require_defined("grad", tensor, at);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    require_defined("vjp", outputs[i], at);
    require_defined("vjp", cotangents[i], at);
    if (!(outputs[i].shape() == cotangents[i].shape()) ||
        outputs[i].dtype() != cotangents[i].dtype())
      usage_error("vjp",
                  fmt::format("output {} is {}, its gradient {}", i, describe(outputs[i]),
                              describe(cotangents[i])),
                  at);
  }
  ReverseWalk walk(outputs, wrt);
  check_wrt(walk, wrt, at);
  std::optional<NoGrad> no_grad;
  if (!options.create_graph) no_grad.emplace();
  for (std::size_t i = 0; i < outputs.size(); ++i) walk.add_gradient(outputs[i], cotangents[i], at);
  walk.run();
  std::vector<Tensor> gradients;
  for (const Tensor& tensor : wrt) gradients.push_back(walk.gradient_of(tensor));
  // Only now: after an error the same gradients may be asked for again.
  if (!options.create_graph) walk.mark_differentiated();
  return gradients;
}

std::vector<Tensor> grad(const Tensor& loss, const std::vector<Tensor>& wrt,
                         const GradOptions& options, Where at) {
  require_defined("grad", loss, at);
  if (loss.element_count() != 1 || !is_floating(loss.dtype()))
    usage_error("grad", "the loss must be one floating number, not " + describe(loss), at);
  return vjp({loss}, {ones(loss.shape(), loss.dtype(), at)}, wrt, options, at);
}

std::vector<Tensor> grad(const Tensor& loss, const std::vector<Variable>& wrt,
                         const GradOptions& options, Where at) {
  std::vector<Tensor> values;
  values.reserve(wrt.size());
  for (const Variable& variable : wrt) values.push_back(variable.value(at));
  return grad(loss, values, options, at);
}

}  // namespace sinter
