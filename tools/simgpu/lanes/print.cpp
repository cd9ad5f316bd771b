// printf and assert of CUDA C++, which are calls of functions that no module defines.
#include "tools/simgpu/machine/print.h"
#include "tools/simgpu/lanes/lanes.h"

namespace simgpu::SIMGPU_ISA {
namespace {

/// d = how many arguments the format took.
void print(Warp& w, const Instruction& i) {
  each_active(w, [&](int lane) {
    lanes<s32>(w, i, 0)[lane] =
        print_formatted(w, lane, lanes<u64>(w, i, 1)[lane], lanes<u64>(w, i, 2)[lane]);
  });
}

/// message, file, line, function, bytes of a character
void stop_at_assertion(Warp& w, const Instruction& i) {
  const auto of = [&](int lane) {
    return Assertion{lanes<u64>(w, i, 0)[lane], lanes<u64>(w, i, 1)[lane],
                     lanes<u64>(w, i, 3)[lane], lanes<u32>(w, i, 2)[lane]};
  };
  each_active(w, [&](int lane) { print_assertion(w, lane, of(lane)); });
  const int first = __builtin_ctz(w.active);
  fail_assertion(w, first, of(first));
}

}  // namespace

void print_opcodes(OpcodeTable& table) {
  table.add({"call.vprintf"}, {"d4 s8 s8"}, &print);
  table.add({"call.__assertfail"}, {"s8 s8 s4 s8 s8"}, &stop_at_assertion);
}

}  // namespace simgpu::SIMGPU_ISA
