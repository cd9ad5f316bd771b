#include "tools/simgpu/machine/memory.h"

#include <doctest/doctest.h>

namespace simgpu {

TEST_CASE("simgpu memory: an allocation is found by each of its addresses, and no other") {
  DeviceMemory memory(1 << 20);
  const std::uint64_t a = memory.allocate(100, "first").value();
  const std::uint64_t b = memory.allocate(1, "second").value();
  CHECK(a % DeviceMemory::alignment == 0);
  CHECK(b % DeviceMemory::alignment == 0);
  CHECK(memory.bytes_in_use() == 101);
  CHECK(memory.find(a)->maker == "first");
  CHECK(memory.find(a + 99)->maker == "first");
  CHECK_FALSE(memory.find(a + 100));
  CHECK_FALSE(memory.find(a - 1));
  CHECK(memory.find(b)->number == memory.find(a)->number + 1);
  CHECK(memory.is_allocated(a, 100));
  CHECK(memory.is_allocated(a + 40, 60));
  CHECK_FALSE(memory.is_allocated(a, 101));
  CHECK_FALSE(memory.is_allocated(a + 100, 1));
  CHECK(memory.nearest(a + 100)->maker == "first");
  CHECK(memory.nearest(b - 1)->maker == "second");
  CHECK(memory.nearest(b + 1000)->maker == "second");
  CHECK(memory.live().size() == 2);
}

TEST_CASE("simgpu memory: a freed address is known, and not given out soon") {
  DeviceMemory memory(1 << 20);
  const std::uint64_t a = memory.allocate(4096, "maker").value();
  CHECK_FALSE(memory.free(a + 1, "nobody"));
  CHECK(memory.free(a, "freer"));
  CHECK_FALSE(memory.free(a, "again"));
  CHECK(memory.find(a + 4095)->freed);
  CHECK(memory.find(a + 4095)->freer == "freer");
  CHECK_FALSE(memory.is_allocated(a, 1));
  CHECK(memory.bytes_in_use() == 0);
  for (int n = 0; n < 100; ++n) {
    const std::uint64_t next = memory.allocate(4096, "next").value();
    CHECK(next != a);
    CHECK(memory.free(next, "next"));
  }
}

TEST_CASE("simgpu memory: there is as much as there is") {
  DeviceMemory memory(1 << 20);
  CHECK_FALSE(memory.allocate(0, ""));
  CHECK_FALSE(memory.allocate((1 << 20) + 1, ""));
  const std::uint64_t half = memory.allocate(1 << 19, "").value();
  const std::uint64_t rest = memory.allocate(1 << 19, "").value();
  CHECK_FALSE(memory.allocate(1, ""));
  CHECK(memory.free(half, ""));
  CHECK(memory.allocate(1 << 19, ""));
  CHECK(memory.free(rest, ""));
}

TEST_CASE("simgpu memory: addresses go round, and what was freed there is forgotten") {
  constexpr std::size_t large = std::size_t{1} << 28;
  DeviceMemory memory(large);
  const std::uint64_t first = memory.allocate(large / 2, "first").value();
  CHECK(memory.free(first, "freer"));
  std::uint64_t at = 0;
  int rounds = 0;
  while (at != first && ++rounds < 100) {
    at = memory.allocate(large / 2, "later").value();
    if (at != first) CHECK(memory.find(first)->maker == "first");
    if (at != first) CHECK(memory.free(at, "freer"));
  }
  CHECK(rounds > 5);
  CHECK(rounds < 100);
  CHECK(memory.find(first)->maker == "later");
  CHECK_FALSE(memory.find(first + large / 2 - 1)->freed);
}

TEST_CASE("simgpu memory: what has been written is known by byte, and copied") {
  DeviceMemory memory(1 << 20);
  const std::uint64_t a = memory.allocate(64, "").value();
  const std::uint64_t b = memory.allocate(64, "").value();
  CHECK(*memory.shadow(a) == state_allocated);
  memory.set_initialised(a + 3, 2);
  CHECK(*memory.shadow(a + 2) == state_allocated);
  CHECK(*memory.shadow(a + 3) == (state_allocated | state_initialised));
  CHECK(*memory.shadow(a + 4) == (state_allocated | state_initialised));
  CHECK(*memory.shadow(a + 5) == state_allocated);
  memory.copy_shadow(b, a, 64);
  CHECK(*memory.shadow(b + 2) == state_allocated);
  CHECK(*memory.shadow(b + 3) == (state_allocated | state_initialised));
  CHECK(*memory.shadow(b + 64) == 0);
  CHECK(memory.free(a, ""));
  CHECK(*memory.shadow(a + 3) == 0);
  CHECK(memory.holds(a, 64));
  CHECK_FALSE(memory.holds(1, 1));
}

TEST_CASE("simgpu memory: a page is whole where all of it has been written") {
  DeviceMemory memory(1 << 20);
  const std::uint64_t a = memory.allocate(32000, "").value(),
                      b = memory.allocate(32000, "").value();
  const ShadowRegion region = memory.region();
  const auto whole = [&](std::uint64_t address) {
    return region.whole_pages[(address - region.base) >> page_shift] != 0;
  };
  const std::uint64_t inside = a + 8192;
  CHECK_FALSE(whole(inside));
  memory.set_initialised(a, 32000);
  CHECK(whole(inside));
  CHECK_FALSE(whole(a + 31999));  // the page goes on behind it
  memory.set_initialised(inside, 5);
  CHECK(whole(inside));
  memory.copy_shadow(b, a, 32000);
  CHECK(whole(b + 8192));
  CHECK(*memory.shadow(b + 31999) == (state_allocated | state_initialised));
  // Of a copy of what is written in part each byte is as it was.
  CHECK(memory.free(a, ""));
  CHECK_FALSE(whole(inside));
  const std::uint64_t c = memory.allocate(32000, "").value();
  memory.set_initialised(c + 1, 31999);
  memory.copy_shadow(b, c, 32000);
  CHECK_FALSE(whole(b + 8192));
  CHECK(*memory.shadow(b) == state_allocated);
  CHECK(*memory.shadow(b + 1) == (state_allocated | state_initialised));
}

}  // namespace simgpu
