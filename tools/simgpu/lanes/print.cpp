// printf and assert of CUDA C++, which are calls of functions that no module defines.
#include "tools/simgpu/machine/print.h"
#include "tools/simgpu/lanes/lanes.h"

namespace simgpu::SIMGPU_ISA {
namespace {

/// d = how many arguments the format took.
void print(Warp& w, const Instruction& i) {
  each_active(w, [&](int lane) {
    lanes<std::int32_t>(w, i, 0)[lane] = print_formatted(
        w, lane, lanes<std::uint64_t>(w, i, 1)[lane], lanes<std::uint64_t>(w, i, 2)[lane]);
  });
}

/// message, file, line, function, bytes of a character
void stop_at_assertion(Warp& w, const Instruction& i) {
  const auto of = [&](int lane) {
    return Assertion{lanes<std::uint64_t>(w, i, 0)[lane], lanes<std::uint64_t>(w, i, 1)[lane],
                     lanes<std::uint64_t>(w, i, 3)[lane], lanes<std::uint32_t>(w, i, 2)[lane]};
  };
  each_active(w, [&](int lane) { print_assertion(w, lane, of(lane)); });
  const int first = __builtin_ctz(w.active);
  fail_assertion(w, first, of(first));
}

constexpr Opcode table[] = {
    {"call.vprintf", "d4 s8 s8", SIMGPU_EITHER(print)},
    {"call.__assertfail", "s8 s8 s4 s8 s8", SIMGPU_EITHER(stop_at_assertion)},
};

}  // namespace

OpcodeList print_opcodes() { return {table, sizeof table / sizeof *table, "print"}; }

}  // namespace simgpu::SIMGPU_ISA
