/// \file
/// PTX for tests, without what every module and kernel says.
#pragma once

#include <string>

namespace simgpu {

inline std::string module_of(const std::string& functions) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n" + functions;
}

/// A kernel with the address `out` in %out, its thread's place in the block in %t, and registers
/// %a to %d (b32), %x (b64), %p to %r (predicates). `declarations` stand first in its body.
inline std::string kernel_of(const std::string& name, const std::string& body,
                             const std::string& declarations = "") {
  return ".visible .entry " + name + "(.param .u64 out) {\n" + declarations +
         R"(
.reg .b32 %t, %a, %b, %c, %d;
.reg .b64 %out, %x, %y;
.reg .pred %p, %q, %r;
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
)" + body +
         "\n}\n";
}

/// Counts threads over the grid instead of the block: for grids of one axis.
inline const std::string count_blocks = R"(
mov.u32 %d, %ctaid.x;
mov.u32 %c, %ntid.x;
mad.lo.u32 %t, %d, %c, %t;
)";

/// Stores %a to word %t of out, and ends the kernel.
inline const std::string store_a = R"(
mul.wide.u32 %x, %t, 4;
add.s64 %x, %out, %x;
st.global.u32 [%x], %a;
ret;
)";

}  // namespace simgpu
