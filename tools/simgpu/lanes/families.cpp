#include "tools/simgpu/lanes/families.h"

// Each family has its function NAME_opcodes() in one of the files beside this one.
// clang-format off
#define FAMILIES(each)                                                                        \
  each(address) each(approximate) each(atomic) each(bit) each(bit_field) each(clock)          \
  each(compare_integer) each(control) each(convert_float) each(convert_from_integer)          \
  each(convert_integer) each(convert_packed) each(convert_to_integer) each(copy) each(float)  \
  each(float_sign) each(half) each(half_extreme) each(integer) each(integer_carry)            \
  each(integer_divide) each(load) each(matrix_rows) each(mbarrier) each(memory_order)         \
  each(mixed) each(mma) each(move) each(pack) each(parameter) each(print) each(set_float)     \
  each(setp_float) each(store) each(warp) each(wmma_memory) each(wmma_mma)
// clang-format on

namespace simgpu::SIMGPU_ISA {

#define DECLARE(name) void name##_opcodes(OpcodeTable& table);
FAMILIES(DECLARE)

void add_opcodes(OpcodeTable& table) {
#define ADD(name)     \
  table.begin(#name); \
  name##_opcodes(table);
  FAMILIES(ADD)
}

}  // namespace simgpu::SIMGPU_ISA
