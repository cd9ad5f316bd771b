#include "tools/simgpu/lanes/families.h"

namespace simgpu::SIMGPU_ISA {

FamilyList families() {
  static OpcodeList list[] = {
#define SIMGPU_FAMILY(name) name##_opcodes(),
#include "tools/simgpu/lanes/families.def"
#undef SIMGPU_FAMILY
      {},
  };
  return list;
}

}  // namespace simgpu::SIMGPU_ISA
