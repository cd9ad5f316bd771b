#include "models/adam.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

namespace sinter::models {
namespace {

bool is_narrow(DType dtype) { return dtype == f16 || dtype == bf16; }

/// The dtype of the moments and the arithmetic of a parameter.
DType moment_dtype(DType dtype) { return is_narrow(dtype) ? f32 : dtype; }

void check_options(const AdamOptions& options, Where where) {
  const auto refuse = [&](std::string_view name, double value) {
    usage_error("Adam", fmt::format("{} is {}", name, value), where);
  };
  const auto not_negative = [&](std::string_view name, double value) {
    if (!(value >= 0 && std::isfinite(value))) refuse(name, value);
  };
  const auto below_one = [&](std::string_view name, double value) {
    if (!(value >= 0 && value < 1)) refuse(name, value);
  };
  not_negative("learning_rate", options.learning_rate);
  below_one("beta1", options.beta1);
  below_one("beta2", options.beta2);
  not_negative("epsilon", options.epsilon);
  not_negative("weight_decay", options.weight_decay);
}

void check_gradient(const Variable& parameter, const Tensor& gradient, Where where) {
  if (gradient.shape() == parameter.shape() && is_floating(gradient.dtype())) return;
  usage_error("Adam",
              fmt::format("parameter {} is {} {}, its gradient {} {}", parameter.name(),
                          to_string(parameter.dtype()), to_string(parameter.shape()),
                          to_string(gradient.dtype()), to_string(gradient.shape())),
              where);
}

using Lists = std::vector<std::vector<Tensor>>;

/// For each position: the step count after this step, lr / (1 - beta1^t) and sqrt(1 - beta2^t). In
/// f64, since 1 - beta^t cancels.
Lists count_step(const AdamOptions& options, const std::vector<Tensor>& steps, DType dtype,
                 Where where) {
  return foreach_map(
      [&](const std::vector<Tensor>& operands) -> std::vector<Tensor> {
        const Tensor t = operands[0] + 1.0;
        const Tensor rate = options.learning_rate / (1.0 - pow(options.beta1, t));
        const Tensor root = sqrt(1.0 - pow(options.beta2, t));
        return {t, cast(rate, dtype), cast(root, dtype)};
      },
      {steps}, where);
}

/// The body of the update: operands p, g, first, second, rate, root (and largest with amsgrad) to
/// p, first, second (and largest).
std::vector<Tensor> update_one(const AdamOptions& options, const std::vector<Tensor>& operands) {
  const DType own = operands[0].dtype(), wide = moment_dtype(own);
  Tensor p = cast(operands[0], wide), g = cast(operands[1], wide);
  const Tensor& rate = operands[4];
  const Tensor& root = operands[5];
  if (options.weight_decay != 0) {
    if (options.decoupled) p *= 1.0 - options.learning_rate * options.weight_decay;
    else g += p * options.weight_decay;
  }
  const Tensor first = operands[2] + (g - operands[2]) * (1.0 - options.beta1);
  const Tensor second = operands[3] * options.beta2 + g * g * (1.0 - options.beta2);
  const Tensor largest = options.amsgrad ? maximum(operands[6], second) : second;
  p -= rate * (first / (sqrt(largest) / root + options.epsilon));
  std::vector<Tensor> results{cast(p, own), first, second};
  if (options.amsgrad) results.push_back(largest);
  return results;
}

}  // namespace

struct Adam::Batch {
  std::vector<Variable> parameters;
  std::vector<const Moments*> moments;
  std::vector<Tensor> gradients;
};

Adam::Adam(std::vector<Variable> parameters, const AdamOptions& options, Where where)
    : Adam(std::vector<ParameterGroup>{{std::move(parameters), options}}, where) {}

Adam::Adam(std::vector<ParameterGroup> groups, Where where) : groups_(std::move(groups)) {
  check(where);
  for (const ParameterGroup& group : groups_) {
    std::vector<Moments>& moments = moments_.emplace_back();
    for (const Variable& parameter : group.parameters) {
      const auto fresh = [&](std::string_view what, const Shape& shape, DType dtype) {
        return Variable(zeros(shape, dtype), fmt::format("{}.{}", parameter.name(), what), false);
      };
      const DType dtype = moment_dtype(parameter.dtype());
      Moments& own = moments.emplace_back();
      own.parameter = parameter.name();
      own.first = fresh("first", parameter.shape(), dtype);
      own.second = fresh("second", parameter.shape(), dtype);
      if (group.options.amsgrad) own.largest = fresh("largest", parameter.shape(), dtype);
      own.steps = fresh("steps", {}, f64);
    }
  }
}

void Adam::check(Where where) const {
  std::set<std::uint64_t> seen;
  for (const ParameterGroup& group : groups_) {
    check_options(group.options, where);
    for (const Variable& parameter : group.parameters) {
      if (!parameter.defined()) usage_error("Adam", "a parameter is not defined", where);
      if (!is_floating(parameter.dtype()))
        usage_error(
            "Adam",
            fmt::format("parameter {} is {}", parameter.name(), to_string(parameter.dtype())),
            where);
      if (!seen.insert(parameter.id()).second)
        usage_error("Adam", fmt::format("parameter {} is named twice", parameter.name()), where);
    }
  }
}

void Adam::set_learning_rate(double rate, Where where) {
  check_options({.learning_rate = rate}, where);
  for (ParameterGroup& group : groups_) group.options.learning_rate = rate;
}

void Adam::check_gradients(const std::vector<Tensor>& gradients, Where where) const {
  check(where);
  std::size_t next = 0;
  bool same = groups_.size() == moments_.size();
  for (std::size_t g = 0; same && g < groups_.size(); ++g)
    same = groups_[g].parameters.size() == moments_[g].size();
  if (!same) usage_error("Adam", "parameters were added or removed after it was made", where);
  std::size_t expected = 0;
  for (const ParameterGroup& group : groups_) expected += group.parameters.size();
  if (gradients.size() != expected)
    usage_error("Adam", fmt::format("{} gradients for {} parameters", gradients.size(), expected),
                where);
  for (const ParameterGroup& group : groups_)
    for (const Variable& parameter : group.parameters)
      if (const Tensor& gradient = gradients[next++]; gradient.defined())
        check_gradient(parameter, gradient, where);
}

void Adam::step(const std::vector<Tensor>& gradients, Where where) {
  const CallScope scope(where);
  check_gradients(gradients, where);
  const Region region(region_);
  Updates updates;
  std::size_t next = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    // Lists are of one dtype each: parameters and gradients that differ are updated apart.
    std::map<std::pair<DType, DType>, Batch> batches;
    for (std::size_t i = 0; i < groups_[g].parameters.size(); ++i) {
      const Tensor& gradient = gradients[next++];
      if (!gradient.defined()) continue;
      const Variable& parameter = groups_[g].parameters[i];
      Batch& batch = batches[{parameter.dtype(), gradient.dtype()}];
      batch.parameters.push_back(parameter);
      batch.moments.push_back(&moments_[g][i]);
      batch.gradients.push_back(gradient);
    }
    for (const auto& [dtypes, batch] : batches)
      add_updates(groups_[g].options, batch, where, updates);
  }
  // Only now, when nothing can be refused any more.
  for (const auto& [variable, value] : updates) variable.set(value, where);
}

void Adam::add_updates(const AdamOptions& options, const Batch& batch, Where where,
                       Updates& updates) {
  const auto values = [&](auto member) {
    std::vector<Tensor> list;
    for (const Moments* moments : batch.moments) list.push_back((moments->*member).value());
    return list;
  };
  const DType dtype = moment_dtype(batch.parameters[0].dtype());
  const Lists counts = count_step(options, values(&Moments::steps), dtype, where);
  Lists lists{{batch.parameters.begin(), batch.parameters.end()},
              batch.gradients,
              values(&Moments::first),
              values(&Moments::second),
              counts[1],
              counts[2]};
  if (options.amsgrad) lists.push_back(values(&Moments::largest));
  const Lists updated = foreach_map(
      [&](const std::vector<Tensor>& operands) { return update_one(options, operands); }, lists,
      where);
  for (std::size_t i = 0; i < batch.parameters.size(); ++i) {
    updates.emplace_back(batch.parameters[i], updated[0][i]);
    updates.emplace_back(batch.moments[i]->first, updated[1][i]);
    updates.emplace_back(batch.moments[i]->second, updated[2][i]);
    if (options.amsgrad) updates.emplace_back(batch.moments[i]->largest, updated[3][i]);
    updates.emplace_back(batch.moments[i]->steps, counts[0][i]);
  }
}

std::vector<std::pair<std::string, Variable>> Adam::named_state(Where where) const {
  std::vector<std::pair<std::string, Variable>> all;
  std::set<std::string> names;
  for (const std::vector<Moments>& group : moments_) {
    for (const Moments& own : group) {
      if (own.parameter.empty()) usage_error("Adam", "a parameter has no name", where);
      if (!names.insert(own.parameter).second)
        usage_error("Adam", fmt::format("two parameters have the name {}", own.parameter), where);
      for (const Variable* variable : {&own.first, &own.second, &own.largest, &own.steps})
        if (variable->defined()) all.emplace_back(variable->name(), *variable);
    }
  }
  return all;
}

std::map<std::string, Tensor, std::less<>> Adam::state(Where where) const {
  std::map<std::string, Tensor, std::less<>> all;
  for (const auto& [name, variable] : named_state(where)) all.emplace(name, variable.value());
  return all;
}

void Adam::load_state(const std::map<std::string, Tensor, std::less<>>& state, Where where) {
  const auto wanted = named_state(where);
  for (const auto& [name, variable] : wanted) {
    const auto found = state.find(name);
    if (found == state.end()) usage_error("Adam", "the state has no tensor " + name, where);
    const Tensor& tensor = found->second;
    if (!tensor.defined()) usage_error("Adam", name + " of the state is not defined", where);
    if (tensor.dtype() != variable.dtype() || !(tensor.shape() == variable.shape()))
      usage_error("Adam",
                  fmt::format("{} is {} {}, the state has {} {}", name, to_string(variable.dtype()),
                              to_string(variable.shape()), to_string(tensor.dtype()),
                              to_string(tensor.shape())),
                  where);
  }
  for (const auto& [name, variable] : wanted) variable.set(state.find(name)->second, where);
}

Tensor clip_by_global_norm(std::vector<Tensor>& gradients, double largest, Where where) {
  const CallScope scope(where);
  constexpr std::string_view name = "clip_by_global_norm";
  if (!(largest >= 0)) usage_error(name, fmt::format("the largest norm is {}", largest), where);
  std::vector<Tensor> norms;
  for (const Tensor& gradient : gradients) {
    if (!gradient.defined()) continue;
    if (!is_floating(gradient.dtype()))
      usage_error(name, fmt::format("a gradient is {}", to_string(gradient.dtype())), where);
    norms.push_back(cast(norm(gradient), f32));
  }
  if (norms.empty()) return zeros({});
  Tensor total = norm(stack(norms));
  const Tensor scale = minimum(largest / (total + 1e-6), 1.0);
  std::map<DType, std::vector<std::size_t>> by_dtype;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].defined()) by_dtype[gradients[i].dtype()].push_back(i);
  std::vector<Tensor> clipped(gradients.size());
  for (const auto& [dtype, positions] : by_dtype) {
    std::vector<Tensor> list;
    for (const std::size_t i : positions) list.push_back(gradients[i]);
    const Lists scaled = foreach_map(
        [&](const std::vector<Tensor>& operands) -> std::vector<Tensor> {
          return {cast(operands[0] * scale, operands[0].dtype())};
        },
        {list}, where);
    for (std::size_t i = 0; i < positions.size(); ++i) clipped[positions[i]] = scaled[0][i];
  }
  gradients = std::move(clipped);
  return total;
}

}  // namespace sinter::models
