/// \file
/// A Script that is being drawn: what there is so far, and where randomness comes from.
#pragma once

#include <functional>
#include <optional>
#include <random>

#include "fuzz/draw_script.h"
#include "runtime/tensor.h"

namespace sinter::fuzz {

class DrawBuilder {
 public:
  DrawBuilder(std::uint64_t seed, const DrawOptions& options);

  /// Appends the step and records it, which tells dtype and shape; nothing where it is refused or
  /// too large.
  std::optional<std::size_t> add(Step step);
  /// A step of kind op.
  std::optional<std::size_t> add_op(Op op, std::vector<std::size_t> operands,
                                    std::vector<std::int64_t> fixed = {},
                                    std::vector<Slot> slots = {});
  /// An op that takes its result's dtype or shape from the step.
  std::optional<std::size_t> add_shaped(Op op, std::vector<std::size_t> operands,
                                        const Shape& shape, std::vector<std::int64_t> fixed = {},
                                        std::vector<Slot> slots = {});
  /// What must not be refused. \throws std::bad_optional_access where it is.
  std::size_t add_cast(std::size_t value, DType dtype);
  std::size_t add_leaf(DType dtype, const Shape& shape);
  /// Whole numbers in [0, limit), i32 or i64; now and then `limit` itself where faults are wanted.
  std::size_t add_indices(const Shape& shape, std::int64_t limit);
  /// A host number for an op beside `value`.
  std::size_t add_number(std::size_t value, double number);

  /// A value that fits, or nothing; recent ones are likelier.
  using Wanted = std::function<bool(const Step&)>;
  std::optional<std::size_t> find(const Wanted& wanted);
  std::optional<std::size_t> find_floating(int least_rank = 0);
  /// Any value.
  std::size_t any();
  /// The value as `dtype`, cast where it has another.
  std::size_t as(std::size_t value, DType dtype);
  /// A value of this dtype and shape: one there is, or a leaf.
  std::size_t like(DType dtype, const Shape& shape);

  const Step& step(std::size_t i) const { return script_.steps[i]; }
  const Shape& shape(std::size_t i) const { return step(i).shape; }
  const Tensor& tensor(std::size_t i) const { return results_[i][0]; }
  const Script& script() const { return script_; }
  Script& script() { return script_; }
  const DrawOptions& options() const { return options_; }
  std::size_t size() const { return script_.steps.size(); }

  std::size_t below(std::size_t limit) { return source_() % limit; }
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(source_() % static_cast<std::uint64_t>(limit));
  }
  bool one_in(std::size_t n) { return below(n) == 0; }
  std::int64_t any_size() { return sizes_[below(sizes_.size())]; }
  int any_axis(std::size_t value) {
    return static_cast<int>(below(static_cast<std::size_t>(shape(value).rank())));
  }
  std::uint64_t seed() { return source_() % 1000000; }
  DType any_floating();
  DType any_dtype();
  Shape any_shape();

 private:
  std::vector<Tensor> record_step(const Step& step);
  /// Of one value, so that the interpreter is done soon.
  std::int64_t most_elements() const { return options_.large ? 1 << 18 : 1 << 15; }

  std::mt19937_64 source_;
  DrawOptions options_;
  Script script_;
  std::vector<std::vector<Tensor>> results_;
  std::vector<std::int64_t> sizes_;
};

// One family of ops each: a step is added, and perhaps some before it; nothing where there are no
// operands for it. \throws std::bad_optional_access where a step it needs is refused.
void draw_unary(DrawBuilder& builder);
void draw_binary(DrawBuilder& builder);
void draw_select(DrawBuilder& builder);
void draw_cast(DrawBuilder& builder);
void draw_generator(DrawBuilder& builder);
void draw_view(DrawBuilder& builder);
void draw_join(DrawBuilder& builder);
void draw_order(DrawBuilder& builder);
void draw_index(DrawBuilder& builder);
void draw_reduction(DrawBuilder& builder);
void draw_norm(DrawBuilder& builder);
void draw_loss(DrawBuilder& builder);
void draw_product(DrawBuilder& builder);
void draw_attention(DrawBuilder& builder);
void draw_foreach(DrawBuilder& builder);
void draw_idiom(DrawBuilder& builder);
void draw_gradient(DrawBuilder& builder);
void draw_write(DrawBuilder& builder);

}  // namespace sinter::fuzz
