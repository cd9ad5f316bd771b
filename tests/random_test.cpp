#include "kernels/philox.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "kernels/generate.h"
#include "kernels/random_tiles.h"
#include "runtime/cpu/pool.h"
#include "runtime/cpu/probe.h"
#include "tests/kernel_array.h"

namespace sinter::kernels {
namespace {

using tests::all_layouts;
using tests::KernelArray;
using tests::Layout;

TEST_CASE("philox: the known answers of its authors") {
  const auto check = [](std::uint64_t seed, std::uint64_t ordinal, std::uint64_t block,
                        const std::vector<std::uint32_t>& want) {
    const auto made = philox(seed, ordinal, block);
    for (std::size_t i = 0; i < 4; ++i) CHECK(made.word[i] == want[i]);
  };
  check(0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  check(~0ull, ~0ull, ~0ull, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  check(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88,
        {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random: runs are the documented elements, wherever they start") {
  const cpu::InstructionSet before = cpu::instruction_set();
  constexpr std::uint64_t seed = 0x123456789abcdef0, ordinal = 77;
  for (const auto set :
       {cpu::InstructionSet::portable, cpu::InstructionSet::avx2, cpu::InstructionSet::avx512}) {
    if (set > cpu::processor().best) continue;
    cpu::set_instruction_set(set);
    for (const std::int64_t first :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, (std::int64_t{1} << 34) - 5})
      for (const std::int64_t count : {0, 1, 5, 31, 64, 200}) {
        std::vector<float> uniform(static_cast<std::size_t>(count + 1), 9.0f), normal = uniform;
        std::vector<std::int64_t> bits(static_cast<std::size_t>(count + 1), 9);
        random_tiles().uniform(seed, ordinal, first, count, uniform.data());
        random_tiles().normal(seed, ordinal, first, count, normal.data());
        random_tiles().bits(seed, ordinal, first, count, bits.data());
        for (std::int64_t i = 0; i < count; ++i) {
          const auto at = static_cast<std::size_t>(i);
          CHECK(uniform[at] == random_uniform(seed, ordinal, first + i));
          CHECK(normal[at] == random_normal(seed, ordinal, first + i));
          CHECK(bits[at] == random_bits(seed, ordinal, first + i));
        }
        CHECK((uniform.back() == 9.0f && normal.back() == 9.0f && bits.back() == 9));
      }
  }
  cpu::set_instruction_set(before);
}

TEST_CASE("random: distributions") {
  constexpr std::int64_t count = 1 << 20;
  KernelArray uniform(f32, {count}), normal(f32, {count});
  random(Op::random_uniform, 1, 2, uniform.view());
  random(Op::random_normal, 1, 2, normal.view());
  double mean = 0, square = 0, normal_mean = 0, normal_square = 0, normal_fourth = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double u = uniform.get<double>(i), z = normal.get<double>(i);
    CHECK((u >= 0 && u < 1 && std::isfinite(z)));
    mean += u / count;
    square += u * u / count;
    normal_mean += z / count;
    normal_square += z * z / count;
    normal_fourth += z * z * z * z / count;
  }
  CHECK(mean == doctest::Approx(0.5).epsilon(0.003));
  CHECK(square == doctest::Approx(1.0 / 3).epsilon(0.005));
  CHECK(std::abs(normal_mean) < 0.005);
  CHECK(normal_square == doctest::Approx(1.0).epsilon(0.01));
  CHECK(normal_fourth == doctest::Approx(3.0).epsilon(0.03));
}

TEST_CASE("random: layout, dtype and threads do not change a draw; seed and ordinal do") {
  const int before = cpu::threads();
  KernelArray want(f32, {300, 301});
  cpu::set_threads(1);
  random(Op::random_uniform, 5, 6, want.view());
  cpu::set_threads(2);
  for (const Layout layout : all_layouts) {
    KernelArray got(f32, {300, 301}, layout);
    random(Op::random_uniform, 5, 6, got.view());
    CHECK(got.values<float>() == want.values<float>());
    CHECK(got.surroundings_intact());
  }
  cpu::set_threads(before);
  KernelArray other(f32, {300, 301});
  random(Op::random_uniform, 5, 7, other.view());
  CHECK(other.values<float>() != want.values<float>());
  random(Op::random_uniform, 4, 6, other.view());
  CHECK(other.values<float>() != want.values<float>());
  KernelArray bits(i64, {5});
  random(Op::random_bits, 0, 0, bits.view());
  CHECK(bits.bits(0) == 0xe169c58d6627e8d5u);
}

TEST_CASE("generate: constants of every dtype and layout") {
  for (const DType dtype : tests::all_dtypes)
    for (const Layout layout : all_layouts)
      for (const Shape& shape : {Shape{}, Shape{0}, Shape{5, 67}}) {
        KernelArray real(dtype, shape, layout), whole(dtype, shape, layout);
        fill(1.0, real.view());
        fill_integer(1, whole.view());
        for (std::int64_t i = 0; i < real.size(); ++i) {
          CHECK(real.get<double>(i) == 1.0);
          CHECK(whole.get<double>(i) == 1.0);
        }
        CHECK((real.surroundings_intact() && whole.surroundings_intact()));
      }
  KernelArray lowest(i64, {2}), third(f32, {1});
  fill_integer(INT64_MIN, lowest.view());
  CHECK(lowest.get<std::int64_t>(1) == INT64_MIN);
  fill(1.0 / 3, third.view());
  CHECK(third.get<float>(0) == 1.0f / 3.0f);
}

TEST_CASE("generate: ranges") {
  KernelArray steps(f32, {1000}), large(i64, {3}), halves(bf16, {4}), none(f64, {0});
  arange(0.5, 0.1, steps.view());
  for (std::int64_t i = 0; i < 1000; ++i) {
    const float product = static_cast<float>(i) * 0.1f;
    CHECK(steps.get<float>(i) == 0.5f + product);
  }
  arange_integer(std::int64_t{1} << 60, -3, large.view());
  CHECK(large.get<std::int64_t>(2) == (std::int64_t{1} << 60) - 6);
  arange(0, 0.5, halves.view());
  CHECK(halves.get<float>(3) == 1.5f);
  arange(0, 1, none.view());
}

}  // namespace
}  // namespace sinter::kernels
