#include "tools/simgpu/code/pattern_word.h"

#include <doctest/doctest.h>

#include <stdexcept>

namespace simgpu {

TEST_CASE("simgpu patterns: each word is told to people") {
  CHECK(describe_pattern("") == "nothing");
  CHECK(describe_pattern("d4 s8 s16") == "a 4-byte register, an 8-byte value, a 16-byte value");
  CHECK(describe_pattern("dp sp") == "a predicate, a predicate");
  CHECK(describe_pattern("dpq d4q") == "a predicate|predicate, a 4-byte register|predicate");
  CHECK(describe_pattern("d4v2 s8v4") ==
        "a vector of 2 4-byte registers, a vector of 4 8-byte values");
  CHECK(describe_pattern("m m4") == "an address, an address in shared memory");
  CHECK(describe_pattern("l i") == "a label, a number");
  CHECK(describe_pattern("d4 e") == "a 4-byte register, a parameter");
  CHECK(describe_pattern("f t") == "a parameter, a label");
}

TEST_CASE("simgpu patterns: what is none is a mistake in the table") {
  for (const char* wrong : {" ", "d", "d3", "d32", "x4", "d4 ", "d4  s4", "d4v0", "s4q", "d4v2q",
                            "i i", "m i", "e f", "mm"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_pattern(wrong), std::logic_error);
  }
}

}  // namespace simgpu
