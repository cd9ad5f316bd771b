#include "runtime/tensor.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "runtime/element.h"
#include "runtime/evaluate.h"
#include "runtime/record.h"

namespace sinter {
namespace {

const Node& require_node(std::string_view what, const Tensor& tensor, Where where) {
  if (!tensor.defined()) usage_error(what, "the tensor is not defined", where);
  return *tensor.node();
}

const Value& require_value(const Tensor& tensor, Where at) {
  require_defined("read", tensor, at);
  tensor.evaluate(at);
  return tensor.node()->value();
}

/// Refuses strides that no memory can have: offsets in bytes must fit the address space.
void require_addressable(DType dtype, const Shape& shape, const Strides& strides, Where where) {
  constexpr std::int64_t address_space = std::int64_t{1} << 47;
  std::int64_t room = address_space / static_cast<std::int64_t>(item_size(dtype));
  if (element_count(shape) == 0) return;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) continue;
    const std::int64_t most = room / (shape[i] - 1);
    if (strides[i] > most || strides[i] < -most)
      usage_error("borrow",
                  fmt::format("strides {} of shape {} reach beyond any memory", to_string(strides),
                              to_string(shape)),
                  where);
    room -= std::abs(strides[i]) * (shape[i] - 1);
  }
}

/// Calls `visit(offset)` for the elements in row-major order.
template <typename Visit>
void for_each_offset(const Shape& shape, const Value& value, Visit&& visit) {
  const std::int64_t count = element_count(shape);
  if (count == 0) return;
  Dims index = Dims::filled(shape.rank(), 0);
  std::int64_t offset = value.offset;
  for (std::int64_t i = 0; i < count; ++i) {
    visit(offset);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      offset += value.strides[axis];
      if (++index[axis] < shape[axis]) break;
      offset -= value.strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

template <typename To, typename Store>
void read_elements(const Tensor& tensor, Where at, Store&& store) {
  const Value value = require_value(tensor, at);
  with_storage_type(tensor.dtype(), [&]<typename From>(From) {
    const void* data = value.storage->data();
    for_each_offset(tensor.shape(), value, [&](std::int64_t offset) {
      store(converted<To>(element_at<From>(data, offset)));
    });
  });
}

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): it is the node of a call that ends here
Tensor::Tensor(NodeRef node) : node_(node.get()) {
  if (node_) node_->retain_handle();
}
Tensor::Tensor(const Tensor& other) : node_(other.node_) {
  if (node_) node_->retain_handle();
}
Tensor::Tensor(Tensor&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
Tensor& Tensor::operator=(Tensor other) noexcept {
  std::swap(node_, other.node_);
  return *this;
}
Tensor::~Tensor() {
  if (node_) node_->release_handle();
}

const Shape& Tensor::shape(Where where) const { return require_node("shape", *this, where).shape; }
int Tensor::rank(Where where) const { return require_node("rank", *this, where).shape.rank(); }
DType Tensor::dtype(Where where) const { return require_node("dtype", *this, where).dtype; }
std::int64_t Tensor::element_count(Where where) const {
  return sinter::element_count(require_node("element_count", *this, where).shape);
}
bool Tensor::requires_grad(Where where) const {
  return require_node("requires_grad", *this, where).requires_grad;
}

std::int64_t Tensor::size(std::int64_t axis, Where where) const {
  require_defined("size", *this, where);
  return shape()[normalize_axis("size", axis, rank(), where)];
}

const Tensor& Tensor::evaluate(Where where) const {
  require_defined("evaluate", *this, where);
  if (node_->state() == NodeState::pending) {
    const NodeRef root = ref();
    sinter::evaluate({&root, 1});
  }
  if (node_->state() == NodeState::failed) std::rethrow_exception(node_->failure());
  return *this;
}

template <typename T>
T Tensor::item(Where where) const {
  require_defined("item", *this, where);
  if (element_count() != 1) usage_error("item", "takes one element, not " + describe(*this), where);
  T element{};
  read_elements<T>(*this, where, [&](T value) { element = value; });
  return element;
}

template <typename T>
std::vector<T> Tensor::to_host(Where where) const {
  require_defined("to_host", *this, where);
  evaluate(where);
  std::vector<T> elements;
  try {
    elements.reserve(static_cast<std::size_t>(element_count()));
  } catch (const std::exception&) {  // bad_alloc or length_error: a view may repeat its elements
    usage_error("to_host", "the host's memory does not hold " + describe(*this), where);
  }
  read_elements<T>(*this, where, [&](T value) { elements.push_back(value); });
  return elements;
}

void Tensor::read_bytes(std::span<std::byte> bytes, Where where) const {
  const Value value = require_value(*this, where);
  const std::size_t item = item_size(dtype());
  if (bytes.size() != item * static_cast<std::size_t>(element_count()))
    usage_error("read_bytes", fmt::format("{} bytes for {}", bytes.size(), describe(*this)), where);
  const std::byte* data = value.storage->data();
  std::byte* out = bytes.data();
  if (is_contiguous(shape(), value.strides)) {
    if (!bytes.empty())
      std::memcpy(out, data + value.offset * static_cast<std::int64_t>(item), bytes.size());
    return;
  }
  for_each_offset(shape(), value, [&](std::int64_t offset) {
    std::memcpy(out, data + offset * static_cast<std::int64_t>(item), item);
    out += item;
  });
}

#define SINTER_READ(T)                     \
  template T Tensor::item<T>(Where) const; \
  template std::vector<T> Tensor::to_host<T>(Where) const;
SINTER_READ(bool)
SINTER_READ(std::uint8_t)
SINTER_READ(int)
SINTER_READ(long)
SINTER_READ(long long)
SINTER_READ(Half)
SINTER_READ(BFloat16)
SINTER_READ(float)
SINTER_READ(double)
#undef SINTER_READ

Tensor from_bytes(std::span<const std::byte> bytes, DType dtype, const Shape& shape, Where where) {
  check_shape("from_bytes", shape, where);
  if (bytes.size() != static_cast<std::size_t>(element_count(shape)) * item_size(dtype))
    usage_error("from_bytes",
                fmt::format("{} bytes for {} {}", bytes.size(), to_string(dtype), to_string(shape)),
                where);
  BufferRef buffer = Buffer::allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer->data(), bytes.data(), bytes.size());
  Value value{StorageRef(new Storage(std::move(buffer))), 0, contiguous_strides(shape)};
  return Tensor(record_leaf(Op::data, dtype, shape, {}, std::move(value), false, where));
}

template <typename T>
Tensor from_host(std::span<const T> elements, const Shape& shape, Where where) {
  check_shape("from_host", shape, where);
  if (elements.size() != static_cast<std::size_t>(element_count(shape)))
    usage_error("from_host",
                fmt::format("{} elements for shape {}", elements.size(), to_string(shape)), where);
  return from_bytes(std::as_bytes(elements), dtype_of<T>, shape, where);
}

#define SINTER_FROM_HOST(T) template Tensor from_host<T>(std::span<const T>, const Shape&, Where);
SINTER_FROM_HOST(bool)
SINTER_FROM_HOST(std::uint8_t)
SINTER_FROM_HOST(int)
SINTER_FROM_HOST(long)
SINTER_FROM_HOST(long long)
SINTER_FROM_HOST(Half)
SINTER_FROM_HOST(BFloat16)
SINTER_FROM_HOST(float)
SINTER_FROM_HOST(double)
#undef SINTER_FROM_HOST

Tensor borrow(const void* data, DType dtype, const Shape& shape, std::function<void()> deleter,
              Where where) {
  check_shape("borrow", shape, where);
  return borrow_strided(data, dtype, shape, contiguous_strides(shape), std::move(deleter), where);
}

Tensor borrow_strided(const void* data, DType dtype, const Shape& shape, const Strides& strides,
                      std::function<void()> deleter, Where where) {
  check_shape("borrow", shape, where);
  if (strides.rank() != shape.rank())
    usage_error("borrow",
                fmt::format("strides {} for shape {}", to_string(strides), to_string(shape)),
                where);
  if (!data && element_count(shape) != 0) usage_error("borrow", "the pointer is null", where);
  if (reinterpret_cast<std::uintptr_t>(data) % item_size(dtype) != 0)
    usage_error("borrow", fmt::format("the pointer is not aligned for {}", to_string(dtype)),
                where);
  require_addressable(dtype, shape, strides, where);
  const auto bytes = static_cast<std::size_t>(element_count(shape)) * item_size(dtype);
  // The buffer is never written: external memory is not donated.
  BufferRef buffer = Buffer::borrow(const_cast<void*>(data), bytes, std::move(deleter));
  Value value{StorageRef(new Storage(std::move(buffer))), 0, strides};
  return Tensor(record_leaf(Op::data, dtype, shape, {}, std::move(value), false, where));
}

}  // namespace sinter
