/// \file
/// Products of integers: PTX ISA 9.7.1.3.
#pragma once

#include "tools/simgpu/lanes/apply.h"

namespace simgpu {
namespace SIMGPU_ISA {
namespace {

inline constexpr s64 least_s32 = INT32_MIN, most_s32 = INT32_MAX;

template <class T>
struct TwiceAsWide;
template <>
struct TwiceAsWide<u16> {
  using Type = u32;
};
template <>
struct TwiceAsWide<s16> {
  using Type = s32;
};
template <>
struct TwiceAsWide<u32> {
  using Type = u64;
};
template <>
struct TwiceAsWide<s32> {
  using Type = s64;
};
template <>
struct TwiceAsWide<u64> {
  using Type = u128;
};
template <>
struct TwiceAsWide<s64> {
  using Type = s128;
};
template <class T>
using Wide = typename TwiceAsWide<T>::Type;

struct MultiplyWide {
  template <class T>
  static Wide<T> of(T a, T b) {
    return static_cast<Wide<T>>(Wide<T>{a} * Wide<T>{b});
  }
};
struct MultiplyHigh {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(MultiplyWide::of(a, b) >> (8 * sizeof(T)));
  }
};
struct MultiplyLow {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a * b);
  }
};

}  // namespace
}  // namespace SIMGPU_ISA
}  // namespace simgpu
