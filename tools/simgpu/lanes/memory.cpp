// Loads and stores. PTX ISA 9.7.9.8 (ld), 9.7.9.9 (ld.global.nc), 9.7.9.10 (ldu), 9.7.9.12 (st).
// Names of opcodes are those of code/opcode_name.h.
#include "tools/simgpu/lanes/access.h"
#include "tools/simgpu/lanes/load_types.h"

namespace simgpu::SIMGPU_ISA {
namespace {

struct Wide {
  u64 low, high;
};

template <class T>
SIMGPU_INLINE T* elements(u64 address) {
  return reinterpret_cast<T*>(bytes(address));
}

/// d = [a]: `count` numbers T of memory to as many registers R.
template <class T, class R, int count>
void load(Warp& w, const Instruction& i, const Where& where) {
  const StrongTurn turn(w, where);
  alignas(64) u64 at[warp_size];
  const Layout layout = prepare<Access::load, sizeof(T) * count>(w, i, count, where, at).layout;
  const T* const first = elements<T>(at[0]);
  for (int n = 0; n < count; ++n) {
    R* to = lanes<R>(w, i, n);
    if (layout == Layout::contiguous) {
      SIMGPU_VECTORS
      for (int lane = 0; lane < warp_size; ++lane)
        to[lane] = static_cast<R>(first[lane * count + n]);
    } else if (layout == Layout::uniform) {
      const R value = static_cast<R>(first[n]);
      for (int lane = 0; lane < warp_size; ++lane) to[lane] = value;
    } else {
      each_active(w, [&](int lane) { to[lane] = static_cast<R>(elements<T>(at[lane])[n]); });
    }
  }
  if (where.is_strong) learn(w, at);
}

/// [a] = b: the low bytes of `count` registers R. Lanes may write the same to the same place.
template <class T, class R, int count>
void store(Warp& w, const Instruction& i, const Where& where) {
  const StrongTurn turn(w, where);
  alignas(64) u64 at[warp_size];
  const auto [layout, contested] = prepare<Access::store, sizeof(T) * count>(w, i, 0, where, at);
  T* const first = elements<T>(at[0]);
  for (int n = 0; n < count; ++n) {
    const R* from = lanes<R>(w, i, n + 1);
    if (layout == Layout::contiguous) {
      SIMGPU_VECTORS
      for (int lane = 0; lane < warp_size; ++lane)
        first[lane * count + n] = static_cast<T>(from[lane]);
    } else {
      each_active(w, [&, mask = contested](int lane) {
        const T value = static_cast<T>(from[lane]);
        if ((mask >> lane & 1u) != 0)
          w.block->checks->settle(lane, at[lane], n * static_cast<int>(sizeof(T)), &value,
                                  sizeof(T));
        elements<T>(at[lane])[n] = value;
      });
    }
  }
  if (where.is_strong) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/// body<T, R, count>(type, vector): what ld and st move, to 16 bytes a lane, or 32 in global
/// memory.
template <bool has_signs, Where where, class Body>
void each_access(Body body) {
  each_moved<has_signs>([&]<class T, class R>(const char* type) {
    each_value<1, 2, 4, 8>([&]<int count>() {
      constexpr bool is_long = where.space == AddressSpace::global && !where.is_release &&
                               sizeof(T) == sizeof(R) && sizeof(T) * count == 32;
      if constexpr ((count <= 4 && sizeof(T) * count <= 16) || is_long)
        body.template operator()<T, R, count>(type, count == 1 ? "" : vector_texts[count]);
    });
  });
  body.template operator()<Wide, Wide, 1>("b128", "");
}

/// Behind the operands, in generic and global memory: nothing, or a cache policy.
template <Where where, class Body>
void each_policy(Body body) {
  body("");
  if (where.is_wide && where.space <= AddressSpace::global && !where.is_release) body(" s8");
}

template <Where where>
void add_loads(OpcodeTable& table) {
  each_access<true, where>([&]<class T, class R, int count>(const char* type, const char* vector) {
    each_policy<where>([&](const char* policy) {
      table.add({"ld", when(where.is_strong, " strong"), where.name(), when(count > 1, " "), vector,
                 " ", type},
                {written<R>, vector, " ", where.pattern(), policy}, &in<&load<T, R, count>, where>);
    });
  });
}

template <Where where>
void add_stores(OpcodeTable& table) {
  const char* order = where.is_release ? " release" : when(where.is_strong, " strong");
  each_access<false, where>([&]<class T, class R, int count>(const char* type, const char* vector) {
    each_policy<where>([&](const char* policy) {
      table.add({"st", order, where.name(), when(count > 1, " "), vector, " ", type},
                {where.pattern(), read<R>, vector, policy}, &in<&store<T, R, count>, where>);
    });
  });
}

}  // namespace

void load_opcodes(OpcodeTable& table) {
  each_value<in_generic, in_global, in_local, in_shared, in_shared_wide>([&]<Where where>() {
    add_loads<where>(table);
    add_loads<where.strong()>(table);
  });
}

void store_opcodes(OpcodeTable& table) {
  each_value<in_generic, in_global, in_local, in_shared, in_shared_wide>([&]<Where where>() {
    add_stores<where>(table);
    add_stores<where.strong()>(table);
    if constexpr (where.space != AddressSpace::local) add_stores<where.release()>(table);
  });
}

}  // namespace simgpu::SIMGPU_ISA
