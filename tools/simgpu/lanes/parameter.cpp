// Parameters: of entries, which a launch holds for all blocks, and of functions, which lie in the
// registers of a warp, lane by lane. PTX ISA 5.1.6, 9.7.9.8 and 9.7.9.12.
#include "tools/simgpu/lanes/lanes.h"

namespace simgpu::SIMGPU_ISA {
namespace {

/// The element with this number.
template <class Memory>
SIMGPU_INLINE Memory read(const std::byte* from, int element) {
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
    const auto value = static_cast<Register>(read<Memory>(from, k));
    write<all>(w, lanes<Register>(w, i, k), [value](int) { return value; });
  }
}

/// The same at an address in a register, which a text makes of `mov.b64 %rd1, parameter`.
template <int count, class Memory, class Register>
void load_entry_at(Warp& w, const Instruction& i) {
  const Grid& grid = *w.block->grid;
  const auto* addresses = lanes<std::uint64_t>(w, i, count);
  const std::uint64_t most = grid.kernel->parameter_bytes;
  constexpr std::uint64_t bytes = sizeof(Memory) * count;
  each_active(w, [&](int lane) {
    const std::uint64_t address = addresses[lane] + static_cast<std::uint64_t>(i.immediate);
    if (address > most || bytes > most - address)
      fail(FaultKind::out_of_bounds, lane, address, "ld.param outside of the parameters");
    if (address % bytes != 0)
      fail(FaultKind::misaligned, lane, address, "ld.param at an address that is not aligned");
    for (int k = 0; k < count; ++k)
      lanes<Register>(w, i, k)[lane] =
          static_cast<Register>(read<Memory>(grid.parameters + address, k));
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
      lanes<Register>(w, i, k)[lane] = static_cast<Register>(read<Memory>(from, k));
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

#define LOAD_ENTRY(count, ...) \
  &load_entry<true, count, __VA_ARGS__>, &load_entry<false, count, __VA_ARGS__>
#define LOADS_OF(vector, suffix, count, type, size, ...)                                 \
  {"ld.param::entry" vector type, "d" size suffix " e", LOAD_ENTRY(count, __VA_ARGS__)}, \
      {"ld.param::entry" vector type, "d" size suffix " m",                              \
       SIMGPU_EITHER((&load_entry_at<count, __VA_ARGS__>))},                             \
  {                                                                                      \
    "ld.param::func" vector type, "d" size suffix " f",                                  \
        SIMGPU_EITHER((&load_slot<count, __VA_ARGS__>))                                  \
  }
#define LOADS(type, size, ...)                                                                     \
  LOADS_OF("", "", 1, type, size, __VA_ARGS__), LOADS_OF(".v2", "v2", 2, type, size, __VA_ARGS__), \
      LOADS_OF(".v4", "v4", 4, type, size, __VA_ARGS__)
#define STORES_OF(vector, suffix, count, type, size, ...) \
  {                                                       \
    "st.param::func" vector type, "f s" size suffix,      \
        SIMGPU_EITHER((&store_slot<count, __VA_ARGS__>))  \
  }
#define STORES(type, size, ...)                           \
  STORES_OF("", "", 1, type, size, __VA_ARGS__),          \
      STORES_OF(".v2", "v2", 2, type, size, __VA_ARGS__), \
      STORES_OF(".v4", "v4", 4, type, size, __VA_ARGS__)

// Registers may be wider than what they load: PTX ISA 9.4.1.
constexpr Opcode table[] = {
    LOADS(".b8", "2", std::uint8_t, std::uint16_t),
    LOADS(".b8", "4", std::uint8_t, std::uint32_t),
    LOADS(".b8", "8", std::uint8_t, std::uint64_t),
    LOADS(".s8", "2", std::int8_t, std::uint16_t),
    LOADS(".s8", "4", std::int8_t, std::uint32_t),
    LOADS(".s8", "8", std::int8_t, std::uint64_t),
    LOADS(".b16", "2", std::uint16_t, std::uint16_t),
    LOADS(".b16", "4", std::uint16_t, std::uint32_t),
    LOADS(".b16", "8", std::uint16_t, std::uint64_t),
    LOADS(".s16", "2", std::int16_t, std::uint16_t),
    LOADS(".s16", "4", std::int16_t, std::uint32_t),
    LOADS(".s16", "8", std::int16_t, std::uint64_t),
    LOADS(".b32", "4", std::uint32_t, std::uint32_t),
    LOADS(".b32", "8", std::uint32_t, std::uint64_t),
    LOADS(".s32", "4", std::int32_t, std::uint32_t),
    LOADS(".s32", "8", std::int32_t, std::uint64_t),
    LOADS(".b64", "8", std::uint64_t, std::uint64_t),
    STORES(".b8", "2", std::uint8_t, std::uint16_t),
    STORES(".b8", "4", std::uint8_t, std::uint32_t),
    STORES(".b8", "8", std::uint8_t, std::uint64_t),
    STORES(".b16", "2", std::uint16_t, std::uint16_t),
    STORES(".b16", "4", std::uint16_t, std::uint32_t),
    STORES(".b16", "8", std::uint16_t, std::uint64_t),
    STORES(".b32", "4", std::uint32_t, std::uint32_t),
    STORES(".b32", "8", std::uint32_t, std::uint64_t),
    STORES(".b64", "8", std::uint64_t, std::uint64_t),
    {"param.copy", "f f", SIMGPU_EITHER(&copy_slot)},
};

}  // namespace

OpcodeList parameter_opcodes() { return {table, sizeof table / sizeof *table, "parameter"}; }

}  // namespace simgpu::SIMGPU_ISA
