/// \file
/// The order of additions that kernels/reduce.h documents, written as plainly as it goes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/math.h"
#include "runtime/op.h"

namespace sinter::jit {

/// One step of sum, prod, amax, amin, any or all (the latter two on 0 and 1).
template <typename C>
C combine(Op op, C a, C b) {
  switch (op) {
    case Op::sum: return a + b;
    case Op::prod:
    case Op::all: return a * b;
    case Op::amin: return kernels::m::minimum(a, b);
    default: return kernels::m::maximum(a, b);
  }
}

template <typename C>
C identity(Op op) {
  return op == Op::prod || op == Op::all ? C(1) : C(0);
}

/// The row rule: blocks of 4096, each of 64 lanes folded by halves.
template <typename C>
C reduce_row(Op op, std::vector<C> elements) {
  constexpr std::size_t block = 4096, lane_count = 64;
  if (elements.empty()) return identity<C>(op);
  std::vector<C> results;
  for (std::size_t start = 0; start < elements.size(); start += block) {
    const std::size_t end = std::min(elements.size(), start + block);
    std::vector<C> lanes;
    for (std::size_t i = start; i < end; ++i) {
      const std::size_t lane = (i - start) % lane_count;
      if (lane == lanes.size()) {
        lanes.push_back(elements[i]);
      } else {
        lanes[lane] = combine(op, lanes[lane], elements[i]);
      }
    }
    for (std::size_t half = lane_count / 2; half > 0; half /= 2)
      for (std::size_t lane = 0; lane < half && lane + half < lanes.size(); ++lane)
        lanes[lane] = combine(op, lanes[lane], lanes[lane + half]);
    results.push_back(lanes[0]);
  }
  return results.size() == 1 ? results[0] : reduce_row(op, results);
}

/// The column rule: blocks of 64 in order.
template <typename C>
C reduce_column(Op op, std::vector<C> elements) {
  constexpr std::size_t block = 64;
  if (elements.empty()) return identity<C>(op);
  std::vector<C> results;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i % block == 0) {
      results.push_back(elements[i]);
    } else {
      results.back() = combine(op, results.back(), elements[i]);
    }
  }
  return results.size() == 1 ? results[0] : reduce_column(op, results);
}

/// One pass over an array seen as [outer, extent, inner].
template <typename C>
std::vector<C> reduce_pass(Op op, const std::vector<C>& elements, std::int64_t outer,
                           std::int64_t extent, std::int64_t inner) {
  std::vector<C> results;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t c = 0; c < inner; ++c) {
      std::vector<C> line;
      for (std::int64_t j = 0; j < extent; ++j)
        line.push_back(elements[static_cast<std::size_t>((o * extent + j) * inner + c)]);
      results.push_back(inner == 1 ? reduce_row(op, line) : reduce_column(op, line));
    }
  }
  return results;
}

}  // namespace sinter::jit
