/// \file
/// What generated kernels are written in, on top of the vectors: the walk over rows, and elements
/// in memory. The last part of the prelude of every kernel that is compiled at run time.
#pragma once

#include "kernels/loop_arguments.h"
#include "kernels/op_functions.h"
#include "kernels/row_reduce.h"
#include "kernels/storage.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

using F32 = VecF;
using F64 = VecD;
using I64 = VecI;

// Values of a row.
using RowF32 = float;
using RowF64 = double;
using RowI64 = std::int64_t;

template <class C>
SINTER_INLINE C first_lane(const Vec<C>& x) {
  return x.part[0][0];
}

/// A value of a row, converted.
template <class Stored, class C>
SINTER_INLINE typename Stored::Compute::Element row_cast(C x) {
  return first_lane(Stored::cast(Vec<C>(x)));
}

#define SINTER_KERNEL(name)                                                     \
  extern "C" void name(const LoopArguments* arguments, std::int64_t first_unit, \
                       std::int64_t last_unit)

/// A row, or a piece of one.
struct Row : LoopRow {
  bool first;  ///< of its unit
};

/// Calls body(row) for each row of the units [first_unit, last_unit).
template <class Body>
SINTER_INLINE void each_row(const LoopArguments& a, std::int64_t first_unit, std::int64_t last_unit,
                            Body body) {
  Row row;
  for (std::int64_t unit = first_unit; unit < last_unit; ++unit) {
    const std::int64_t rows = a.host->begin_unit(a, unit, row);
    for (std::int64_t r = 0; r < rows; ++r) {
      row.first = r == 0;
      body(row);
      if (r + 1 < rows) a.host->next_row(a, row);
    }
  }
}

/// Calls body(at, lanes...) for all columns of the row.
template <class Body, class... Reductions>
SINTER_INLINE void each_column(const Row& row, Body body, Reductions&... reductions) {
  if constexpr (sizeof...(Reductions) == 0) each_columns(0, row.columns, body);
  else reduce_row(row.columns, body, reductions...);
}

template <class F, class V>
class Reduction : public RowReduction<F, typename V::Element> {
 public:
  SINTER_INLINE explicit Reduction(const Row& row)
      : RowReduction<F, typename V::Element>(row.columns) {}
};

template <class V>
class RowBuffer {
 public:
  SINTER_INLINE RowBuffer(const LoopArguments& a, const Row& row, int index)
      : memory_(static_cast<typename V::Element*>(
            a.host->scratch(index, static_cast<std::int64_t>(sizeof(V)) *
                                       ((row.columns + vector_size - 1) / vector_size)))) {}
  SINTER_INLINE void keep(const V& x, Columns at) const { x.store(memory_ + at.first); }
  SINTER_INLINE V recall(Columns at) const { return V::load(memory_ + at.first); }

 private:
  typename V::Element* memory_;
};

template <class Stored>
class Elements {
 public:
  using Element = typename Stored::Element;
  using Compute = typename Stored::Compute;
  using RowValue = typename Compute::Element;

  SINTER_INLINE Elements(const LoopArguments& a, const Row& row, int access)
      : first_(static_cast<Element*>(a.accesses[access].base) + row.offset[access]),
        access_(a.accesses[access]) {}

  /// The element of the first column.
  SINTER_INLINE RowValue load() const { return one(first_); }
  /// Lanes beyond the row are numbers that do no harm.
  SINTER_INLINE Compute load(Columns at) const {
    const Element* from = first_ + at.first;
    Element padded[vector_size];
    if (!at.is_whole()) [[unlikely]] {
      copy_part(from, at.left, padded);
      from = padded;
    }
    return to(Stored::load(from), Compute());
  }
  SINTER_INLINE Compute load_strided(Columns at) const {
    Element gathered[vector_size] = {};
    const Element* from = first_ + at.first * access_.column_stride;
    for (std::ptrdiff_t i = 0; i < at.count(); ++i, from += access_.column_stride)
      gathered[i] = *from;
    return to(Stored::load(gathered), Compute());
  }

  /// As load, `index` index strides further on, the same for the whole row.
  SINTER_INLINE RowValue fetch(const LoopArguments& a, int access, RowI64 index) const {
    return one(first_ + checked(a, access, index));
  }
  SINTER_INLINE Compute fetch(const LoopArguments& a, int access, RowI64 index, Columns at) const {
    return Elements(first_ + checked(a, access, index), access_).load(at);
  }
  SINTER_INLINE Compute fetch_strided(const LoopArguments& a, int access, RowI64 index,
                                      Columns at) const {
    return Elements(first_ + checked(a, access, index), access_).load_strided(at);
  }
  /// With an index for each column.
  SINTER_INLINE Compute gather(const LoopArguments& a, int access, const VecI& index,
                               Columns at) const {
    std::int64_t indices[vector_size];
    index.store(indices);
    Element gathered[vector_size] = {};
    const Element* from = first_ + at.first * access_.column_stride;
    for (std::ptrdiff_t i = 0; i < at.count(); ++i, from += access_.column_stride)
      gathered[i] = from[checked(a, access, indices[i])];
    return to(Stored::load(gathered), Compute());
  }

  template <class C>
  SINTER_INLINE void store(C x) const {
    Element packed[vector_size];
    Stored::store(Vec<C>(x), packed);
    *first_ = packed[0];
  }
  template <class V>
  SINTER_INLINE void store(const V& x, Columns at) const {
    if (at.is_whole()) [[likely]]
      Stored::store(x, first_ + at.first);
    else store_part(x, first_ + at.first, at.left);
  }
  template <class V>
  SINTER_INLINE void store_strided(const V& x, Columns at) const {
    Element packed[vector_size];
    Stored::store(x, packed);
    Element* memory = first_ + at.first * access_.column_stride;
    for (std::ptrdiff_t i = 0; i < at.count(); ++i, memory += access_.column_stride)
      *memory = packed[i];
  }

  /// Adds the term of one more row of a unit to the sums of the columns; the first row's starts
  /// them.
  SINTER_INLINE void add_row(const Row& row, const Compute& x, Columns at) const {
    store(row.first ? x : load(at) + x, at);
  }

 private:
  static constexpr bool compute_in_memory =
      sizeof(Element) == sizeof(typename Compute::Element) &&
      (Element(0.5f) == Element(0)) == (typename Compute::Element(0.5f) == 0);

  SINTER_INLINE Elements(Element* first, const LoopAccess& access)
      : first_(first), access_(access) {}

  SINTER_INLINE static RowValue one(const Element* at) {
    if constexpr (compute_in_memory) {
      return *at;
    } else {
      Element same[vector_size];
      for (Element& element : same) element = *at;
      return first_lane(to(Stored::load(same), Compute()));
    }
  }
  /// With zeros behind.
  [[gnu::noinline]] static void copy_part(const Element* from, std::ptrdiff_t count, Element* to) {
    if constexpr (compute_in_memory) {
      load_first(from, count, RowValue(0)).store(to);
    } else {
      for (std::ptrdiff_t i = 0; i < vector_size; ++i) to[i] = i < count ? from[i] : Element(0);
    }
  }
  template <class V>
  [[gnu::noinline]] static void store_part(V x, Element* to, std::ptrdiff_t count) {
    if constexpr (compute_in_memory) return store_first(Stored::cast(x), to, count);
    Element packed[vector_size];
    Stored::store(x, packed);
    __builtin_memcpy(to, packed, static_cast<std::size_t>(count) * sizeof(Element));
  }
  /// Elements that `index` is on, after a check.
  SINTER_INLINE std::int64_t checked(const LoopArguments& a, int access, std::int64_t index) const {
    if (index < 0 || index >= access_.index_extent) [[unlikely]] {
      a.host->refuse_index(a, access, index);
      return 0;
    }
    return index * access_.index_stride;
  }

  Element* first_;
  const LoopAccess& access_;
};

/// A number of the user's, rounded to the type it is computed in.
template <class C>
SINTER_INLINE C number(const LoopArguments& a, int index) {
  if constexpr (C(0.5f) == 0) return a.numbers[index].integer;
  else return static_cast<C>(a.numbers[index].real);
}

/// Random numbers at the places of an access without memory. Neighbours are made a batch at a time.
class UniformDraw {
 public:
  SINTER_INLINE UniformDraw(const LoopArguments& a, RowI64 seed, RowI64 ordinal)
      : arguments_(a), draw_{seed, ordinal} {}

  SINTER_INLINE RowF32 element(const Row& row, int access, RowI64 column = 0) {
    const std::int64_t stride = arguments_.accesses[access].column_stride;
    return *neighbours(row.offset[access] + column * stride, 1);
  }
  SINTER_INLINE VecF element(const Row& row, int access, Columns at) {
    const std::int64_t stride = arguments_.accesses[access].column_stride;
    const std::int64_t first = row.offset[access] + at.first * stride;
    if (stride == 1) [[likely]]
      return VecF::load(neighbours(first, vector_size));
    float apart[vector_size];
    arguments_.host->draw_uniform(draw_, first, stride, vector_size, apart);
    return VecF::load(apart);
  }

 private:
  static constexpr std::int64_t batch = 64;  // sixteen blocks of the generator

  /// The elements from `first` on.
  SINTER_INLINE const float* neighbours(std::int64_t first, std::int64_t count) {
    if (first < begin_ || first + count > begin_ + batch) [[unlikely]] {
      begin_ = first & ~std::int64_t{3};
      arguments_.host->draw_uniform(draw_, begin_, 1, batch, batch_);
    }
    return batch_ + (first - begin_);
  }

  const LoopArguments& arguments_;
  LoopDraw draw_;
  std::int64_t begin_ = -batch;
  float batch_[batch];
};

/// The column of the row in which start + step * coordinate is `value`, if there is one.
/// Coordinates are those of an access that differ from column to column; step is not 0.
class Match {
 public:
  SINTER_INLINE Match(const LoopArguments& a, const Row& row, int access, RowI64 value,
                      RowI64 start = 0, RowI64 step = 1) {
    std::int64_t way = value - (start + step * row.offset[access]);
    std::int64_t each = step * a.accesses[access].column_stride;
    if (each < 0) {
      way = -way;
      each = -each;
    }
    // A single column may have no stride.
    if (each > 1) column_ = way % each == 0 ? way / each : -1;
    else column_ = each == 1 || way == 0 ? way : -1;
  }

  /// 1 in that column, 0 in others.
  template <class V>
  SINTER_INLINE V in(Columns at) const {
    const auto from_first = static_cast<std::uint64_t>(column_ - at.first);
    const int lane = from_first < vector_size ? static_cast<int>(from_first) : -1;
    if constexpr (sizeof(typename V::Element) == 4) return m::truth<V>(VecI32::iota() == lane);
    else return m::truth<V>(VecI::iota() == lane);
  }

 private:
  std::int64_t column_;
};

/// Where the elements of an access without memory would be: of the row, or of its columns.
SINTER_INLINE RowI64 coordinate(const Row& row, int access) { return row.offset[access]; }
SINTER_INLINE VecI coordinate(const LoopArguments& a, const Row& row, int access, Columns at) {
  const std::int64_t stride = a.accesses[access].column_stride;
  return VecI(row.offset[access] + at.first * stride) + VecI::iota() * stride;
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
