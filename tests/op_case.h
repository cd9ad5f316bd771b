/// \file
/// Cases of ops: operands to draw, the op through the public interface, and an oracle in long
/// double that shares no code with the kernels. op_test.cpp runs them over dtypes, memory layouts
/// and levels, and holds gradients against differences of the oracle.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace sinter::tests {

struct Range {
  double low, high;
};

/// Row-major elements on the host.
struct Array {
  Shape shape;
  std::vector<long double> elements;

  explicit Array(const Shape& of) : shape(of) {
    elements.resize(static_cast<std::size_t>(element_count(of)));
  }
  long double& at(const Dims& index);
  long double at(const Dims& index) const { return const_cast<Array&>(*this).at(index); }
};

/// The array whose element at `index` is element(index).
Array make_array(const Shape& shape, const std::function<long double(const Dims&)>& element);

/// Calls body(index) for every index of the shape in row-major order.
void for_each(const Shape& shape, const std::function<void(const Dims&)>& body);

/// How an operand lies in memory.
enum class Layout : std::uint8_t { contiguous, transposed, stepped, flipped, broadcast, shifted };
inline constexpr Layout layouts[] = {Layout::contiguous, Layout::transposed, Layout::stepped,
                                     Layout::flipped,    Layout::broadcast,  Layout::shifted};

enum class Kind : std::uint8_t {
  data,      ///< of the dtype under test
  constant,  ///< the same, with no gradient
  index,     ///< i32 or i64
  truth,     ///< bool
};

struct Input {
  Shape shape;
  Range range = {-2, 2};
  Kind kind = Kind::data;
};

/// An operand on both sides.
struct Operands {
  std::vector<Tensor> tensors;
  std::vector<Array> arrays;
};

struct OpCase {
  std::string name;
  std::vector<Input> inputs;
  std::function<Tensor(const std::vector<Tensor>&)> run;
  std::function<Array(const std::vector<Array>&)> oracle;
  /// The error allowed, in units of the compute type's epsilon times `scale` and, where that is
  /// larger, the result; 0 is exact, rounded once.
  double units = 4;
  double scale = 1;
  std::vector<DType> dtypes = {f32, f64, f16, bf16};
  bool differentiable = true;
  /// Whether levels agree only within the error allowed (the library class).
  bool library = false;
  /// An error allowed on top, in units of `scale`: that of the oracle itself.
  double oracle_error = 0;
  /// Roundings to f16 or bf16 on the way to a result of that dtype, on top of its own.
  double roundings = 0;
  /// The error allowed, in units in the last place of the compute type.
  double ulps = 0;
};

using Cases = std::vector<OpCase>;

/// All eight dtypes.
inline const std::vector<DType> all_dtypes = {boolean, u8, i32, i64, f16, bf16, f32, f64};

/// The tensor whose elements are those of the array rounded to `dtype`, laid out in memory as
/// asked; the array then holds the rounded elements.
Tensor place(Array& array, DType dtype, Layout layout);

/// Draws one operand: the same for equal arguments.
Array draw(const Input& input, DType dtype, Layout layout, std::uint64_t seed);

/// Draws all operands of a case.
Operands draw_operands(const std::vector<Input>& inputs, DType dtype, Layout layout,
                       std::uint64_t seed);

/// `x` rounded to the dtype, as a host number.
long double rounded(long double x, DType dtype);

/// The distance to the next number of the dtype at `x`.
long double ulp(long double x, DType dtype);

/// The elements of a tensor, exactly.
Array to_array(const Tensor& tensor);

/// Whether all elements are within the bounds of the case.
void check_close(const Tensor& result, const Array& expected, const OpCase& of);

/// The case of the gradient of input `input`: its operands are those of the forward case and the
/// gradient of the result, its oracle takes differences of the forward oracle.
OpCase gradient_case(const OpCase& forward, std::size_t input);

/// Runs the case at both levels and compares: with the oracle, and with each other bit for bit
/// (the library class with the oracle only). Where an op is given, the result must come from it.
void run_case(const OpCase& one, std::optional<Op> op, DType dtype, Layout layout,
              std::uint64_t seed);

/// The same on given operands; `what` is named where it fails.
void run_on(const OpCase& one, std::optional<Op> op, const Operands& operands,
            const std::string& what);

/// All gradient cases of all cases.
Cases gradients_of(const Cases& forward);

}  // namespace sinter::tests
