#include "runtime/dlpack.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/dlpack_layout.h"
#include "runtime/ops.h"

namespace sinter {
namespace {

/// A tensor of another library: 2 x 3 floats in an array, and how often it was given back.
struct Foreign {
  DLManagedTensor managed{};
  std::array<float, 8> elements = {-1, 0, 1, 2, 3, 4, 5, -2};
  std::array<std::int64_t, 9> shape = {2, 3, 1, 1, 1, 1, 1, 1, 1};
  std::array<std::int64_t, 9> strides = {3, 1, 1, 1, 1, 1, 1, 1, 1};
  int deleted = 0;

  Foreign() {
    managed.dl_tensor = {elements.data(), {kDLCPU, 0},  2, {kDLFloat, 32, 1}, shape.data(),
                         strides.data(),  sizeof(float)};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->deleted;
    };
  }
};

using Floats = std::vector<float>;

TEST_CASE("dlpack: a tensor goes out without a copy and stays alive until it is given back") {
  for (int code = 0; code < dtype_count; ++code) {
    const auto dtype = static_cast<DType>(code);
    const std::vector<std::byte> bytes(6 * item_size(dtype), std::byte{1});
    Tensor tensor = from_bytes(bytes, dtype, {2, 3});
    const std::byte* data = tensor.node()->value().storage->data();
    DLManagedTensor* managed = to_dlpack(tensor);
    tensor = Tensor();
    CHECK(managed->dl_tensor.data == data);
    CHECK(managed->dl_tensor.byte_offset == 0);
    CHECK(managed->dl_tensor.device.device_type == kDLCPU);
    CHECK(managed->dl_tensor.dtype.bits == 8 * item_size(dtype));
    CHECK(managed->dl_tensor.dtype.lanes == 1);
    CHECK(managed->dl_tensor.ndim == 2);
    CHECK(managed->dl_tensor.shape[1] == 3);
    CHECK(managed->dl_tensor.strides[0] == 3);
    // And back: the same memory again.
    Tensor back = from_dlpack(managed);
    CHECK(back.dtype() == dtype);
    CHECK(back.shape() == Shape{2, 3});
    CHECK(back.node()->value().storage->data() == data);
    std::vector<std::byte> read(bytes.size());
    back.read_bytes(read);
    CHECK(read == bytes);
  }
}

TEST_CASE("dlpack: a foreign tensor is used in place and given back once") {
  Foreign foreign;
  {
    const Tensor tensor = from_dlpack(&foreign.managed);
    CHECK(tensor.to_host<float>() == Floats{0, 1, 2, 3, 4, 5});
    const Tensor second = tensor;  // NOLINT(performance-unnecessary-copy-initialization)
    CHECK(foreign.deleted == 0);
  }
  CHECK(foreign.deleted == 1);
}

TEST_CASE("dlpack: strides may be missing, transposed, broadcast or negative") {
  Foreign foreign;
  foreign.managed.dl_tensor.strides = nullptr;
  CHECK(from_dlpack(&foreign.managed).to_host<float>() == Floats{0, 1, 2, 3, 4, 5});
  foreign.managed.dl_tensor.strides = foreign.strides.data();
  foreign.strides = {1, 2};
  CHECK(from_dlpack(&foreign.managed).to_host<float>() == Floats{0, 2, 4, 1, 3, 5});
  foreign.strides = {0, 1};
  CHECK(from_dlpack(&foreign.managed).to_host<float>() == Floats{0, 1, 2, 0, 1, 2});
  foreign.strides = {-3, 1};
  foreign.managed.dl_tensor.byte_offset = 4 * sizeof(float);
  CHECK(from_dlpack(&foreign.managed).to_host<float>() == Floats{3, 4, 5, 0, 1, 2});
}

TEST_CASE("dlpack: negative strides are copied on the way out") {
  const std::array<std::int32_t, 6> elements = {0, 1, 2, 3, 4, 5};
  DLManagedTensor* out = to_dlpack(borrow_strided(&elements[3], i32, {2, 3}, {-3, 1}, [] {}));
  CHECK(out->dl_tensor.data != &elements[3]);
  CHECK(out->dl_tensor.strides[0] == 3);
  CHECK(from_dlpack(out).to_host<int>() == std::vector<int>{3, 4, 5, 0, 1, 2});
}

TEST_CASE("dlpack: scalars and empty tensors pass") {
  Foreign foreign;
  foreign.managed.dl_tensor.ndim = 0;
  foreign.managed.dl_tensor.shape = nullptr;
  CHECK(from_dlpack(&foreign.managed).item<float>() == 0);
  Foreign empty;
  empty.shape[0] = 0;
  empty.managed.dl_tensor.data = nullptr;
  empty.managed.dl_tensor.byte_offset = 0;
  DLManagedTensor* out = to_dlpack(from_dlpack(&empty.managed));
  CHECK(out->dl_tensor.shape[0] == 0);
  out->deleter(out);
  CHECK(empty.deleted == 1);
}

TEST_CASE("dlpack: a foreign structure without a deleter is borrowed for ever") {
  Foreign foreign;
  foreign.managed.deleter = nullptr;
  CHECK(from_dlpack(&foreign.managed).to_host<float>() == Floats{0, 1, 2, 3, 4, 5});
}

TEST_CASE("dlpack: what sinter cannot hold is an error and stays with the caller") {
  const auto expect_error = [](const std::string& part, auto&& change) {
    Foreign foreign;
    change(foreign, foreign.managed.dl_tensor);
    std::string message;
    try {
      from_dlpack(&foreign.managed);
    } catch (const UsageError& error) {
      message = error.what();
    }
    CAPTURE(message);
    CHECK(message.find(part) != message.npos);
    CHECK(foreign.deleted == 0);
  };
  using F = Foreign;
  using T = DLTensor;
  expect_error("device of type 2",
               [](F&, T& t) { t.device.device_type = static_cast<DLDeviceType>(2); });
  expect_error("9 dimensions", [](F&, T& t) { t.ndim = 9; });
  expect_error("-1 dimensions", [](F&, T& t) { t.ndim = -1; });
  expect_error("shape is null", [](F&, T& t) { t.shape = nullptr; });
  expect_error("negative", [](F& f, T&) { f.shape[1] = -3; });
  expect_error("too many", [](F& f, T&) {
    f.shape = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  });
  expect_error("null", [](F&, T& t) { t.data = nullptr; });
  expect_error("aligned", [](F&, T& t) { t.byte_offset = 2; });
  expect_error("8 bits", [](F&, T& t) { t.dtype = {kDLFloat, 8, 1}; });
  expect_error("type code 5", [](F&, T& t) { t.dtype = {5, 64, 1}; });
  expect_error("4 lanes", [](F&, T& t) { t.dtype.lanes = 4; });
  CHECK_THROWS_AS(from_dlpack(nullptr), UsageError);
  CHECK_THROWS_AS(to_dlpack(Tensor()), UsageError);
}

}  // namespace
}  // namespace sinter
