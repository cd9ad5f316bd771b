/// \file
/// Evaluation inspected for one test.
#pragma once

#include <sinter/sinter.h>

namespace sinter::tests {

/// Puts back what was asked for when a test ends, however it ends.
class Inspecting {
 public:
  explicit Inspecting(const Inspection& wanted) : previous_(inspection()) {
    set_inspection(wanted);
  }
  ~Inspecting() { set_inspection(previous_); }
  Inspecting(const Inspecting&) = delete;
  Inspecting& operator=(const Inspecting&) = delete;

 private:
  Inspection previous_;
};

}  // namespace sinter::tests
