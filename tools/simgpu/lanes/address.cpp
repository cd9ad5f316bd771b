#include "tools/simgpu/lanes/lanes.h"

// Addresses of spaces and generic ones: PTX ISA 9.7.9.20 (isspacep) and 9.7.9.21 (cvta). A generic
// address is one of the host, and so is one in global, local or constant memory; one in shared
// memory is an offset into that of the block, one of a parameter an offset among the launch's.
// Shared memory of a cluster is that of the block: clusters have one block.

namespace simgpu::SIMGPU_ISA {
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

/// a plus the base of the window, or minus it.
template <bool all, Window window, auto f>
void convert(Warp& w, const Instruction& i) {
  const u64* a = lanes<u64>(w, i, 1);
  const u64 base = range<window>(w).base;
  write<all>(w, lanes<u64>(w, i, 0), [&](int lane) { return f(a[lane], base); });
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

}  // namespace

void address_opcodes(OpcodeTable& table) {
  for (const char* space : {".const", ".global", ".local"})
    for (const char* to : {"", ".to"})
      add_lanes<[](u64 a) { return a; }, u64, u64>(table, {"cvta", to, space, ".u64"});
  const auto add = [&]<Window window>(const char* space) {
    table.add({"cvta", space, ".u64"}, {"d8 s8"}, SIMGPU_BOTH(convert, window, plus));
    table.add({"cvta.to", space, ".u64"}, {"d8 s8"}, SIMGPU_BOTH(convert, window, minus));
    table.add({"isspacep", space}, {"dp s8"}, SIMGPU_BOTH(is_in, window));
  };
  for (const char* space : {".shared", ".shared::cta", ".shared::cluster"})
    add.template operator()<Window::shared>(space);
  for (const char* space : {".param", ".param::entry"})
    add.template operator()<Window::parameters>(space);
  table.add({"isspacep.local"}, {"dp s8"}, SIMGPU_BOTH(is_in, Window::local));
  table.add({"isspacep.global"}, {"dp s8"}, SIMGPU_BOTH(is_in_global));
}

}  // namespace simgpu::SIMGPU_ISA
