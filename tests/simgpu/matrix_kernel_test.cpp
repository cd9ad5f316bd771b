// Matrix instructions in kernels that the real NVRTC compiles: tests/simgpu/kernels/matrix.cu and
// wmma.cu. Matrices are of small integers: every sum is exact, in any order.

#include <doctest/doctest.h>

#include <random>

#include "tests/simgpu/kernel_file.h"
#include "tests/simgpu/matrix_numbers.h"
#include "tests/simgpu/simulated_device.h"

namespace simgpu {
namespace {

constexpr LaunchConfiguration one_warp = {{1, 1, 1}, {32, 1, 1}};
constexpr const char* profiles[] = {"sm_80", "sm_90", "sm_100"};

/// A matrix, row after row.
struct Matrix {
  int rows, columns;
  std::vector<int> values;
  Matrix(int rows_of, int columns_of)
      : rows(rows_of), columns(columns_of), values(static_cast<std::size_t>(rows * columns)) {}
  int& at(int row, int column) { return values[static_cast<std::size_t>(row * columns + column)]; }
  int at(int row, int column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
};

Matrix random_matrix(int rows, int columns, int least = -4) {
  static std::mt19937 generator(5);
  Matrix made(rows, columns);
  for (int& value : made.values) value = least + static_cast<int>(generator() % 9);
  return made;
}
Matrix transposed(const Matrix& from) {
  Matrix made(from.columns, from.rows);
  for (int row = 0; row < from.rows; ++row)
    for (int column = 0; column < from.columns; ++column)
      made.at(column, row) = from.at(row, column);
  return made;
}
Matrix product(const Matrix& a, const Matrix& b) {
  Matrix made(a.rows, b.columns);
  for (int row = 0; row < a.rows; ++row)
    for (int column = 0; column < b.columns; ++column)
      for (int k = 0; k < a.columns; ++k) made.at(row, column) += a.at(row, k) * b.at(k, column);
  return made;
}

/// The words of a matrix as T, in lines of `stride` elements.
template <class T>
std::vector<T> words_of(const Matrix& from, std::string_view format, int stride = 0) {
  if (stride == 0) stride = from.columns;
  std::vector<T> words(static_cast<std::size_t>(from.rows * stride));
  for (int row = 0; row < from.rows; ++row)
    for (int column = 0; column < from.columns; ++column)
      words[static_cast<std::size_t>(row * stride + column)] =
          static_cast<T>(encode_integer(number_format(format), from.at(row, column)));
  return words;
}
template <class T>
void check_words(const std::vector<T>& got, const Matrix& wanted, std::string_view format,
                 int stride = 0) {
  if (stride == 0) stride = wanted.columns;
  for (int row = 0; row < wanted.rows; ++row)
    for (int column = 0; column < wanted.columns; ++column)
      CHECK(decode(number_format(format), got[static_cast<std::size_t>(row * stride + column)]) ==
            wanted.at(row, column));
}

void check_runs(const std::optional<FaultReport>& fault) {
  if (fault) FAIL(fault->text);
}

/// One warp, D = A B, with A row after row and B column after column.
template <class T, class Sum>
void check_tile(SimulatedDevice& device, const char* kernel, int m, int n, int k,
                std::string_view a_format, std::string_view b_format, std::string_view d_format) {
  CAPTURE(kernel);
  const Matrix a = random_matrix(m, k), b = random_matrix(k, n);
  Sum* d = device.allocate<Sum>(static_cast<std::size_t>(m * n));
  check_runs(device.launch(kernel, one_warp, device.upload(words_of<T>(a, a_format)),
                           device.upload(words_of<T>(transposed(b), b_format)), d));
  check_words(device.download(d, static_cast<std::size_t>(m * n)), product(a, b), d_format);
}

/// A product by wmma: D = A B + 2 C, of matrices that lie in larger ones.
template <class T, class Sum>
void check_wmma(SimulatedDevice& device, const char* kernel, int m, int n, int k, bool a_is_row,
                bool b_is_row, std::string_view format, std::string_view d_format) {
  CAPTURE(kernel);
  const int least = format == "u8" ? 0 : -4;
  const Matrix a = random_matrix(m, k, least), b = random_matrix(k, n, least);
  const Matrix c = random_matrix(m, n);
  const int padding = 32 / static_cast<int>(sizeof(T));
  const int stride_a = (a_is_row ? k : m) + padding, stride_b = (b_is_row ? n : k) + padding;
  const int stride_c = n + 8;
  const T* from_a = device.upload(words_of<T>(a_is_row ? a : transposed(a), format, stride_a));
  const T* from_b = device.upload(words_of<T>(b_is_row ? b : transposed(b), format, stride_b));
  const std::vector<Sum> sums = words_of<Sum>(c, d_format, stride_c);
  Sum* d = device.upload(sums);
  check_runs(device.launch(kernel, one_warp, from_a, from_b, device.upload(sums), d, stride_a,
                           stride_b, stride_c));
  Matrix wanted = product(a, b);
  for (std::size_t i = 0; i < wanted.values.size(); ++i) wanted.values[i] += 2 * c.values[i];
  check_words(device.download(d, sums.size()), wanted, d_format, stride_c);
}

}  // namespace

TEST_CASE("simgpu kernels: mma of every kind of number, by one warp or a grid of them" *
          doctest::skip(!has_nvrtc())) {
  for (const char* profile : profiles) {
    CAPTURE(profile);
    SimulatedDevice device(profile);
    device.load_cuda(kernel_file("matrix.cu"));

    // A grid of tiles, over several steps of K.
    for (const std::string format : {"bf16", "f16"}) {
      CAPTURE(format);
      const Matrix a = random_matrix(48, 64), b = random_matrix(64, 24), c = random_matrix(48, 24);
      auto* sums = device.upload(words_of<std::uint32_t>(c, "f32"));
      check_runs(device.launch("product_" + format, {{3, 3, 1}, {32, 1, 1}},
                               device.upload(words_of<std::uint16_t>(a, format)),
                               device.upload(words_of<std::uint16_t>(transposed(b), format)), sums,
                               64));
      Matrix wanted = product(a, b);
      for (std::size_t i = 0; i < wanted.values.size(); ++i) wanted.values[i] += c.values[i];
      check_words(device.download(sums, wanted.values.size()), wanted, "f32");
    }

    const Matrix a = random_matrix(16, 16), b = random_matrix(16, 8);
    auto* halves = device.allocate<std::uint16_t>(16 * 8);
    check_runs(device.launch("product_rows", one_warp,
                             device.upload(words_of<std::uint16_t>(a, "f16")),
                             device.upload(words_of<std::uint16_t>(b, "f16")), halves));
    check_words(device.download(halves, 16 * 8), product(a, b), "f16");

    check_tile<std::uint8_t, std::uint32_t>(device, "product_s8", 16, 8, 32, "s8", "s8", "s32");
    check_tile<std::uint64_t, std::uint64_t>(device, "product_f64", 8, 8, 4, "f64", "f64", "f64");
    check_tile<std::uint32_t, std::uint32_t>(device, "product_tf32", 16, 8, 8, "f32", "f32", "f32");
    if (device.profile().major >= 9)
      check_tile<std::uint8_t, std::uint32_t>(device, "product_f8", 16, 8, 32, "e4m3", "e5m2",
                                              "f32");
  }
}

TEST_CASE("simgpu kernels: matrices that are moved, and an elected lane" *
          doctest::skip(!has_nvrtc())) {
  for (const char* profile : profiles) {
    CAPTURE(profile);
    SimulatedDevice device(profile);
    device.load_cuda(kernel_file("matrix.cu"));
    std::vector<std::uint16_t> numbers(4 * 64);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint16_t>(i * 5);
    const auto* from = device.upload(numbers);
    auto* to = device.allocate<std::uint16_t>(256);
    check_runs(device.launch("transposed", one_warp, from, to));
    const std::vector<std::uint16_t> turned = device.download(to, 64);
    for (std::size_t i = 0; i < 64; ++i) CHECK(turned[i] == numbers[i % 8 * 8 + i / 8]);
    if (device.profile().major < 9) continue;

    // Register r of a lane is of the 8 x 8 matrix r: the first two lie in rows 0 to 15 of the left
    // half.
    check_runs(device.launch("stored", one_warp, from, to));
    const std::vector<std::uint16_t> rows = device.download(to, 256);
    for (std::size_t i = 0; i < 256; ++i) {
      const std::size_t row = i / 16, column = i % 16;
      const std::size_t matrix = row / 8 + column / 8 * 2;
      CHECK(rows[i] == numbers[matrix * 64 + row % 8 * 8 + column % 8]);
    }
    auto* count = device.upload(std::vector<int>{0});
    check_runs(device.launch("elected", {{3, 1, 1}, {64, 1, 1}}, count));
    CHECK(device.download(count, 1)[0] == 6);
  }
}

TEST_CASE("simgpu kernels: wmma as <mma.h> makes it" * doctest::skip(!has_nvrtc())) {
  for (const char* profile : profiles) {
    CAPTURE(profile);
    SimulatedDevice device(profile);
    device.load_cuda(kernel_file("wmma.cu"));
    using Half = std::uint16_t;
    using Byte = std::uint8_t;
    using Word = std::uint32_t;
    check_wmma<Half, Word>(device, "half_16_16", 16, 16, 16, true, false, "f16", "f32");
    check_wmma<Half, Word>(device, "half_8_32", 8, 32, 16, false, true, "f16", "f32");
    check_wmma<Half, Word>(device, "half_32_8", 32, 8, 16, true, true, "f16", "f32");
    check_wmma<Half, Word>(device, "brain_16_16", 16, 16, 16, false, false, "bf16", "f32");
    check_wmma<Half, Word>(device, "brain_8_32", 8, 32, 16, true, false, "bf16", "f32");
    check_wmma<Half, Word>(device, "brain_32_8", 32, 8, 16, true, true, "bf16", "f32");
    check_wmma<Byte, Word>(device, "bytes_16_16", 16, 16, 16, true, false, "s8", "s32");
    check_wmma<Byte, Word>(device, "bytes_32_8", 32, 8, 16, false, true, "u8", "s32");
    check_wmma<Word, Word>(device, "single_16_16", 16, 16, 8, true, false, "f32", "f32");
    check_wmma<std::uint64_t, std::uint64_t>(device, "double_8_8", 8, 8, 4, true, false, "f64",
                                             "f64");

    const Matrix a = random_matrix(16, 16), b = random_matrix(16, 16);
    auto* d = device.allocate<Half>(256);
    check_runs(device.launch("half_sums", one_warp, device.upload(words_of<Half>(a, "f16")),
                             device.upload(words_of<Half>(b, "f16")), d));
    Matrix wanted = transposed(product(a, b));
    for (int& value : wanted.values) ++value;
    check_words(device.download(d, 256), wanted, "f16");
  }
}

TEST_CASE("simgpu kernels: what is wrong with a matrix in memory is found" *
          doctest::skip(!has_nvrtc())) {
  SimulatedDevice device;
  device.load_cuda(kernel_file("matrix.cu"));
  device.load_cuda(kernel_file("wmma.cu"));
  auto* out = device.allocate<std::uint32_t>(32);
  const auto kind_of = [](const std::optional<FaultReport>& fault) {
    REQUIRE(fault);
    return fault->kind;
  };
  CHECK(kind_of(device.launch("bad_row", one_warp, out, 1)) == FaultKind::misaligned);
  CHECK(kind_of(device.launch("bad_row", one_warp, out, 0)) == FaultKind::uninitialised);

  // wmma reads and writes past the end, or what nobody has written.
  const auto* few = device.upload(std::vector<std::uint16_t>(16 * 16 - 8));
  const auto* enough = device.upload(std::vector<std::uint16_t>(16 * 16));
  const auto* unwritten = device.allocate<std::uint16_t>(16 * 16);
  const auto* sums = device.upload(std::vector<float>(16 * 16));
  auto* to = device.allocate<float>(16 * 16);
  auto* short_to = device.allocate<float>(16 * 16 - 4);
  const auto run = [&](auto* a, auto* b, auto* c, auto* d) {
    return device.launch("half_16_16", one_warp, a, b, c, d, 16, 16, 16);
  };
  CHECK_FALSE(run(enough, enough, sums, to));
  CHECK(kind_of(run(few, enough, sums, to)) == FaultKind::out_of_bounds);
  CHECK(kind_of(run(enough, unwritten, sums, to)) == FaultKind::uninitialised);
  CHECK(kind_of(run(enough, enough, sums, short_to)) == FaultKind::out_of_bounds);
  CHECK(kind_of(run(enough + 8, enough, sums, to)) == FaultKind::misaligned);
  // Less than a warp.
  CHECK(kind_of(device.launch("half_16_16", {{1, 1, 1}, {16, 1, 1}}, enough, enough, sums, to, 16,
                              16, 16)) == FaultKind::absent_lane);
}

}  // namespace simgpu
