/// \file
/// What loads and stores move: numbers of memory, to registers of every size that holds them. A
/// signed one is extended by its sign, and a register of the same size takes any. PTX ISA 9.4.1,
/// table 28.
#pragma once

#include <type_traits>

#include "tools/simgpu/lanes/lanes.h"

namespace simgpu::SIMGPU_ISA {

/// body<T, R>(type) for types T of memory and R of registers; stores have no signs.
template <bool has_signs, class Body>
void each_moved(Body body) {
  each_type<u8, s8, u16, s16, u32, s32, u64>([&]<class T>() {
    each_type<u16, u32, u64>([&]<class R>() {
      constexpr const char* type = std::is_signed_v<T> ? type_name<T> : bits_name<T>;
      using Moved = std::conditional_t<sizeof(T) == sizeof(R), R, T>;
      if constexpr (sizeof(R) >= sizeof(T) && (has_signs || !std::is_signed_v<T>))
        body.template operator()<Moved, R>(type);
    });
  });
}

}  // namespace simgpu::SIMGPU_ISA
