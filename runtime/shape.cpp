#include "runtime/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sinter {

Dims::Dims(std::initializer_list<std::int64_t> values, Where where)
    : Dims(std::span<const std::int64_t>(values.begin(), values.size()), where) {}

Dims::Dims(std::span<const std::int64_t> values, Where where) {
  if (values.size() > static_cast<std::size_t>(max_rank))
    usage_error("shape", fmt::format("{} dimensions, at most {}", values.size(), max_rank), where);
  std::copy(values.begin(), values.end(), values_.begin());
  rank_ = static_cast<int>(values.size());
}

Dims Dims::filled(int rank, std::int64_t value) {
  Dims dims;
  for (int i = 0; i < rank; ++i) dims.push_back(value);
  return dims;
}

void Dims::push_back(std::int64_t value) {
  if (rank_ == max_rank) throw UsageError(fmt::format("shape: more than {} dimensions", max_rank));
  values_[static_cast<std::size_t>(rank_++)] = value;
}

std::string to_string(const Dims& dims) {
  return fmt::format("[{}]", fmt::join(dims.begin(), dims.end(), ", "));
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

void check_shape(std::string_view op, const Shape& shape, Where where) {
  constexpr std::int64_t most = INT64_MAX / 8;
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0) usage_error(op, "negative size in shape " + to_string(shape), where);
    if (size == 0) continue;
    if (__builtin_mul_overflow(count, size, &count) || count > most)
      usage_error(op, "too many elements for shape " + to_string(shape), where);
  }
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  Shape result = Shape::filled(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    const std::int64_t x = i <= a.rank() ? a[a.rank() - i] : 1;
    const std::int64_t y = i <= b.rank() ? b[b.rank() - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    result[rank - i] = x == 1 ? y : x;
  }
  return result;
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides = Strides::filled(shape.rank(), 1);
  for (int i = shape.rank() - 2; i >= 0; --i) strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

bool is_contiguous(const Shape& shape, const Strides& strides) {
  if (element_count(shape) == 0) return true;
  std::int64_t expected = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

int normalize_axis(std::string_view op, std::int64_t axis, int rank, Where where) {
  if (axis < -rank || axis >= rank)
    usage_error(op, fmt::format("axis {} is out of range for rank {}", axis, rank), where);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace sinter
