#include "tools/simgpu/lanes/apply.h"

// Addresses of spaces and generic ones: PTX ISA 9.7.9.20 (isspacep) and 9.7.9.21 (cvta). A generic
// address is one of the host, and so is one in global, local or constant memory; one in shared
// memory is an offset into that of the block, one of a parameter an offset among the launch's.
// Shared memory of a cluster is that of the block: clusters have one block.

namespace simgpu {
namespace SIMGPU_ISA {
namespace {

enum class Window { shared, local, parameters };

struct Range {
  u64 base = 0, bytes = 0;
  bool holds(u64 address) const { return address - base < bytes; }
};

template <Window window>
Range range(const Warp& w) {
  const Block& block = *w.block;
  const Grid& grid = *block.grid;
  if (window == Window::shared) return {reinterpret_cast<u64>(block.shared), block.shared_bytes};
  if (window == Window::parameters)
    return {reinterpret_cast<u64>(grid.parameters), grid.kernel->parameter_bytes};
  const u64 threads = u64{grid.block_size.x} * grid.block_size.y * grid.block_size.z;
  return {reinterpret_cast<u64>(block.local), threads * grid.kernel->local_bytes};
}

struct Same {
  static u64 of(u64 a) { return a; }
};
template <bool all, Window window>
void to_generic(Warp& w, const Instruction& i) {
  const u64* a = lanes<u64>(w, i, 1);
  const u64 base = range<window>(w).base;
  write<all>(w, lanes<u64>(w, i, 0), [&](int lane) { return a[lane] + base; });
}
template <bool all, Window window>
void from_generic(Warp& w, const Instruction& i) {
  const u64* a = lanes<u64>(w, i, 1);
  const u64 base = range<window>(w).base;
  write<all>(w, lanes<u64>(w, i, 0), [&](int lane) { return a[lane] - base; });
}

template <bool all, Window window>
void is_in(Warp& w, const Instruction& i) {
  const u64* a = lanes<u64>(w, i, 1);
  const Range in = range<window>(w);
  write_predicate<all>(w, i, 0, bits_where([&](int lane) { return in.holds(a[lane]); }));
}
/// What is in no other window is global; that of parameters lies in it.
template <bool all>
void is_in_global(Warp& w, const Instruction& i) {
  const u64* a = lanes<u64>(w, i, 1);
  const Range shared = range<Window::shared>(w), local = range<Window::local>(w);
  write_predicate<all>(w, i, 0, bits_where([&](int lane) {
                         return !shared.holds(a[lane]) && !local.holds(a[lane]);
                       }));
}

#define UNCHANGED(space)                                           \
  SIMGPU_ROW("cvta" space ".u64", "d8 s8", unary, u64, u64, Same), \
      SIMGPU_ROW("cvta.to" space ".u64", "d8 s8", unary, u64, u64, Same)
#define WINDOW(space, window)                                            \
  SIMGPU_ROW("cvta" space ".u64", "d8 s8", to_generic, window),          \
      SIMGPU_ROW("cvta.to" space ".u64", "d8 s8", from_generic, window), \
      SIMGPU_ROW("isspacep" space, "dp s8", is_in, window)

constexpr Opcode table[] = {
    UNCHANGED(".const"),
    UNCHANGED(".global"),
    UNCHANGED(".local"),
    WINDOW(".shared", Window::shared),
    WINDOW(".shared::cta", Window::shared),
    WINDOW(".shared::cluster", Window::shared),
    WINDOW(".param", Window::parameters),
    WINDOW(".param::entry", Window::parameters),
    SIMGPU_ROW("isspacep.local", "dp s8", is_in, Window::local),
    {"isspacep.global", "dp s8", &is_in_global<true>, &is_in_global<false>},
};

}  // namespace

OpcodeList address_opcodes() { return {table, sizeof table / sizeof *table, "address"}; }

}  // namespace SIMGPU_ISA
}  // namespace simgpu
