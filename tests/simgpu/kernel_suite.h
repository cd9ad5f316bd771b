/// \file
/// Tables of kernels: a file of CUDA C++, compiled by the real NVRTC for each profile, and a row
/// for each of its kernels with the sizes of a launch and its arguments: numbers, inputs, and what
/// it is to give, worked out by plain C++.
///
///     const std::vector<float> a = numbers<float>(96, 1, -2, 2);
///     check_kernels("math.cu", {row("f32_exp", threads(96), near<float>(wanted, 2), a)});
#pragma once

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/simgpu/exact.h"
#include "tests/simgpu/simulated_device.h"

namespace simgpu {

/// A number of 16 bits, rounded to even where it is made.
template <const exact::Layout& layout>
struct Small {
  static constexpr const exact::Layout& format = layout;
  std::uint16_t word = 0;

  Small() = default;
  Small(double value)
      : word(static_cast<std::uint16_t>(exact::convert(
            exact::f64, std::bit_cast<std::uint64_t>(value), layout, exact::Round::even))) {}
  operator double() const { return exact::number(layout, word); }
};
using Half = Small<exact::f16>;
using Brain = Small<exact::bf16>;

template <class T>
constexpr bool is_small = std::is_same_v<T, Half> || std::is_same_v<T, Brain>;
template <class T>
constexpr bool is_number = std::is_floating_point_v<T> || is_small<T>;

/// Numbers without a pattern, the same in each run.
std::uint64_t random_word(std::uint64_t seed, std::uint64_t index);
template <class T>
std::vector<T> numbers(std::size_t count, std::uint64_t seed, double from, double to) {
  std::vector<T> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double unit = static_cast<double>(random_word(seed, i) >> 11) * 0x1p-53;
    made[i] = static_cast<T>(from + (to - from) * unit);
  }
  return made;
}
/// Any bits; of integers every third is small.
template <class T>
std::vector<T> words(std::size_t count, std::uint64_t seed) {
  std::vector<T> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t word = random_word(seed, i);
    if constexpr (is_small<T>) made[i].word = static_cast<std::uint16_t>(word);
    else if constexpr (std::is_same_v<T, float>)
      made[i] = std::bit_cast<float>(static_cast<std::uint32_t>(word));
    else if constexpr (std::is_same_v<T, double>) made[i] = std::bit_cast<double>(word);
    else
      made[i] = static_cast<T>(i % 3 == 2 ? static_cast<std::int64_t>(word % 41) - 20
                                          : static_cast<std::int64_t>(word));
  }
  return made;
}

/// What one element of each input gives, element by element.
template <class Out, class F, class First, class... Rest>
std::vector<Out> each(F f, const std::vector<First>& first, const std::vector<Rest>&... rest) {
  std::vector<Out> made(first.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    if constexpr (std::is_invocable_v<F, std::size_t, First, Rest...>)
      made[i] = static_cast<Out>(f(i, first[i], rest[i]...));
    else made[i] = static_cast<Out>(f(first[i], rest[i]...));
  return made;
}

/// What a kernel is to write: bit for bit (any NaN for a NaN), or within an error.
template <class T>
struct Expected {
  std::vector<T> values;
  std::vector<long double> exact_values;  ///< instead of `values`, where there is an error
  double ulps = 0, absolute = 0;          ///< units of the last place, and what may be added
  std::vector<T> before;                  ///< in the memory that it writes

  std::size_t size() const { return ulps == 0 ? values.size() : exact_values.size(); }
};
template <class T>
Expected<T> exactly(std::vector<T> values, std::vector<T> before = {}) {
  return {std::move(values), {}, 0, 0, std::move(before)};
}
template <class T>
Expected<T> near(std::vector<long double> values, double ulps, double absolute = 0) {
  return {{}, std::move(values), ulps, absolute, {}};
}

/// The unit of the last place of a type at a value.
template <class T>
double unit_at(long double value) {
  int mantissa = 0, least = 0;
  if constexpr (is_small<T>) {
    mantissa = T::format.mantissa_bits;
    least = 1 - T::format.bias();
  } else {
    mantissa = std::numeric_limits<T>::digits - 1;
    least = std::numeric_limits<T>::min_exponent - 1;
  }
  const int exponent = value == 0 ? least : std::max(std::ilogb(value), least);
  return std::ldexp(1.0, exponent - mantissa);
}

std::string number_text(long double value);

/// Empty where they agree, else the first element that does not.
template <class T>
std::string difference(const Expected<T>& expected, const std::vector<T>& got) {
  const auto text = [](const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, char>) return std::to_string(value);
    else if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
      return number_text(static_cast<long double>(value));
    else if constexpr (is_small<std::decay_t<decltype(value)>>)
      return number_text(static_cast<double>(value));
    else return std::string("another");
  };
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string place = "element " + std::to_string(i) + ": ";
    if (expected.ulps == 0) {
      if constexpr (is_number<T>)
        if (std::isnan(static_cast<double>(got[i])) &&
            std::isnan(static_cast<double>(expected.values[i])))
          continue;
      if (std::memcmp(&got[i], &expected.values[i], sizeof(T)) != 0)
        return place + text(got[i]) + " instead of " + text(expected.values[i]);
    } else if constexpr (is_number<T>) {
      const long double wanted = expected.exact_values[i], value = static_cast<double>(got[i]);
      if (std::isnan(wanted) && std::isnan(value)) continue;
      const long double rounded = static_cast<double>(static_cast<T>(static_cast<double>(wanted)));
      if (rounded == value) continue;  // also where both are infinite
      // CUDA's errors are distances from the correctly rounded result.
      const long double most = expected.ulps * unit_at<T>(wanted) + expected.absolute;
      if (!(std::fabs(value - rounded) <= most))
        return place + text(got[i]) + " instead of " + number_text(wanted);
    }
  }
  return "";
}

/// A kernel with one launch of it.
struct KernelRow {
  std::string name;
  std::function<void(SimulatedDevice&)> check;
};

using Checks = std::vector<std::function<void()>>;

/// An argument as it is passed: vectors by the address of their copy, what is expected by that of
/// the memory that it is expected in.
template <class T>
const T* place(SimulatedDevice& device, Checks&, const std::vector<T>& values) {
  return device.upload(values);
}
template <class T>
T* place(SimulatedDevice& device, Checks& checks, const Expected<T>& expected) {
  T* out = expected.before.empty() ? device.allocate<T>(expected.size())
                                   : device.upload(expected.before);
  checks.push_back([&expected, &device, out] {
    CHECK(difference(expected, device.download(out, expected.size())) == "");
  });
  return out;
}
template <class T>
requires std::is_trivially_copyable_v<T> T place(SimulatedDevice&, Checks&, const T& value) {
  return value;
}

void check_ran(const std::optional<FaultReport>& fault);

template <class... Given>
KernelRow row(std::string name, LaunchConfiguration sizes, Given... arguments) {
  auto check = [=](SimulatedDevice& device) {
    Checks checks;
    const std::tuple placed{place(device, checks, arguments)...};
    check_ran(
        std::apply([&](const auto&... all) { return device.launch(name, sizes, all...); }, placed));
    for (const auto& each : checks) each();
  };
  return {name, std::move(check)};
}

/// Blocks of 96 threads, one for each element and a few more where they do not come out even.
LaunchConfiguration threads(std::size_t count);
/// `blocks` of `block` threads.
LaunchConfiguration grid(std::uint32_t blocks, std::uint32_t block, std::uint32_t shared = 0);

/// Compiles the file for each profile (or those named) and checks the rows, which are at least one
/// for each kernel.
void check_kernels(const char* file, const std::vector<KernelRow>& rows,
                   std::initializer_list<const char*> options = {},
                   std::initializer_list<const char*> profiles = {"sm_80", "sm_90", "sm_100"});

}  // namespace simgpu
