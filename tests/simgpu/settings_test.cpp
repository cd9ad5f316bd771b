#include <doctest/doctest.h>

#include "tools/simgpu/code/pattern.h"
#include "tools/simgpu/machine/settings.h"

namespace simgpu {

TEST_CASE("simgpu settings: what holds where the environment names nothing") {
  CHECK(settings().profile == "sm_90");
  CHECK(settings().check_memory);
  CHECK(settings().check_races);
  CHECK(settings().order == Order::forward);
  CHECK_FALSE(settings().perturb);
}

TEST_CASE("simgpu opcodes: what is not in the table has no entry") {
  CHECK(opcodes("add.f33").empty());
  CHECK(opcodes("").empty());
}

}  // namespace simgpu
