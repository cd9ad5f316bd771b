/// \file
/// Going over all floats, on two threads.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <thread>

namespace sinter {

inline constexpr int sweep_threads = 2;
using FloatBlock = std::array<float, 4096>;

/// Calls body(thread, block) until the floats with the bits 0, step, 2 step, ... have all been in a
/// block. Threads are numbered from 0; the last block is filled up with the last float.
template <class Body>
void sweep_floats(std::uint32_t step, const Body& body) {
  constexpr std::uint64_t size = std::tuple_size_v<FloatBlock>, last = 0xffffffff;
  const std::uint64_t blocks = (last / step + size) / size;
  std::atomic<std::uint64_t> next{0};
  const auto work = [&](int thread) {
    FloatBlock block;
    for (std::uint64_t b = next++; b < blocks; b = next++) {
      for (std::uint64_t i = 0; i < size; ++i)
        block[i] =
            std::bit_cast<float>(static_cast<std::uint32_t>(std::min((b * size + i) * step, last)));
      body(thread, block);
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
}

}  // namespace sinter
