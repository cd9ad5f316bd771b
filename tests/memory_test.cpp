#include "runtime/memory.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "runtime/error.h"

namespace sinter {
namespace {

TEST_CASE("memory: blocks are aligned, writable and counted") {
  release_cached_memory();
  const MemoryStatistics before = memory_statistics();
  {
    std::vector<BufferRef> buffers;
    std::int64_t asked = 0;
    for (const std::size_t bytes : {0u, 1u, 63u, 64u, 65u, 1000u, 4097u, 100000u, 9000000u}) {
      buffers.push_back(Buffer::allocate(bytes));
      const BufferRef& buffer = buffers.back();
      CHECK(reinterpret_cast<std::uintptr_t>(buffer->data()) % buffer_alignment == 0);
      CHECK(buffer->bytes() == bytes);
      CHECK_FALSE(buffer->external());
      std::memset(buffer->data(), 1, bytes);
      asked += static_cast<std::int64_t>(bytes);
    }
    const std::int64_t used = memory_statistics().bytes_in_use - before.bytes_in_use;
    CHECK(used >= asked);
    CHECK(used <= asked + asked / 8 + 64 * 9);
  }
  CHECK(memory_statistics().bytes_in_use == before.bytes_in_use);
  CHECK(memory_statistics().cached_bytes > 9000000);
  release_cached_memory();
  CHECK(memory_statistics().cached_bytes == 0);
}

TEST_CASE("memory: a freed block serves the next request of its size") {
  release_cached_memory();
  const std::byte* first = Buffer::allocate(1000)->data();
  CHECK(Buffer::allocate(1024)->data() == first);
  CHECK(Buffer::allocate(900)->data() != first);  // another size
  const std::byte* large = Buffer::allocate(1 << 20)->data();
  CHECK(Buffer::allocate((1 << 20) * 9 / 10)->data() == large);  // large ones also for less
  CHECK(Buffer::allocate((1 << 20) / 2)->data() != large);
}

TEST_CASE("memory: the peak is the most in use at once") {
  release_cached_memory();
  reset_peak_memory();
  const std::int64_t start = memory_statistics().peak_bytes;
  { const BufferRef a = Buffer::allocate(1 << 20), b = Buffer::allocate(1 << 20); }
  { const BufferRef c = Buffer::allocate(1 << 20); }
  CHECK(memory_statistics().peak_bytes == start + (2 << 20));
  reset_peak_memory();
  CHECK(memory_statistics().peak_bytes == start);
}

TEST_CASE("memory: the cache keeps to its limit") {
  release_cached_memory();
  const std::size_t before = memory_cache_limit();
  set_memory_cache_limit(3 << 20);
  {
    std::vector<BufferRef> buffers;
    for (int i = 0; i < 8; ++i) buffers.push_back(Buffer::allocate(1 << 20));
  }
  CHECK(memory_statistics().cached_bytes <= 3 << 20);
  CHECK(memory_statistics().cached_bytes > 0);
  set_memory_cache_limit(1000);
  CHECK(memory_statistics().cached_bytes == 0);
  Buffer::allocate(5000);
  CHECK(memory_statistics().cached_bytes == 0);
  set_memory_cache_limit(before);
  CHECK(memory_cache_limit() == before);
}

TEST_CASE("memory: what cannot be had is an error that names the bytes") {
  std::vector<std::size_t> sizes = {(std::size_t{1} << 47) + 1, std::size_t{1} << 60,
                                    ~std::size_t{0}};
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which end the program
  sizes.push_back((std::size_t{1} << 47) - 4096);
#endif
  for (const std::size_t bytes : sizes) {
    const std::string expected = "memory: " + std::to_string(bytes) + " bytes could not be";
    CHECK_THROWS_WITH_AS(Buffer::allocate(bytes), doctest::Contains(expected.c_str()), Error);
  }
  CHECK(Buffer::allocate(100)->bytes() == 100);
}

TEST_CASE("memory: borrowed memory is the user's, and given back once") {
  const std::int64_t before = memory_statistics().bytes_in_use;
  float values[3] = {1, 2, 3};
  int deleted = 0;
  {
    const BufferRef buffer = Buffer::borrow(values, sizeof values, [&] { ++deleted; });
    const BufferRef other = buffer;  // NOLINT(performance-unnecessary-copy-initialization)
    CHECK(buffer->external());
    CHECK(buffer->data() == reinterpret_cast<std::byte*>(values));
    CHECK(deleted == 0);
  }
  CHECK(deleted == 1);
  { const BufferRef without = Buffer::borrow(values, 0, {}); }
  CHECK(memory_statistics().bytes_in_use == before);
}

TEST_CASE("memory: threads allocate, hand on and free at once") {
  const std::int64_t before = memory_statistics().bytes_in_use;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      std::vector<BufferRef> kept(7);
      for (std::size_t i = 0; i < 2000; ++i) {
        const std::size_t bytes = 64 + i * 37 % 5000;
        BufferRef buffer = Buffer::allocate(bytes);
        std::memset(buffer->data(), t, bytes);
        kept[i % 7] = buffer;
        if (i % 500 == 0) release_cached_memory();
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(memory_statistics().bytes_in_use == before);
}

}  // namespace
}  // namespace sinter
