#include <doctest/doctest.h>

#include "tools/simgpu/machine/settings.h"

namespace simgpu {

TEST_CASE("simgpu settings: what holds where the environment names nothing") {
  CHECK(settings().profile == "sm_90");
  CHECK(settings().check_memory);
  CHECK(settings().check_races);
  CHECK(settings().order == Order::forward);
  CHECK_FALSE(settings().perturb);
}

}  // namespace simgpu
