/// \file
/// Tensor: an immutable value, held by handle.
///
/// Copying a Tensor copies the handle. No operation changes a tensor's elements: `x += y` makes `x`
/// another value and leaves every other handle as it was, so there is no aliasing to think about.
/// An op only records; elements are computed when the host reads them (`item`, `to_host`), or at
/// the end of a region that wrote a Variable.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dtype.h"
#include "error.h"
#include "graph.h"
#include "shape.h"

namespace sinter {

class Tensor {
 public:
  /// No tensor: `defined()` is false. Stands for "no gradient", "no bias" and the like; every op
  /// refuses it.
  Tensor() = default;
  explicit Tensor(NodeRef node);
  /// The Variable's current value.
  Tensor(const class Variable& variable, Where where = Where::current());
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor other) noexcept;
  ~Tensor();

  bool defined() const { return node_ != nullptr; }

  const Shape& shape(Where where = Where::current()) const;
  std::int64_t size(std::int64_t axis, Where where = Where::current()) const;
  int rank(Where where = Where::current()) const;
  DType dtype(Where where = Where::current()) const;
  std::int64_t element_count(Where where = Where::current()) const;
  /// Whether a trainable Variable reaches this tensor through ops that have a derivative.
  bool requires_grad(Where where = Where::current()) const;

  /// The one element of a tensor of one element, converted to T as `cast` does. T is bool,
  /// std::uint8_t, int, long, long long, Half, BFloat16, float or double. Evaluates.
  /// \throws UsageError for any other count, and for what only the data could show.
  template <typename T>
  T item(Where where = Where::current()) const;

  /// All elements in row-major order, converted to T as by item. Evaluates.
  template <typename T>
  std::vector<T> to_host(Where where = Where::current()) const;

  /// Copies the elements in row-major order, in the tensor's own dtype, to `bytes`. Evaluates.
  /// \throws UsageError when `bytes` is not exactly as large.
  void read_bytes(std::span<std::byte> bytes, Where where = Where::current()) const;

  /// Computes the value now, without reading it.
  const Tensor& evaluate(Where where = Where::current()) const;

  /// The recorded node; null when not defined.
  Node* node() const { return node_; }
  NodeRef ref() const { return NodeRef(node_); }

 private:
  Node* node_ = nullptr;
};

/// What an operator takes: a tensor or a host number, with the line of the caller. Numbers are
/// weak: they take the dtype of the tensor beside them unless their category is higher.
class Operand {
 public:
  Operand(const Tensor& tensor, Where where = Where::current()) : tensor_(tensor), where_(where) {}
  Operand(double value, Where where = Where::current())
      : kind_(Kind::real), real_(value), where_(where) {}
  Operand(float value, Where where = Where::current())
      : kind_(Kind::real), real_(value), where_(where) {}
  Operand(bool value, Where where = Where::current())
      : kind_(Kind::truth), integer_(value), where_(where) {}
  Operand(int value, Where where = Where::current())
      : kind_(Kind::integer), integer_(value), where_(where) {}
  Operand(long value, Where where = Where::current())
      : kind_(Kind::integer), integer_(value), where_(where) {}
  Operand(long long value, Where where = Where::current())
      : kind_(Kind::integer), integer_(value), where_(where) {}
  /// Beyond 2^63 - 1 as a double.
  template <std::unsigned_integral T>
  Operand(T value, Where where = Where::current()) : where_(where) {
    const auto wide = static_cast<std::uint64_t>(value);
    kind_ = wide <= INT64_MAX ? Kind::integer : Kind::real;
    if (kind_ == Kind::integer) integer_ = static_cast<std::int64_t>(wide);
    else real_ = static_cast<double>(wide);
  }
  Operand(const Variable& variable, Where where = Where::current());

  enum class Kind : std::uint8_t { tensor, truth, integer, real };
  Kind kind() const { return kind_; }
  const Tensor& tensor() const { return tensor_; }
  double real() const { return kind_ == Kind::real ? real_ : static_cast<double>(integer_); }
  std::int64_t integer() const { return integer_; }
  Where where() const { return where_; }

 private:
  Kind kind_ = Kind::tensor;
  Tensor tensor_;
  double real_ = 0;
  std::int64_t integer_ = 0;
  Where where_;
};

/// A tensor of raw elements of `dtype` in row-major order, copied. \throws UsageError when `bytes`
/// is not exactly as large.
Tensor from_bytes(std::span<const std::byte> bytes, DType dtype, const Shape& shape,
                  Where where = Where::current());

/// A tensor of host elements in row-major order, copied; its dtype is dtype_of<T>, T as for
/// Tensor::item. \throws UsageError when `elements` has another count.
template <typename T>
Tensor from_host(std::span<const T> elements, const Shape& shape, Where where = Where::current());
template <typename T>
Tensor from_host(const std::vector<T>& elements, const Shape& shape,
                 Where where = Where::current()) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<std::uint8_t> bytes(elements.begin(), elements.end());
    return from_bytes(std::as_bytes(std::span(bytes)), boolean, shape, where);
  } else {
    return from_host(std::span<const T>(elements), shape, where);
  }
}

/// A tensor on the caller's own memory, not copied: row-major elements that must not change while
/// any value made from it is alive; then `deleter` runs. sinter never writes to it.
Tensor borrow(const void* data, DType dtype, const Shape& shape, std::function<void()> deleter,
              Where where = Where::current());

/// As above with explicit strides (in elements, any sign); `data` addresses element [0, 0, ...].
Tensor borrow_strided(const void* data, DType dtype, const Shape& shape, const Strides& strides,
                      std::function<void()> deleter, Where where = Where::current());

}  // namespace sinter
