#include <algorithm>
#include <cmath>

#include "runtime/ops.h"
#include "tests/op_cases.h"
#include "tests/oracle_functions.h"

namespace sinter::tests {
namespace {

using Tensors = std::vector<Tensor>;
using Arrays = std::vector<Array>;
using Line = std::vector<long double>;

Dims with(Dims index, int axis, std::int64_t place) {
  index[axis] = place;
  return index;
}

/// The line along `axis` through `index`.
Line line_of(const Array& a, const Dims& index, int axis) {
  Line line;
  for (std::int64_t i = 0; i < a.shape[axis]; ++i) line.push_back(a.at(with(index, axis, i)));
  return line;
}

long double log_sum_exp(const Line& line) {
  const long double largest = *std::max_element(line.begin(), line.end());
  long double sum = 0;
  for (const long double x : line) sum += std::exp(x - largest);
  return largest + std::log(sum);
}

/// The index of a matrix of `operand` that belongs to the result's `index`: leading axes broadcast.
Dims matrix_index(const Dims& index, const Shape& operand, std::int64_t row, std::int64_t column) {
  Dims own = operand;
  const int added = index.rank() - operand.rank();
  for (int axis = 0; axis < operand.rank(); ++axis)
    own[axis] = operand[axis] == 1 ? 0 : index[axis + added];
  own[own.rank() - 2] = row;
  own[own.rank() - 1] = column;
  return own;
}

OpCase matmul_case(const char* name, const Shape& a, const Shape& b, const Shape& out) {
  return {.name = name,
          .inputs = {{a}, {b}},
          .run = [](const Tensors& x) { return matmul(x[0], x[1]); },
          .oracle =
              [out](const Arrays& x) {
                return make_array(out, [&](const Dims& index) {
                  const std::int64_t row = index[index.rank() - 2], column = index.back();
                  long double sum = 0;
                  for (std::int64_t k = 0; k < x[0].shape.back(); ++k)
                    sum += x[0].at(matrix_index(index, x[0].shape, row, k)) *
                           x[1].at(matrix_index(index, x[1].shape, k, column));
                  return sum;
                });
              },
          .units = 16,
          .scale = 8,
          .dtypes = {i32, i64, f16, bf16, f32, f64},
          .library = true};
}

Cases softmax_like(bool logarithm) {
  Cases cases;
  const auto add = [&](const char* shape_name, const Shape& shape, int axis) {
    cases.push_back(
        {.name = std::string(logarithm ? "log_softmax of " : "softmax of ") + shape_name,
         .inputs = {{shape}},
         .run =
             [=](const Tensors& x) {
               return logarithm ? log_softmax(x[0], axis) : softmax(x[0], axis);
             },
         .oracle =
             [=](const Arrays& x) {
               Array y(shape);
               for_each(with(shape, axis, 1), [&](const Dims& one) {
                 const Dims start = with(one, axis, 0);
                 const Line line = line_of(x[0], start, axis);
                 const long double normaliser = log_sum_exp(line);
                 for (std::size_t i = 0; i < line.size(); ++i) {
                   const long double below = line[i] - normaliser;
                   y.at(with(start, axis, static_cast<std::int64_t>(i))) =
                       logarithm ? below : std::exp(below);
                 }
               });
               return y;
             },
         .units = 16,
         .scale = logarithm ? 4.0 : 1.0});
  };
  add("rows", {3, 17}, 1);
  add("columns", {5, 3}, 0);
  add("the middle", {2, 7, 3}, 1);
  add("a row of 130", {1, 130}, 1);
  add("nothing", {0, 3}, 1);
  add("single elements", {3, 1}, 1);
  return cases;
}

/// (x - centre) / sqrt(mean square + epsilon) * weight + bias over the last `axes` axes.
Array norm_oracle(const Arrays& x, int axes, bool centred, bool has_weight, bool has_bias,
                  long double epsilon) {
  Array result(x[0].shape);
  std::size_t n = 1;
  for (int i = 0; i < axes; ++i)
    n *= static_cast<std::size_t>(x[0].shape[x[0].shape.rank() - 1 - i]);
  for (std::size_t start = 0; start < result.elements.size(); start += n) {
    long double mean = 0, square = 0;
    for (std::size_t i = 0; i < n && centred; ++i)
      mean += x[0].elements[start + i] / static_cast<long double>(n);
    for (std::size_t i = 0; i < n; ++i)
      square += (x[0].elements[start + i] - mean) * (x[0].elements[start + i] - mean);
    const long double root = std::sqrt(square / static_cast<long double>(n) + epsilon);
    for (std::size_t i = 0; i < n; ++i) {
      long double y = (x[0].elements[start + i] - mean) / root;
      if (has_weight) y *= x[1].elements[i];
      if (has_bias) y += x[2].elements[i];
      result.elements[start + i] = y;
    }
  }
  return result;
}

Cases norms(bool centred) {
  Cases cases;
  const std::string op = centred ? "layer_norm of " : "rms_norm of ";
  const auto add = [&](const char* name, const Shape& shape, const Shape& trailing, bool weight,
                       bool bias) {
    std::vector<Input> inputs{{shape}};
    if (weight) inputs.push_back({trailing, {0.5, 1.5}});
    if (bias) inputs.push_back({trailing});
    cases.push_back({.name = op + name,
                     .inputs = inputs,
                     .run =
                         [=](const Tensors& x) {
                           const Tensor w = weight ? x[1] : Tensor(), b = bias ? x[2] : Tensor();
                           return centred ? layer_norm(x[0], w, b, 0x1p-10)
                                          : rms_norm(x[0], w, 0x1p-10);
                         },
                     .oracle =
                         [=](const Arrays& x) {
                           return norm_oracle(x, trailing.rank(), centred, weight, bias, 0x1p-10L);
                         },
                     .units = 16,
                     .scale = 8});
  };
  add("rows", {3, 17}, {17}, true, centred);
  add("rows without weight", {4, 9}, {9}, false, false);
  add("a row of 130", {2, 130}, {130}, true, false);
  add("no rows", {0, 5}, {5}, true, centred);
  return cases;
}

struct Loss {
  Reduction reduction;
  double smoothing;
  bool weighted;
};

/// Target 2 is the one that is ignored.
Array cross_entropy_oracle(const Arrays& x, const Loss& loss) {
  const std::int64_t classes = x[0].shape.back();
  const auto weight = [&](std::int64_t j) { return loss.weighted ? x[2].at({j}) : 1.0L; };
  Array losses(x[1].shape);
  long double total = 0, total_weight = 0;
  for_each(x[1].shape, [&](const Dims& row) {
    const auto target = static_cast<std::int64_t>(x[1].at(row));
    if (target == 2) return;
    Dims first = row;
    first.push_back(0);
    const Line line = line_of(x[0], first, row.rank());
    const long double normaliser = log_sum_exp(line);
    long double smooth = 0;
    for (std::int64_t j = 0; j < classes; ++j)
      smooth += weight(j) * (line[static_cast<std::size_t>(j)] - normaliser);
    const long double plain =
        weight(target) * (line[static_cast<std::size_t>(target)] - normaliser);
    losses.at(row) = -((1 - loss.smoothing) * plain +
                       loss.smoothing / static_cast<long double>(classes) * smooth);
    total += losses.at(row);
    total_weight += weight(target);
  });
  if (loss.reduction == Reduction::none) return losses;
  Array result{Shape{}};
  result.elements[0] = loss.reduction == Reduction::mean ? total / total_weight : total;
  return result;
}

OpCase cross_entropy_case(const char* name, const Shape& targets, std::int64_t classes,
                          const Loss& loss) {
  Shape logits = targets;
  logits.push_back(classes);
  std::vector<Input> inputs{{logits},
                            {targets, {0, static_cast<double>(classes - 1)}, Kind::index}};
  if (loss.weighted) inputs.push_back({{classes}, {0.5, 1.5}, Kind::constant});
  return {.name = name,
          .inputs = inputs,
          .run =
              [loss](const Tensors& x) {
                return cross_entropy(x[0], x[1],
                                     {.reduction = loss.reduction,
                                      .ignore_index = 2,
                                      .label_smoothing = loss.smoothing,
                                      .weight = loss.weighted ? x[2] : Tensor()});
              },
          .oracle = [loss](const Arrays& x) { return cross_entropy_oracle(x, loss); },
          .units = 32,
          .scale = 8};
}

struct AttentionCase {
  const char* name;
  Shape q, k, v, mask;
  bool causal, additive;
};

Array attention_oracle(const Arrays& x, const AttentionCase& of) {
  const Array &q = x[0], &k = x[1], &v = x[2];
  const std::int64_t group = of.q[1] / of.k[1];
  Array out({of.q[0], of.q[1], of.q[2], of.v[3]});
  for_each({of.q[0], of.q[1], of.q[2]}, [&](const Dims& at) {
    std::vector<std::int64_t> seen;
    Line scores;
    for (std::int64_t j = 0; j < of.k[2]; ++j) {
      if (of.causal && j > at[2]) continue;
      long double score = 0;
      for (std::int64_t c = 0; c < of.q[3]; ++c)
        score += q.at({at[0], at[1], at[2], c}) * k.at({at[0], at[1] / group, j, c});
      score /= std::sqrt(static_cast<long double>(of.q[3]));
      if (!of.mask.empty()) {
        const long double given = x[3].at(matrix_index({at[0], at[1], at[2], j}, of.mask,
                                                       of.mask[of.mask.rank() - 2] == 1 ? 0 : at[2],
                                                       of.mask.back() == 1 ? 0 : j));
        if (of.additive) score += given;
        else if (given == 0) continue;
      }
      seen.push_back(j);
      scores.push_back(score);
    }
    const long double normaliser = scores.empty() ? 0 : log_sum_exp(scores);
    for (std::size_t s = 0; s < seen.size(); ++s) {
      const long double weight = std::exp(scores[s] - normaliser);
      for (std::int64_t c = 0; c < of.v[3]; ++c)
        out.at({at[0], at[1], at[2], c}) += weight * v.at({at[0], at[1] / group, seen[s], c});
    }
  });
  return out;
}

const std::vector<AttentionCase> attention_table = {
    {"attention", {2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 4}, {}, false, false},
    {"attention, causal", {1, 2, 5, 3}, {1, 2, 5, 3}, {1, 2, 5, 3}, {}, true, false},
    {"attention, grouped heads", {1, 4, 2, 3}, {1, 2, 3, 3}, {1, 2, 3, 5}, {}, false, false},
    {"attention, bool mask", {2, 1, 3, 4}, {2, 1, 6, 4}, {2, 1, 6, 4}, {2, 1, 1, 6}, false, false},
    {"attention, mask of rank 2", {2, 2, 3, 4}, {2, 2, 4, 4}, {2, 2, 4, 4}, {3, 4}, false, false},
    {"attention, additive mask", {1, 2, 3, 4}, {1, 2, 4, 4}, {1, 2, 4, 4}, {2, 3, 4}, false, true},
    {"attention of no queries", {1, 1, 0, 4}, {1, 1, 3, 4}, {1, 1, 3, 4}, {}, false, false},
};

}  // namespace

Cases matmul_cases() {
  Cases cases{matmul_case("matmul 3x5 by 5x4", {3, 5}, {5, 4}, {3, 4}),
              matmul_case("matmul 17x33 by 33x19", {17, 33}, {33, 19}, {17, 19}),
              matmul_case("matmul by batches", {2, 3, 5}, {2, 5, 2}, {2, 3, 2}),
              matmul_case("matmul, batches broadcast", {2, 1, 3, 4}, {3, 4, 2}, {2, 3, 3, 2}),
              matmul_case("matmul over nothing", {2, 0}, {0, 3}, {2, 3}),
              matmul_case("matmul of nothing", {0, 4}, {4, 3}, {0, 3})};
  cases[1].scale = 40;
  return cases;
}

Cases linear_cases() {
  const auto linear_case = [](const char* name, Activation activation, bool bias, bool residual,
                              const std::function<long double(long double)>& activated) {
    std::vector<Input> inputs{{{3, 5}}, {{4, 5}}};
    if (bias) inputs.push_back({{4}});
    if (residual) inputs.push_back({{3, 4}});
    return OpCase{.name = name,
                  .inputs = inputs,
                  .run =
                      [=](const Tensors& x) {
                        return linear(x[0], x[1], bias ? x[2] : Tensor(), activation,
                                      residual ? x.back() : Tensor());
                      },
                  .oracle =
                      [=](const Arrays& x) {
                        return make_array({3, 4}, [&](const Dims& at) {
                          long double sum = bias ? x[2].at({at[1]}) : 0;
                          for (std::int64_t k = 0; k < 5; ++k)
                            sum += x[0].at({at[0], k}) * x[1].at({at[1], k});
                          return activated(sum) + (residual ? x.back().at(at) : 0);
                        });
                      },
                  .units = 16,
                  .scale = 8,
                  .library = true};
  };
  const auto same = [](long double x) { return x; };
  return {linear_case("linear", Activation::none, false, false, same),
          linear_case("linear, bias", Activation::none, true, false, same),
          linear_case("linear, residual", Activation::none, false, true, same),
          linear_case("linear, relu", Activation::relu, true, false,
                      [](long double x) { return o::relu(x); }),
          linear_case("linear, gelu", Activation::gelu, true, true, o::gelu),
          linear_case("linear, gelu_tanh", Activation::gelu_tanh, true, true, o::gelu_tanh),
          linear_case("linear, silu", Activation::silu, false, true, o::silu)};
}

Cases attention_cases() {
  Cases cases;
  for (const AttentionCase& of : attention_table) {
    std::vector<Input> inputs{{of.q}, {of.k}, {of.v}};
    if (!of.mask.empty())
      inputs.push_back({of.mask, {-1, 1}, of.additive ? Kind::constant : Kind::truth});
    cases.push_back({.name = of.name,
                     .inputs = inputs,
                     .run =
                         [of](const Tensors& x) {
                           return scaled_dot_product_attention(
                               x[0], x[1], x[2],
                               {.mask = of.mask.empty() ? Tensor() : x[3], .causal = of.causal});
                         },
                     .oracle = [of](const Arrays& x) { return attention_oracle(x, of); },
                     .units = 32,
                     .scale = 4,
                     .library = true});
  }
  return cases;
}

Cases softmax_cases() { return softmax_like(false); }
Cases log_softmax_cases() { return softmax_like(true); }
Cases layer_norm_cases() { return norms(true); }
Cases rms_norm_cases() { return norms(false); }

Cases cross_entropy_cases() {
  return {cross_entropy_case("cross_entropy, mean", {3, 3}, 5, {Reduction::mean, 0, false}),
          cross_entropy_case("cross_entropy, sum", {3, 2}, 7, {Reduction::sum, 0, false}),
          cross_entropy_case("cross_entropy, none", {4}, 67, {Reduction::none, 0, false}),
          cross_entropy_case("cross_entropy, smoothed", {3, 3}, 5, {Reduction::mean, 0.25, false}),
          cross_entropy_case("cross_entropy, weighted", {3, 3}, 5, {Reduction::mean, 0, true}),
          cross_entropy_case("cross_entropy, both", {3, 3}, 5, {Reduction::mean, 0.25, true})};
}

// The gradient nodes are what vjp records for the cases above.
Cases attention_grad_cases() { return gradients_of(attention_cases()); }
Cases softmax_grad_cases() { return gradients_of(softmax_cases()); }
Cases log_softmax_grad_cases() { return gradients_of(log_softmax_cases()); }
Cases layer_norm_grad_cases() { return gradients_of(layer_norm_cases()); }
Cases rms_norm_grad_cases() { return gradients_of(rms_norm_cases()); }
Cases cross_entropy_grad_cases() { return gradients_of(cross_entropy_cases()); }

}  // namespace sinter::tests
