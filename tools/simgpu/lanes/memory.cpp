// Loads and stores. PTX ISA 9.7.9.8 (ld), 9.7.9.9 (ld.global.nc), 9.7.9.10 (ldu), 9.7.9.12 (st).
// Names of opcodes are those of code/plain_name.h.
#include "tools/simgpu/lanes/access.h"

namespace simgpu::SIMGPU_ISA {
namespace {

struct Wide {
  std::uint64_t low, high;
};

/// From a number in memory to one in a register at least as wide: a signed one is extended with its
/// sign, and a register of the same size takes any. PTX ISA 9.4.1, table 28.
template <class To, class From>
SIMGPU_INLINE To extended(From from) {
  if constexpr (sizeof(To) == sizeof(From)) return __builtin_bit_cast(To, from);
  else return static_cast<To>(from);
}

template <class T>
SIMGPU_INLINE T* elements(std::uint64_t address) {
  return reinterpret_cast<T*>(bytes(address));
}

/// d = [a]: `count` numbers T of memory to as many registers R.
template <class T, class R, int count>
void load(Warp& w, const Instruction& i, const Where& where) {
  const StrongTurn turn(w, where);
  alignas(64) std::uint64_t at[warp_size];
  const Layout layout = prepare<Access::load, sizeof(T) * count>(w, i, count, where, at).layout;
  const T* const first = elements<T>(at[0]);
  for (int n = 0; n < count; ++n) {
    R* to = lanes<R>(w, i, n);
    if (layout == Layout::contiguous) {
      SIMGPU_VECTORS
      for (int lane = 0; lane < warp_size; ++lane) to[lane] = extended<R>(first[lane * count + n]);
    } else if (layout == Layout::uniform) {
      const R value = extended<R>(first[n]);
      for (int lane = 0; lane < warp_size; ++lane) to[lane] = value;
    } else {
      each_active(w, [&](int lane) { to[lane] = extended<R>(elements<T>(at[lane])[n]); });
    }
  }
  if (where.is_strong) learn(w, at);
}

/// [a] = b: the low bytes of `count` registers R. Lanes may write the same to the same place.
template <class T, class R, int count>
void store(Warp& w, const Instruction& i, const Where& where) {
  const StrongTurn turn(w, where);
  alignas(64) std::uint64_t at[warp_size];
  const auto [layout, contested] = prepare<Access::store, sizeof(T) * count>(w, i, 0, where, at);
  T* const first = elements<T>(at[0]);
  for (int n = 0; n < count; ++n) {
    const R* from = lanes<R>(w, i, n + 1);
    if (layout == Layout::contiguous) {
      SIMGPU_VECTORS
      for (int lane = 0; lane < warp_size; ++lane)
        first[lane * count + n] = extended<T>(from[lane]);
    } else {
      each_active(w, [&, mask = contested](int lane) {
        const T value = extended<T>(from[lane]);
        if ((mask >> lane & 1u) != 0)
          w.block->checks->settle(lane, at[lane], n * static_cast<int>(sizeof(T)), &value,
                                  sizeof(T));
        elements<T>(at[lane])[n] = value;
      });
    }
  }
  if (where.is_strong) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

using I8 = std::int8_t;
using I16 = std::int16_t;
using I32 = std::int32_t;
using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr Where generic{AddressSpace::generic}, global{AddressSpace::global},
    local{AddressSpace::local}, shared{AddressSpace::shared, false},
    shared_wide{AddressSpace::shared}, strong_generic{AddressSpace::generic, true, true},
    strong_global{AddressSpace::global, true, true}, strong_local{AddressSpace::local, true, true},
    strong_shared{AddressSpace::shared, false, true},
    strong_shared_wide{AddressSpace::shared, true, true},
    release_generic{AddressSpace::generic, true, true, true},
    release_global{AddressSpace::global, true, true, true},
    release_shared{AddressSpace::shared, false, true, true},
    release_shared_wide{AddressSpace::shared, true, true, true};

#define LOAD(name, type, d, m, where, T, R, count) \
  { name " " type, d " " m, SIMGPU_EITHER((in<&load<T, R, count>, where>)) }
// Numbers of up to 4 bytes, to registers of every size that holds them.
#define LOADS_4(name, v, m, where, count)                   \
  LOAD(name, "b8", "d2" v, m, where, U8, U16, count),       \
      LOAD(name, "b8", "d4" v, m, where, U8, U32, count),   \
      LOAD(name, "b8", "d8" v, m, where, U8, U64, count),   \
      LOAD(name, "s8", "d2" v, m, where, I8, U16, count),   \
      LOAD(name, "s8", "d4" v, m, where, I8, U32, count),   \
      LOAD(name, "s8", "d8" v, m, where, I8, U64, count),   \
      LOAD(name, "b16", "d2" v, m, where, U16, U16, count), \
      LOAD(name, "b16", "d4" v, m, where, U16, U32, count), \
      LOAD(name, "b16", "d8" v, m, where, U16, U64, count), \
      LOAD(name, "s16", "d2" v, m, where, U16, U16, count), \
      LOAD(name, "s16", "d4" v, m, where, I16, U32, count), \
      LOAD(name, "s16", "d8" v, m, where, I16, U64, count), \
      LOAD(name, "b32", "d4" v, m, where, U32, U32, count), \
      LOAD(name, "b32", "d8" v, m, where, U32, U64, count), \
      LOAD(name, "s32", "d4" v, m, where, U32, U32, count), \
      LOAD(name, "s32", "d8" v, m, where, I32, U64, count)
#define LOADS(name, m, where)                                                                 \
  LOADS_4(name, "", m, where, 1), LOADS_4(name " v2", "v2", m, where, 2),                     \
      LOADS_4(name " v4", "v4", m, where, 4), LOAD(name, "b64", "d8", m, where, U64, U64, 1), \
      LOAD(name " v2", "b64", "d8v2", m, where, U64, U64, 2),                                 \
      LOAD(name, "b128", "d16", m, where, Wide, Wide, 1)
// 32 bytes a lane, of sm_100.
#define LOADS_32(name, m, where)                          \
  LOAD(name " v8", "b32", "d4v8", m, where, U32, U32, 8), \
      LOAD(name " v4", "b64", "d8v4", m, where, U64, U64, 4)

constexpr Opcode load_table[] = {
    LOADS("ld", "m", generic),
    LOADS("ld", "m s8", generic),
    LOADS("ld global", "m", global),
    LOADS("ld global", "m s8", global),
    LOADS("ld local", "m", local),
    LOADS("ld shared", "m4", shared),
    LOADS("ld shared", "m", shared_wide),
    LOADS("ld strong", "m", strong_generic),
    LOADS("ld strong", "m s8", strong_generic),
    LOADS("ld strong global", "m", strong_global),
    LOADS("ld strong global", "m s8", strong_global),
    LOADS("ld strong local", "m", strong_local),
    LOADS("ld strong shared", "m4", strong_shared),
    LOADS("ld strong shared", "m", strong_shared_wide),
    LOADS_32("ld global", "m", global),
    LOADS_32("ld global", "m s8", global),
    LOADS_32("ld strong global", "m", strong_global),
};

#define STORE(name, type, s, m, more, where, T, R, count) \
  { name " " type, m " " s more, SIMGPU_EITHER((in<&store<T, R, count>, where>)) }
#define STORES_4(name, v, m, more, where, count)                   \
  STORE(name, "b8", "s2" v, m, more, where, U8, U16, count),       \
      STORE(name, "b8", "s4" v, m, more, where, U8, U32, count),   \
      STORE(name, "b8", "s8" v, m, more, where, U8, U64, count),   \
      STORE(name, "b16", "s2" v, m, more, where, U16, U16, count), \
      STORE(name, "b16", "s4" v, m, more, where, U16, U32, count), \
      STORE(name, "b16", "s8" v, m, more, where, U16, U64, count), \
      STORE(name, "b32", "s4" v, m, more, where, U32, U32, count), \
      STORE(name, "b32", "s8" v, m, more, where, U32, U64, count)
#define STORES(name, m, more, where)                                                    \
  STORES_4(name, "", m, more, where, 1), STORES_4(name " v2", "v2", m, more, where, 2), \
      STORES_4(name " v4", "v4", m, more, where, 4),                                    \
      STORE(name, "b64", "s8", m, more, where, U64, U64, 1),                            \
      STORE(name " v2", "b64", "s8v2", m, more, where, U64, U64, 2),                    \
      STORE(name, "b128", "s16", m, more, where, Wide, Wide, 1)
#define STORES_32(name, m, more, where)                          \
  STORE(name " v8", "b32", "s4v8", m, more, where, U32, U32, 8), \
      STORE(name " v4", "b64", "s8v4", m, more, where, U64, U64, 4)

constexpr Opcode store_table[] = {
    STORES("st", "m", "", generic),
    STORES("st", "m", " s8", generic),
    STORES("st global", "m", "", global),
    STORES("st global", "m", " s8", global),
    STORES("st local", "m", "", local),
    STORES("st shared", "m4", "", shared),
    STORES("st shared", "m", "", shared_wide),
    STORES("st strong", "m", "", strong_generic),
    STORES("st strong", "m", " s8", strong_generic),
    STORES("st strong global", "m", "", strong_global),
    STORES("st strong global", "m", " s8", strong_global),
    STORES("st strong local", "m", "", strong_local),
    STORES("st strong shared", "m4", "", strong_shared),
    STORES("st strong shared", "m", "", strong_shared_wide),
    STORES("st release", "m", "", release_generic),
    STORES("st release global", "m", "", release_global),
    STORES("st release shared", "m4", "", release_shared),
    STORES("st release shared", "m", "", release_shared_wide),
    STORES_32("st global", "m", "", global),
    STORES_32("st global", "m", " s8", global),
    STORES_32("st strong global", "m", "", strong_global),
};

}  // namespace

OpcodeList load_opcodes() { return {load_table, sizeof load_table / sizeof *load_table, "load"}; }
OpcodeList store_opcodes() {
  return {store_table, sizeof store_table / sizeof *store_table, "store"};
}

}  // namespace simgpu::SIMGPU_ISA
