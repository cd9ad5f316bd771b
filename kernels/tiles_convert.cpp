// Conversions of contiguous elements between storage and compute types.

#include "kernels/storage.h"
#include "kernels/tile_loop.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

namespace {

template <DType dtype>
struct StorageOf;
#define SINTER_STORAGE(dtype)      \
  template <>                      \
  struct StorageOf<DType::dtype> { \
    using type = stored_##dtype;   \
  };
SINTER_STORAGE(boolean)
SINTER_STORAGE(u8)
SINTER_STORAGE(i32)
SINTER_STORAGE(i64)
SINTER_STORAGE(f16)
SINTER_STORAGE(bf16)
SINTER_STORAGE(f32)
SINTER_STORAGE(f64)
#undef SINTER_STORAGE

template <DType from_type, DType to_type>
void convert(const void* from, void* to_memory, std::int64_t count) {
  using From = typename StorageOf<from_type>::type;
  using To = typename StorageOf<to_type>::type;
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
