#include <algorithm>
#include <limits>

#include "jit/elements.h"
#include "jit/interpret_subjects.h"
#include "kernels/math.h"
#include "kernels/philox.h"

namespace sinter::jit {
namespace {

/// The elements of an operand of four axes.
struct Four {
  Shape shape;
  std::vector<double> elements;

  explicit Four(const ConstView& view) : shape(view.shape), elements(read_all<double>(view)) {}
  double at(std::int64_t batch, std::int64_t head, std::int64_t row, std::int64_t column) const {
    const std::int64_t place = ((batch * shape[1] + head) * shape[2] + row) * shape[3] + column;
    return elements[static_cast<std::size_t>(place)];
  }
};

/// The operands from input `first` on, as kernels/attention.h names them. Everything is computed in
/// double and rounded once: eager agrees within the bound given there.
struct Attention {
  Four q, k, v;
  ConstView mask;
  bool causal, has_mask, has_dropout;
  double scale, p;
  std::uint64_t seed, ordinal;

  Attention(const Step& step, std::size_t first)
      : q(step.inputs[first]), k(step.inputs[first + 1]), v(step.inputs[first + 2]) {
    const auto fixed = step.node.fixed();
    const auto slots = step.node.slots();
    causal = fixed[0] != 0;
    has_mask = fixed[1] != 0;
    has_dropout = fixed[2] != 0;
    if (has_mask) mask = step.inputs[first + 3];
    scale = slots[0].real;
    p = slots[1].real;
    seed = static_cast<std::uint64_t>(slots[2].integer);
    ordinal = static_cast<std::uint64_t>(slots[3].integer);
  }

  std::int64_t batches() const { return q.shape[0]; }
  std::int64_t heads() const { return q.shape[1]; }
  std::int64_t queries() const { return q.shape[2]; }
  std::int64_t keys() const { return k.shape[2]; }
  std::int64_t key_head(std::int64_t head) const { return head / (heads() / k.shape[1]); }

  double score(std::int64_t batch, std::int64_t head, std::int64_t i, std::int64_t j) const {
    constexpr double unseen = -std::numeric_limits<double>::infinity();
    if (causal && j > i) return unseen;
    double product = 0;
    for (std::int64_t c = 0; c < q.shape[3]; ++c)
      product += q.at(batch, head, i, c) * k.at(batch, key_head(head), j, c);
    product *= scale;
    if (!has_mask) return product;
    const double given = read<double>(mask, broadcast_index({batch, head, i, j}, mask.shape));
    if (mask.dtype == DType::boolean) return given != 0 ? product : unseen;
    return product + given;
  }

  /// p of one query; all 0 where it sees no key.
  std::vector<double> weights(std::int64_t batch, std::int64_t head, std::int64_t i) const {
    std::vector<double> row;
    for (std::int64_t j = 0; j < keys(); ++j) row.push_back(score(batch, head, i, j));
    double largest = -std::numeric_limits<double>::infinity();
    for (const double element : row) largest = kernels::m::maximum(largest, element);
    double sum = 0;
    for (double& element : row) {
      element = largest == -std::numeric_limits<double>::infinity()
                    ? 0
                    : kernels::m::exp(element - largest);
      sum += element;
    }
    for (double& element : row) element = sum == 0 ? 0 : element / sum;
    return row;
  }

  /// What dropout multiplies p[i][j] by.
  double kept(std::int64_t batch, std::int64_t head, std::int64_t i, std::int64_t j) const {
    if (!has_dropout) return 1;
    const std::int64_t element = ((batch * heads() + head) * queries() + i) * keys() + j;
    const float draw = kernels::random_uniform(seed, ordinal, element);
    return draw >= static_cast<float>(p) ? 1 / (1 - p) : 0;
  }
};

/// Calls body(batch, head, query) for each.
template <typename Body>
void for_each_query(const Attention& attention, Body&& body) {
  for (std::int64_t batch = 0; batch < attention.batches(); ++batch)
    for (std::int64_t head = 0; head < attention.heads(); ++head)
      for (std::int64_t i = 0; i < attention.queries(); ++i) body(batch, head, i);
}

/// Sums in double of the shape of an output, rounded to it at the end.
struct Sums {
  const View& out;
  std::vector<double> elements;

  explicit Sums(const View& view)
      : out(view), elements(static_cast<std::size_t>(element_count(view.shape))) {}
  double& at(const Dims& index) {
    return elements[static_cast<std::size_t>(offset_of(contiguous_strides(out.shape), index))];
  }
  void write() const { write_all(out, elements); }
};

}  // namespace

void interpret_attention(const Step& step) {
  const Attention attention(step, 0);
  Sums out(step.outputs[0]);
  for_each_query(attention, [&](std::int64_t batch, std::int64_t head, std::int64_t i) {
    const std::vector<double> p = attention.weights(batch, head, i);
    for (std::int64_t j = 0; j < attention.keys(); ++j) {
      const double kept = attention.kept(batch, head, i, j);
      // A key that is not seen gives nothing, whatever its value is.
      const double weight = kept == 0 ? 0 : p[static_cast<std::size_t>(j)] * kept;
      if (weight == 0) continue;
      for (std::int64_t c = 0; c < attention.v.shape[3]; ++c)
        out.at({batch, head, i, c}) +=
            weight * attention.v.at(batch, attention.key_head(head), j, c);
    }
  });
  out.write();
}

void interpret_attention_grad(const Step& step) {
  const Attention attention(step, 1);
  const Four g(step.inputs[0]);
  const Four &q = attention.q, &k = attention.k, &v = attention.v;
  Sums dq(step.outputs[0]), dk(step.outputs[1]), dv(step.outputs[2]);
  for_each_query(attention, [&](std::int64_t batch, std::int64_t head, std::int64_t i) {
    const std::int64_t shared = attention.key_head(head);
    const std::vector<double> p = attention.weights(batch, head, i);
    std::vector<double> dp;
    double sum = 0;
    for (std::int64_t j = 0; j < attention.keys(); ++j) {
      const double weight = p[static_cast<std::size_t>(j)];
      const double kept = attention.kept(batch, head, i, j);
      double product = 0;
      for (std::int64_t c = 0; c < v.shape[3] && weight != 0 && kept != 0; ++c) {
        const double gradient = g.at(batch, head, i, c);
        product += gradient * v.at(batch, shared, j, c);
        dv.at({batch, shared, j, c}) += weight * kept * gradient;
      }
      dp.push_back(product * kept);
      sum += weight * dp.back();
    }
    for (std::int64_t j = 0; j < attention.keys(); ++j) {
      const double weight = p[static_cast<std::size_t>(j)];
      if (weight == 0) continue;
      const double ds = weight * (dp[static_cast<std::size_t>(j)] - sum) * attention.scale;
      for (std::int64_t c = 0; c < q.shape[3]; ++c) {
        dq.at({batch, head, i, c}) += ds * k.at(batch, shared, j, c);
        dk.at({batch, shared, j, c}) += ds * q.at(batch, head, i, c);
      }
    }
  });
  dq.write();
  dk.write();
  dv.write();
}

}  // namespace sinter::jit
