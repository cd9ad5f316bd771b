// Parameters: of entries, which a launch holds for all blocks, and of functions, which lie in the
// registers of a warp, lane by lane. PTX ISA 5.1.6, 9.7.9.8 and 9.7.9.12.
#include "tools/simgpu/lanes/load_types.h"

namespace simgpu::SIMGPU_ISA {
namespace {

/// The element with this number.
template <class Memory>
SIMGPU_INLINE Memory element_at(const std::byte* from, int element) {
  Memory value;
  std::memcpy(&value, from + static_cast<std::size_t>(element) * sizeof value, sizeof value);
  return value;
}

/// [parameter + number] of an entry: the same for all lanes. `count` elements, each of which has a
/// register as wide or wider.
template <bool all, int count, class Memory, class Register>
void load_entry(Warp& w, const Instruction& i) {
  const std::byte* from = w.block->grid->parameters + i.immediate;
  for (int k = 0; k < count; ++k) {
    const auto value = static_cast<Register>(element_at<Memory>(from, k));
    write<all>(w, lanes<Register>(w, i, k), [value](int) { return value; });
  }
}

/// The same at an address in a register, which a text makes of `mov.b64 %rd1, parameter`.
template <int count, class Memory, class Register>
void load_entry_at(Warp& w, const Instruction& i) {
  const Grid& grid = *w.block->grid;
  const auto* addresses = lanes<u64>(w, i, count);
  const u64 most = grid.kernel->parameter_bytes;
  constexpr u64 bytes = sizeof(Memory) * count;
  each_active(w, [&](int lane) {
    const u64 address = addresses[lane] + static_cast<u64>(i.immediate);
    if (address > most || bytes > most - address)
      fail(FaultKind::out_of_bounds, lane, address, "ld.param outside of the parameters");
    if (address % bytes != 0)
      fail(FaultKind::misaligned, lane, address, "ld.param at an address that is not aligned");
    for (int k = 0; k < count; ++k)
      lanes<Register>(w, i, k)[lane] =
          static_cast<Register>(element_at<Memory>(grid.parameters + address, k));
  });
}

/// A lane's place in a parameter of a function, whose two operands begin with `operand`.
SIMGPU_INLINE std::byte* slot(Warp& w, const Instruction& i, int operand, int lane) {
  return w.registers + i.operands[operand] +
         static_cast<std::size_t>(lane) * i.operands[operand + 1] + i.immediate;
}

template <int count, class Memory, class Register>
void load_slot(Warp& w, const Instruction& i) {
  each_active(w, [&](int lane) {
    const std::byte* from = slot(w, i, count, lane);
    for (int k = 0; k < count; ++k)
      lanes<Register>(w, i, k)[lane] = static_cast<Register>(element_at<Memory>(from, k));
  });
}

template <int count, class Memory, class Register>
void store_slot(Warp& w, const Instruction& i) {
  each_active(w, [&](int lane) {
    std::byte* to = slot(w, i, 0, lane);
    for (int k = 0; k < count; ++k) {
      const auto value = static_cast<Memory>(lanes<Register>(w, i, 2 + k)[lane]);
      std::memcpy(to + static_cast<std::size_t>(k) * sizeof(Memory), &value, sizeof value);
    }
  });
}

void copy_slot(Warp& w, const Instruction& i) {
  each_active(w, [&](int lane) {
    const auto at = static_cast<std::size_t>(lane);
    std::memcpy(w.registers + i.operands[0] + at * i.operands[1],
                w.registers + i.operands[2] + at * i.operands[3],
                static_cast<std::size_t>(i.immediate));
  });
}

template <int count, class T, class R>
void add_loads(OpcodeTable& table, const char* type) {
  const char* vector = count == 1 ? "" : vector_texts[count];
  const auto add = [&](const char* pattern, Execute all, Execute some) {
    table.add({"ld param", when(count > 1, " "), vector, " ", type}, {written<R>, vector, pattern},
              all, some);
  };
  add(" e", SIMGPU_BOTH(load_entry, count, T, R));
  add(" m", &load_entry_at<count, T, R>, &load_entry_at<count, T, R>);
  add(" f", &load_slot<count, T, R>, &load_slot<count, T, R>);
}

template <int count, class T, class R>
void add_store(OpcodeTable& table, const char* type) {
  const char* vector = count == 1 ? "" : vector_texts[count];
  table.add({"st param", when(count > 1, " "), vector, " ", type}, {"f", read<R>, vector},
            &store_slot<count, T, R>);
}

}  // namespace

void parameter_opcodes(OpcodeTable& table) {
  each_value<1, 2, 4>([&]<int count>() {
    each_moved<true>(
        [&]<class T, class R>(const char* type) { add_loads<count, T, R>(table, type); });
    each_moved<false>(
        [&]<class T, class R>(const char* type) { add_store<count, T, R>(table, type); });
  });
  table.add({"param.copy"}, {"f f"}, &copy_slot);
}

}  // namespace simgpu::SIMGPU_ISA
