#include "runtime/ops.h"
#include "tests/op_cases.h"

namespace sinter::tests {
namespace {

/// A case of one input whose result only shows its elements in other places.
OpCase view_case(const char* name, const Shape& in, const Shape& out,
                 const std::function<Tensor(const Tensor&)>& run,
                 const std::function<Dims(const Dims&)>& source) {
  return {.name = name,
          .inputs = {{in}},
          .run = [run](const std::vector<Tensor>& x) { return run(x[0]); },
          .oracle =
              [out, source](const std::vector<Array>& x) {
                return make_array(out, [&](const Dims& index) { return x[0].at(source(index)); });
              },
          .units = 0,
          .dtypes = all_dtypes};
}

OpCase reshape_case(const char* name, const Shape& in, const Shape& out) {
  return {.name = name,
          .inputs = {{in}},
          .run = [out](const std::vector<Tensor>& x) { return reshape(x[0], out); },
          .oracle =
              [out](const std::vector<Array>& x) {
                Array result(out);
                result.elements = x[0].elements;
                return result;
              },
          .units = 0,
          .dtypes = all_dtypes};
}

}  // namespace

Cases reshape_cases() {
  return {reshape_case("reshape 2x6 to 3x4", {2, 6}, {3, 4}),
          reshape_case("reshape 3x5 to 15", {3, 5}, {15}),
          reshape_case("reshape 1 to scalar", {1}, {}),
          reshape_case("reshape scalar to 1x1", {}, {1, 1}),
          reshape_case("reshape empty", {0, 4}, {2, 0}),
          reshape_case("reshape splits an axis", {3, 4, 5}, {3, 2, 2, 5})};
}

Cases permute_cases() {
  return {view_case(
              "permute 2x3x4", {2, 3, 4}, {4, 2, 3},
              [](const Tensor& a) {
                return permute(a, {2, 0, 1});
              },
              [](const Dims& i) {
                return Dims{i[1], i[2], i[0]};
              }),
          view_case(
              "transpose 3x5", {3, 5}, {5, 3}, [](const Tensor& a) { return transpose(a); },
              [](const Dims& i) {
                return Dims{i[1], i[0]};
              }),
          view_case(
              "permute empty", {0, 3}, {3, 0}, [](const Tensor& a) { return transpose(a); },
              [](const Dims& i) {
                return Dims{i[1], i[0]};
              })};
}

Cases expand_cases() {
  return {view_case(
              "expand 3x1 to 2x3x4", {3, 1}, {2, 3, 4},
              [](const Tensor& a) {
                return expand(a, {2, 3, 4});
              },
              [](const Dims& i) {
                return Dims{i[1], 0};
              }),
          view_case(
              "expand scalar to 5", {}, {5}, [](const Tensor& a) { return expand(a, {5}); },
              [](const Dims&) { return Dims{}; }),
          view_case(
              "expand to empty", {1, 3}, {0, 3},
              [](const Tensor& a) {
                return expand(a, {0, -1});
              },
              [](const Dims& i) {
                return Dims{0, i[1]};
              })};
}

Cases slice_cases() {
  return {view_case(
              "slice with step", {7, 3}, {3, 3},
              [](const Tensor& a) { return slice(a, 0, 1, std::nullopt, 2); },
              [](const Dims& i) {
                return Dims{1 + 2 * i[0], i[1]};
              }),
          view_case(
              "slice with negative step", {3, 7}, {3, 4},
              [](const Tensor& a) { return slice(a, 1, std::nullopt, std::nullopt, -2); },
              [](const Dims& i) {
                return Dims{i[0], 6 - 2 * i[1]};
              }),
          view_case(
              "narrow", {5, 4}, {5, 2}, [](const Tensor& a) { return narrow(a, 1, 1, 2); },
              [](const Dims& i) {
                return Dims{i[0], i[1] + 1};
              }),
          view_case(
              "select", {5, 4}, {4}, [](const Tensor& a) { return select(a, 0, -2); },
              [](const Dims& i) {
                return Dims{3, i[0]};
              }),
          view_case(
              "flip", {3, 4}, {3, 4},
              [](const Tensor& a) {
                return flip(a, {0, 1});
              },
              [](const Dims& i) {
                return Dims{2 - i[0], 3 - i[1]};
              }),
          view_case(
              "slice to empty", {3, 4}, {0, 4}, [](const Tensor& a) { return slice(a, 0, 2, 2); },
              [](const Dims& i) { return i; })};
}

Cases detach_cases() {
  OpCase one = view_case(
      "detach", {3, 5}, {3, 5}, [](const Tensor& a) { return detach(a); },
      [](const Dims& i) { return i; });
  one.differentiable = false;
  return {one};
}

}  // namespace sinter::tests
