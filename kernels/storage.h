/// \file
/// Sixteen elements of each storage type as vectors of a compute type (float, double,
/// std::int64_t), with the conversions that runtime/elementwise.h documents for `cast`. Only for
/// files compiled for each instruction set.
///
/// A stored_* type has `Element`, what lies in memory; `Compute`, the vector that arithmetic on it
/// is done in; load, which gives a vector that `to` converts exactly; store, which converts any
/// vector; and cast, which gives what would be loaded after such a store, as a Compute.
#pragma once

#include "kernels/math.h"
#include "kernels/register_part.h"
#include "kernels/vector.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

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
  return truncated(x, -0x1p63, 0x1p63, -0x7fffffffffffffff - 1);
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

// NOLINTBEGIN(readability-identifier-naming): generated code puts their names together
struct stored_boolean {
  using Element = std::uint8_t;
  using Compute = VecI;
  SINTER_INLINE static VecI32 load(const Element* from) { return truth(load_u8(from)); }
  template <class V>
  SINTER_INLINE static void store(const V& x, Element* to) {
    store_u8(truth(x), to);
  }
  template <class V>
  SINTER_INLINE static VecI cast(const V& x) {
    return to_i64(truth(x));
  }
};
struct stored_u8 {
  using Element = std::uint8_t;
  using Compute = VecI;
  SINTER_INLINE static VecI32 load(const Element* from) { return load_u8(from); }
  template <class V>
  SINTER_INLINE static void store(const V& x, Element* to) {
    store_u8(to_i32(integer_in(x, 0, 256, 0)), to);
  }
  template <class V>
  SINTER_INLINE static VecI cast(const V& x) {
    return integer_in(x, 0, 256, 0) & 255;
  }
};
struct stored_i32 {
  using Element = std::int32_t;
  using Compute = VecI;
  SINTER_INLINE static VecI32 load(const Element* from) { return VecI32::load(from); }
  template <class V>
  SINTER_INLINE static void store(const V& x, Element* to) {
    to_i32(integer_in(x, -0x1p31, 0x1p31, -0x7fffffff - 1)).store(to);
  }
  template <class V>
  SINTER_INLINE static VecI cast(const V& x) {
    return to_i64(to_i32(integer_in(x, -0x1p31, 0x1p31, -0x7fffffff - 1)));
  }
};
struct stored_f16 {
  using Element = std::uint16_t;
  using Compute = VecF;
  SINTER_INLINE static VecF load(const Element* from) { return load_f16(from); }
  template <class V>
  SINTER_INLINE static void store(const V& x, Element* at) {
    store_f16(to(x, VecF()), at);
  }
  template <class V>
  SINTER_INLINE static VecF cast(const V& x) {
    return from_f16<VecF>(to_f16(to(x, VecF())));
  }
};
struct stored_bf16 {
  using Element = std::uint16_t;
  using Compute = VecF;
  SINTER_INLINE static VecF load(const Element* from) { return load_bf16(from); }
  template <class V>
  SINTER_INLINE static void store(const V& x, Element* at) {
    store_bf16(to(x, VecF()), at);
  }
  template <class V>
  SINTER_INLINE static VecF cast(const V& x) {
    return from_bf16<VecF>(to_bf16(to(x, VecF())));
  }
};
template <class Stored>
struct ComputeStorage {
  using Element = typename Stored::Element;
  using Compute = Stored;
  SINTER_INLINE static Stored load(const Element* from) { return Stored::load(from); }
  template <class V>
  SINTER_INLINE static void store(const V& x, Element* at) {
    to(x, Stored()).store(at);
  }
  template <class V>
  SINTER_INLINE static Stored cast(const V& x) {
    return to(x, Stored());
  }
};
struct stored_i64 : ComputeStorage<VecI> {};
struct stored_f32 : ComputeStorage<VecF> {};
struct stored_f64 : ComputeStorage<VecD> {};
// NOLINTEND(readability-identifier-naming)

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
