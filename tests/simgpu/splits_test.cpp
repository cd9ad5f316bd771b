#include "tools/simgpu/machine/splits.h"

#include <doctest/doctest.h>

namespace simgpu {

TEST_CASE("simgpu splits: the hindmost runs, and those at one place reconverge") {
  Splits splits;
  splits.start(0xff);
  REQUIRE(splits.choose(false) == 0);
  splits.diverge(0, 0x0f, 10);
  splits[0].pc = 20;
  std::size_t chosen = splits.choose(false);
  CHECK(splits[chosen].lanes == 0x0f);
  CHECK(splits.reconvergence_pc(chosen) == 20);
  splits[chosen].pc = 20;
  chosen = splits.choose(false);
  CHECK(splits.size() == 1);
  CHECK(splits[chosen].lanes == 0xff);
  CHECK(splits.reconvergence_pc(chosen) == UINT32_MAX);
}

TEST_CASE("simgpu splits: who waits is not run, and in turn every other one is") {
  Splits splits;
  splits.start(0x7);
  splits.diverge(0, 0x2, 10);
  splits.diverge(0, 0x4, 20);
  splits[0].wait = Split::Wait::members;
  CHECK(splits[splits.choose(false)].lanes == 0x2);
  std::uint32_t seen = 0;
  for (int i = 0; i < 4; ++i) seen |= splits[splits.choose(true)].lanes;
  CHECK(seen == 0x6);
  for (std::size_t i = 0; i < splits.size(); ++i) splits[i].wait = Split::Wait::barrier;
  CHECK(splits.choose(false) == Splits::none);
  CHECK(splits.choose(true) == Splits::none);
}

TEST_CASE("simgpu splits: calls run first, come back, and reconverge only in the same call") {
  Splits splits;
  splits.start(0x3);
  splits[0].pc = 5;
  splits.diverge(0, 0x2, 7);
  splits.call(0, 100);
  splits.call(1, 100);  // from another place
  CHECK(splits[splits.choose(false)].lanes == 0x1);
  CHECK(splits.size() == 2);
  REQUIRE(splits.ret(0));
  CHECK(splits[0].pc == 6);
  CHECK(splits[splits.choose(false)].lanes == 0x2);
  REQUIRE(splits.ret(1));
  CHECK(splits[1].pc == 8);
  splits[0].pc = 8;
  CHECK(splits[splits.choose(false)].lanes == 0x3);
  CHECK_FALSE(splits.ret(0));

  splits.start(0x3);
  splits[0].pc = 5;
  splits.diverge(0, 0x2, 5);
  splits.call(0, 100);
  splits.call(1, 100);  // from the same place, one after the other
  CHECK(splits[splits.choose(false)].lanes == 0x3);
}

TEST_CASE("simgpu splits: functions call themselves on ever new ways, and find back") {
  Splits splits;
  splits.start(0x3);
  // All ways of 12 calls from one of two places each.
  for (std::uint32_t way = 0; way < 1u << 12; ++way) {
    for (int depth = 0; depth < 12; ++depth) {
      splits[0].pc = way >> depth & 1 ? 20 : 10;
      splits.call(0, 5);
    }
    for (int depth = 12; depth-- > 0;) {
      REQUIRE(splits.ret(0));
      REQUIRE(splits[0].pc == (way >> depth & 1 ? 21 : 11));
    }
    REQUIRE_FALSE(splits.ret(0));
  }
}

}  // namespace simgpu
