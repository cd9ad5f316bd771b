/// \file
/// Adam and AdamW over all parameters at once.
///
/// Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015; Loshchilov and Hutter,
/// "Decoupled Weight Decay Regularization", 2019; Reddi et al., "On the Convergence of Adam and
/// Beyond", 2018 (amsgrad). The formula is PyTorch's: epsilon is added to the root of the corrected
/// second moment.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <sinter/sinter.h>

namespace sinter::models {

struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;  ///< AdamW: the decay acts on the parameter, not through the gradient
  bool amsgrad = false;    ///< divides by the largest second moment so far
};

struct ParameterGroup {
  std::vector<Variable> parameters;
  AdamOptions options;
};

class Adam {
 public:
  /// \throws UsageError for options out of range and a parameter that is not floating or named
  /// twice.
  explicit Adam(std::vector<ParameterGroup> groups, Where where = Where::current());
  Adam(std::vector<Variable> parameters, const AdamOptions& options,
       Where where = Where::current());

  /// One step with a gradient for each parameter, in the order of the groups; one that is not
  /// defined leaves its parameter and its step count as they are. Moments and arithmetic are f32
  /// for 16-bit parameters. Nothing is computed before the step's end; all of it or nothing is
  /// done.
  /// \throws UsageError for another number of gradients than of parameters, for a gradient of
  /// another shape or not floating, and for options out of range.
  void step(const std::vector<Tensor>& gradients, Where where = Where::current());

  /// The groups, to change learning rates and the like between steps; that compiles nothing anew.
  /// Their parameters stay as they are.
  std::vector<ParameterGroup>& groups() { return groups_; }
  /// \throws UsageError for a rate that is negative, NaN or infinite.
  void set_learning_rate(double rate, Where where = Where::current());

  /// Moments and step counts by name: `NAME.first`, `NAME.second`, `NAME.steps`, and `NAME.largest`
  /// with amsgrad, NAME being the parameter's. \throws UsageError where a parameter has no name or
  /// that of another one.
  std::map<std::string, Tensor, std::less<>> state(Where where = Where::current()) const;
  /// \throws UsageError likewise, and for a tensor that is missing or of another shape; then
  /// nothing is changed.
  void load_state(const std::map<std::string, Tensor, std::less<>>& state,
                  Where where = Where::current());

 private:
  /// What is kept for one parameter.
  struct Moments {
    std::string parameter;            // its name
    Variable first, second, largest;  // largest: with amsgrad
    Variable steps;                   // f64 []
  };
  struct Batch;  // positions of one group and dtype that are updated together
  using Updates = std::vector<std::pair<Variable, Tensor>>;

  void check(Where where) const;
  void check_gradients(const std::vector<Tensor>& gradients, Where where) const;
  /// Adds what one batch writes.
  static void add_updates(const AdamOptions& options, const Batch& batch, Where where,
                          Updates& updates);
  std::vector<std::pair<std::string, Variable>> named_state(Where where) const;

  std::vector<ParameterGroup> groups_;
  std::vector<std::vector<Moments>> moments_;  // as groups_
  std::uint32_t region_ = new_region();
};

/// Scales the gradients so that their norm, taken over all elements of all of them, is at most
/// `largest`: by min(1, largest / (norm + 1e-6)). Those not defined stay so. Returns the norm
/// before.
/// \throws UsageError for a bound that is negative or NaN and for a gradient that is not floating.
Tensor clip_by_global_norm(std::vector<Tensor>& gradients, double largest,
                           Where where = Where::current());

}  // namespace sinter::models
