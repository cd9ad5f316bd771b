// Conversions of contiguous elements between storage and compute types.

#include "kernels/tile_loop.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

namespace {

// From one compute type to another. An int32 vector stands for the narrow integer types.

SINTER_INLINE VecF to(const VecI32& x, const VecF&) { return to_f32(x); }
SINTER_INLINE VecD to(const VecI32& x, const VecD&) { return to_f64(to_i64(x)); }
SINTER_INLINE VecI to(const VecI32& x, const VecI&) { return to_i64(x); }
SINTER_INLINE VecF to(const VecI& x, const VecF&) { return to_f32(x); }
SINTER_INLINE VecD to(const VecI& x, const VecD&) { return to_f64(x); }
SINTER_INLINE VecI to(const VecI& x, const VecI&) { return x; }
SINTER_INLINE VecF to(const VecF& x, const VecF&) { return x; }
SINTER_INLINE VecD to(const VecF& x, const VecD&) { return to_f64(x); }
SINTER_INLINE VecF to(const VecD& x, const VecF&) { return to_f32(x); }
SINTER_INLINE VecD to(const VecD& x, const VecD&) { return x; }

/// Truncated; `lowest` where the truncated value is not in [low, high).
SINTER_INLINE VecI truncated(const VecD& x, double low, double high, std::int64_t lowest) {
  const VecD whole = trunc(x);
  const auto fits = both(whole >= low, whole < high);
  return select(fits, to_i64(select(fits, whole, VecD(0.0))), VecI(lowest));
}
SINTER_INLINE VecI to(const VecD& x, const VecI&) {
  return truncated(x, -0x1p63, 0x1p63, INT64_MIN);
}
SINTER_INLINE VecI to(const VecF& x, const VecI&) { return to(to_f64(x), VecI()); }

template <class V>
SINTER_INLINE VecI integer_in(const V& x, double low, double high, std::int64_t lowest) {
  return truncated(to(x, VecD()), low, high, lowest);
}
SINTER_INLINE VecI integer_in(const VecI& x, double, double, std::int64_t) { return x; }  // wraps

SINTER_INLINE VecI32 truth(const VecF& x) { return select(x != 0.0f, VecI32(1), VecI32(0)); }
SINTER_INLINE VecI32 truth(const VecI32& x) { return select(x != 0, VecI32(1), VecI32(0)); }
SINTER_INLINE VecI32 truth(const VecD& x) { return to_i32(select(x != 0.0, VecI(1), VecI(0))); }
SINTER_INLINE VecI32 truth(const VecI& x) { return to_i32(select(x != 0, VecI(1), VecI(0))); }

// How sixteen elements of a storage type are read and written.

template <DType dtype>
struct Storage;
template <>
struct Storage<DType::boolean> {
  using Element = std::uint8_t;
  SINTER_INLINE static VecI32 load(const Element* from) { return truth(load_u8(from)); }
  template <class V>
  SINTER_INLINE static void store(const V& x, Element* to) {
    store_u8(truth(x), to);
  }
};
template <>
struct Storage<DType::u8> {
  using Element = std::uint8_t;
  SINTER_INLINE static VecI32 load(const Element* from) { return load_u8(from); }
  template <class V>
  SINTER_INLINE static void store(const V& x, Element* to) {
    store_u8(to_i32(integer_in(x, 0, 256, 0)), to);
  }
};
template <>
struct Storage<DType::i32> {
  using Element = std::int32_t;
  SINTER_INLINE static VecI32 load(const Element* from) { return VecI32::load(from); }
  template <class V>
  SINTER_INLINE static void store(const V& x, Element* to) {
    to_i32(integer_in(x, -0x1p31, 0x1p31, INT32_MIN)).store(to);
  }
};
template <>
struct Storage<DType::f16> {
  using Element = std::uint16_t;
  SINTER_INLINE static VecF load(const Element* from) { return load_f16(from); }
  template <class V>
  SINTER_INLINE static void store(const V& x, Element* at) {
    store_f16(to(x, VecF()), at);
  }
};
template <>
struct Storage<DType::bf16> {
  using Element = std::uint16_t;
  SINTER_INLINE static VecF load(const Element* from) { return load_bf16(from); }
  template <class V>
  SINTER_INLINE static void store(const V& x, Element* at) {
    store_bf16(to(x, VecF()), at);
  }
};
template <class Stored>
struct ComputeStorage {
  using Element = typename Stored::Element;
  SINTER_INLINE static Stored load(const Element* from) { return Stored::load(from); }
  template <class V>
  SINTER_INLINE static void store(const V& x, Element* at) {
    to(x, Stored()).store(at);
  }
};
template <>
struct Storage<DType::i64> : ComputeStorage<VecI> {};
template <>
struct Storage<DType::f32> : ComputeStorage<VecF> {};
template <>
struct Storage<DType::f64> : ComputeStorage<VecD> {};

template <DType from_type, DType to_type>
void convert(const void* from, void* to_memory, std::int64_t count) {
  using From = Storage<from_type>;
  using To = Storage<to_type>;
  const auto* in = static_cast<const typename From::Element*>(from);
  auto* out = static_cast<typename To::Element*>(to_memory);
  for (; count >= vector_size; count -= vector_size) {
    To::store(From::load(in), out);
    in += vector_size;
    out += vector_size;
  }
  if (count == 0) return;
  typename From::Element before[vector_size] = {};
  typename To::Element after[vector_size];
  __builtin_memcpy(before, in, static_cast<std::size_t>(count) * sizeof *in);
  To::store(From::load(before), after);
  __builtin_memcpy(out, after, static_cast<std::size_t>(count) * sizeof *out);
}

}  // namespace

#define SINTER_LOAD(dtype)                                                \
  {                                                                       \
    convert<DType::dtype, DType::f32>, convert<DType::dtype, DType::f64>, \
        convert<DType::dtype, DType::i64>                                 \
  }
#define SINTER_STORE(compute)                                                      \
  {                                                                                \
    convert<DType::compute, DType::boolean>, convert<DType::compute, DType::u8>,   \
        convert<DType::compute, DType::i32>, convert<DType::compute, DType::i64>,  \
        convert<DType::compute, DType::f16>, convert<DType::compute, DType::bf16>, \
        convert<DType::compute, DType::f32>, convert<DType::compute, DType::f64>   \
  }

const Tiles& tiles_of_isa() {
  static const Tiles table = {
      {f32_functions(), f64_functions(), i64_functions()},
      {SINTER_LOAD(boolean), SINTER_LOAD(u8), SINTER_LOAD(i32), SINTER_LOAD(i64), SINTER_LOAD(f16),
       SINTER_LOAD(bf16), SINTER_LOAD(f32), SINTER_LOAD(f64)},
      {SINTER_STORE(f32), SINTER_STORE(f64), SINTER_STORE(i64)},
  };
  return table;
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
