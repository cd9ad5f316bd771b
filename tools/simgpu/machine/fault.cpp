#include "tools/simgpu/machine/fault.h"

namespace simgpu {

void fail(FaultKind kind, int lane, std::uint64_t address, const char* problem) {
  throw Fault(kind, lane, address, problem);
}

}  // namespace simgpu
