#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/elementwise.h"
#include "runtime/cpu/pool.h"
#include "runtime/cpu/probe.h"
#include "tests/kernel_array.h"

namespace sinter::kernels {
namespace {

using tests::all_dtypes;
using tests::all_layouts;
using tests::KernelArray;
using tests::Layout;

TEST_CASE("copy: every layout to every layout") {
  const std::vector<Shape> shapes = {{}, {1}, {0, 3}, {67}, {33, 70}, {3, 2, 17, 8}, {130, 3, 130}};
  for (const DType dtype : {boolean, f16, f32, i64})
    for (const Shape& shape : shapes)
      for (const Layout from : all_layouts)
        for (const Layout to : all_layouts) {
          if (shape.rank() == 3 && (dtype != f32 || from == to)) continue;
          CAPTURE(to_string(dtype));
          CAPTURE(to_string(shape));
          KernelArray a(dtype, shape, from), b(dtype, shape, to);
          a.fill([](std::int64_t i) { return i * 7 % 251 % 2000; });
          copy(a.const_view(), b.view());
          CHECK(b.values<double>() == a.values<double>());
          CHECK(b.surroundings_intact());
        }
}

TEST_CASE("copy: permuted, expanded and sliced views") {
  KernelArray a(f32, {5, 7, 3, 16});
  a.fill([](std::int64_t i) { return i; });
  ConstView heads = a.const_view();
  heads.shape = {5, 3, 7, 16};
  std::swap(heads.strides[1], heads.strides[2]);
  KernelArray out(f32, heads.shape);
  copy(heads, out.view());
  for (std::int64_t b = 0; b < 5; ++b)
    for (std::int64_t h = 0; h < 3; ++h)
      for (std::int64_t s = 0; s < 7; ++s)
        for (std::int64_t d = 0; d < 16; ++d)
          CHECK(out.get<float>(((b * 3 + h) * 7 + s) * 16 + d) ==
                a.get<float>(((b * 7 + s) * 3 + h) * 16 + d));

  for (const Shape& small : {Shape{5, 1}, Shape{9}, Shape{}}) {
    KernelArray one(bf16, small), wide(bf16, {4, 5, 9}), converted(f64, {4, 5, 9});
    one.fill([](std::int64_t i) { return i + 1; });
    copy(one.expanded({4, 5, 9}), wide.view());
    copy(one.expanded({4, 5, 9}), converted.view());
    for (std::int64_t i = 0; i < wide.size(); ++i) {
      const std::int64_t from = small.rank() == 2 ? i / 9 % 5 : small.rank() == 1 ? i % 9 : 0;
      CHECK(wide.get<double>(i) == static_cast<double>(from + 1));
      CHECK(converted.get<double>(i) == static_cast<double>(from + 1));
    }
  }
}

TEST_CASE("cast: every pair of dtypes and layouts keeps what both can hold") {
  for (const DType from : all_dtypes)
    for (const DType to : all_dtypes)
      for (const Layout layout : all_layouts)
        for (const Shape& shape : {Shape{}, Shape{37}, Shape{3, 700}}) {
          CAPTURE(to_string(from));
          CAPTURE(to_string(to));
          KernelArray a(from, shape, layout), b(to, shape), c(to, shape, layout);
          a.fill([](std::int64_t i) { return i * 3 % 120; });
          copy(a.const_view(), b.view());
          copy(a.const_view(), c.view());
          for (std::int64_t i = 0; i < a.size(); ++i) {
            const double x = a.get<double>(i);
            CHECK(b.get<double>(i) == (to == boolean ? (x != 0) : x));
          }
          CHECK(b.values<double>() == c.values<double>());
          CHECK((b.surroundings_intact() && c.surroundings_intact()));
        }
}

template <typename T>
KernelArray cast_one(DType from, T value, DType to) {
  KernelArray a(from, {}), b(to, {});
  a.set(0, value);
  copy(a.const_view(), b.view());
  return b;
}

TEST_CASE("cast: floats to integers truncate; out of range and NaN give the lowest") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType from : {f32, f64}) {
    CHECK(cast_one(from, -1.9, i32).get<int>(0) == -1);
    CHECK(cast_one(from, 2.9, i64).get<int>(0) == 2);
    CHECK(cast_one(from, 3e9, i32).get<int>(0) == INT32_MIN);
    CHECK(cast_one(from, -3e9, i32).get<int>(0) == INT32_MIN);
    CHECK(cast_one(from, 1e19, i64).get<std::int64_t>(0) == INT64_MIN);
    CHECK(cast_one(from, 255.9, u8).get<int>(0) == 255);
    CHECK(cast_one(from, 256.0, u8).get<int>(0) == 0);
    CHECK(cast_one(from, -1.0, u8).get<int>(0) == 0);
    CHECK(cast_one(from, -0.9, u8).get<int>(0) == 0);
    for (const DType to : {u8, i32, i64}) {
      const std::int64_t lowest = to == u8 ? 0 : to == i32 ? INT32_MIN : INT64_MIN;
      CHECK(cast_one(from, nan, to).get<std::int64_t>(0) == lowest);
      CHECK(cast_one(from, INFINITY, to).get<std::int64_t>(0) == lowest);
    }
    CHECK(cast_one(from, nan, boolean).get<int>(0) == 1);
    CHECK(cast_one(from, -0.0, boolean).get<int>(0) == 0);
  }
  CHECK(cast_one(i64, std::int64_t{0x1'0000'0005}, i32).get<int>(0) == 5);
  CHECK(cast_one(i64, std::int64_t{-1}, u8).get<int>(0) == 255);
  CHECK(cast_one(i64, (std::int64_t{1} << 60) + 1, f64).get<double>(0) == 0x1p60);
}

TEST_CASE("cast: f32 to bf16 by bit pattern") {
  const auto bf16_bits = [](std::uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return static_cast<unsigned>(cast_one(f32, x, bf16).bits(0));
  };
  for (const std::uint32_t bits : {0x7f800001u, 0x7fffffffu, 0xffffffffu}) {
    const unsigned rounded = bf16_bits(bits);
    CHECK(((rounded & 0x7f80u) == 0x7f80u && (rounded & 0x7fu) != 0));
  }
  CHECK(bf16_bits(0x7f7fffffu) == 0x7f80u);
  CHECK(bf16_bits(0x3f808000u) == 0x3f80u);
  CHECK(bf16_bits(0x00000001u) == 0u);
  CHECK(bf16_bits(0x00018000u) == 2u);                                     // a denormal, to even
  CHECK(cast_one(f64, 1 + 0x1p-8 + 0x1p-30, bf16).get<double>(0) == 1.0);  // through f32
}

TEST_CASE("cast: the same bits from every instruction set") {
  const cpu::InstructionSet before = cpu::instruction_set();
  for (const DType from : all_dtypes)
    for (const DType to : all_dtypes) {
      KernelArray a(from, {1003}), want(to, {1003}), got(to, {1003});
      a.fill([](std::int64_t i) { return static_cast<double>(i * i * i - 500000000) / 7.0; });
      cpu::set_instruction_set(cpu::InstructionSet::portable);
      copy(a.const_view(), want.view());
      for (const auto set : {cpu::InstructionSet::avx2, cpu::InstructionSet::avx512}) {
        if (set > cpu::processor().best) continue;
        cpu::set_instruction_set(set);
        copy(a.const_view(), got.view());
        for (std::int64_t i = 0; i < a.size(); ++i) CHECK(got.bits(i) == want.bits(i));
      }
      cpu::set_instruction_set(before);
    }
}

}  // namespace
}  // namespace sinter::kernels
