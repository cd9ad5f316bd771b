/// \file
/// What generated kernels are written in, on a GPU: the walk over rows, and elements in memory. The
/// last part of the prelude of every kernel that NVRTC compiles; kernels/generated_loop.h is its
/// counterpart on the CPU.
///
/// A team (team.cuh) takes a unit. Its threads walk the unit together: all of them make the values
/// of a row, and each those of the columns that are its own, which are the same ones in every
/// section and every row of the unit. So a kernel may store over what it loads, but not over what
/// it fetches by an index: another thread may be ahead.
#pragma once

#include "kernels/cuda/team.cuh"
#include "kernels/loop_arguments.h"
#include "kernels/op_functions.h"
#include "kernels/philox_vector.h"
#include "kernels/storage.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

using F32 = VecF;
using F64 = VecD;
using I64 = VecI;

// Values of a row, which all threads of a team make.
using RowF32 = F32;
using RowF64 = F64;
using RowI64 = I64;

template <class Stored, class V>
SINTER_INLINE typename Stored::Compute row_cast(const V& x) {
  return Stored::cast(x);
}

#define SINTER_LOOP_BODY

/// Threads of a block at most: they leave 128 registers to each.
inline constexpr int kernel_threads = 512;

#define SINTER_KERNEL(name)                                                      \
  extern "C" __global__ void __launch_bounds__(kernel_threads, 1)                \
      name(const LoopArguments* __restrict__ arguments, std::int64_t first_unit, \
           std::int64_t last_unit)

/// A row, or a piece of one.
struct Row {
  const std::int64_t* offset;  ///< of the piece's first column, for each access
  int columns;                 ///< of the piece; a unit has fewer than 2^31
  bool first;                  ///< of its unit
};

/// Where a piece of row `row` begins. Divisions are of 32 bits: those of 64 are calls, for which
/// every kernel keeps registers.
SINTER_INLINE std::int64_t offset_of(const LoopArguments& a, const LoopAccess& access,
                                     unsigned block_of_rows, unsigned row,
                                     std::int64_t first_column) {
  std::int64_t offset = access.origin + first_column * access.column_stride;
  if (access.sums_rows) return offset + block_of_rows * access.row_strides[0];
  SINTER_KEEP_ROLLED
  for (int axis = static_cast<int>(a.axes) - 1; axis > 0; --axis) {
    const auto extent = static_cast<unsigned>(a.extents[axis]);
    const unsigned rest = row / extent;
    offset += (row - rest * extent) * access.row_strides[axis];
    row = rest;
  }
  return offset + row * access.row_strides[0];
}

/// Calls body(row) for each row of this team's unit, if it is one of [first_unit, last_unit).
template <class Body>
SINTER_INLINE void each_row(const LoopArguments& a, std::int64_t first_unit, std::int64_t last_unit,
                            Body body) {
  if (first_unit + team_of_grid() >= last_unit) return;
  const unsigned unit = static_cast<unsigned>(first_unit) + team_of_grid();
  // Each warp finds the offsets for itself, a lane those of one access.
  __shared__ std::int64_t offsets[kernel_threads];
  static_assert(loop_max_accesses <= warp_size);
  std::int64_t* const of_warp =
      offsets + (threadIdx.y * blockDim.x + threadIdx.x) / warp_size * warp_size;
  const int lane = lane_of_warp();

  const auto pieces = static_cast<unsigned>(a.device.pieces_of_row);
  const unsigned block = pieces == 1 ? unit : unit / pieces;
  const std::int64_t first_column = (unit - block * pieces) * a.unit_columns;
  const std::int64_t columns_left = a.columns - first_column;
  const int columns =
      static_cast<int>(a.unit_columns < columns_left ? a.unit_columns : columns_left);
  const auto unit_rows = static_cast<unsigned>(a.unit_rows), rows = static_cast<unsigned>(a.rows);
  const unsigned first_row = block * unit_rows, rows_left = rows - first_row;
  const unsigned count = unit_rows < rows_left ? unit_rows : rows_left;
  for (unsigned r = 0; r < count; ++r) {
    if (lane < a.access_count)
      of_warp[lane] = offset_of(a, a.accesses[lane], block, first_row + r, first_column);
    __syncwarp();
    body(Row{of_warp, columns, r == 0});
    wait_for_team();  // before the next row uses shared memory
  }
}

/// The column that is a thread's turn.
struct At {
  int column;
};

/// Calls body(at, reductions...) for all columns of the row.
template <class Body, class... Reductions>
SINTER_INLINE void each_column(const Row& row, Body body, Reductions&... reductions) {
  for (int column = static_cast<int>(threadIdx.x); column < row.columns;
       column += static_cast<int>(blockDim.x))
    body(At{column}, reductions...);
  if constexpr (sizeof...(Reductions) != 0) {
    __shared__ std::uint64_t memory[sizeof...(Reductions) * most_warps];  // of this place alone
    combine_team(memory, reductions...);
  }
}

template <class F, class V>
class Reduction : public ThreadReduction<F, typename V::Element> {
 public:
  using C = typename V::Element;

  SINTER_INLINE explicit Reduction(const Row& row) : empty_(row.columns == 0) {}
  SINTER_INLINE void add(const V& term, At) { this->add_term(term.lane); }
  SINTER_INLINE C result() const { return empty_ ? F::template identity<C> : this->value(); }

 private:
  bool empty_;
};

/// Each element is kept and recalled by the thread that its column belongs to.
template <class V>
class RowBuffer {
 public:
  using Element = typename V::Element;

  SINTER_INLINE RowBuffer(const LoopArguments& a, const Row&, int index) {
    const LoopDevice& device = a.device;
    const bool shared = device.buffers == nullptr;
    char* const memory = shared ? added_shared_memory() : device.buffers;
    const std::int64_t team = shared ? threadIdx.y : team_of_grid();
    memory_ = reinterpret_cast<Element*>(memory + (team * device.buffer_count + index) *
                                                      device.buffer_bytes);
  }
  SINTER_INLINE void keep(const V& x, At at) const { x.store(memory_ + at.column); }
  SINTER_INLINE V recall(At at) const { return V::load(memory_ + at.column); }

 private:
  Element* memory_;
};

template <class Stored>
class Elements {
 public:
  using Element = typename Stored::Element;
  using Compute = typename Stored::Compute;

  SINTER_INLINE Elements(const LoopArguments& a, const Row& row, int access)
      : first_(static_cast<Element*>(a.accesses[access].base) + row.offset[access]),
        column_stride_(a.accesses[access].column_stride),
        index_stride_(a.accesses[access].index_stride),
        index_extent_(a.accesses[access].index_extent) {}

  /// The element of the first column.
  SINTER_INLINE Compute load() const { return element(first_); }
  SINTER_INLINE Compute load(At at) const { return element(first_ + at.column); }
  SINTER_INLINE Compute load_strided(At at) const {
    return element(first_ + at.column * column_stride_);
  }

  /// As load, `index` index strides further on, the same for the whole row.
  SINTER_INLINE Compute fetch(const LoopArguments& a, int access, const VecI& index) const {
    return element(first_ + checked(a, access, index));
  }
  SINTER_INLINE Compute fetch(const LoopArguments& a, int access, const VecI& index, At at) const {
    return element(first_ + checked(a, access, index) + at.column);
  }
  SINTER_INLINE Compute fetch_strided(const LoopArguments& a, int access, const VecI& index,
                                      At at) const {
    return gather(a, access, index, at);
  }
  /// With an index for each column.
  SINTER_INLINE Compute gather(const LoopArguments& a, int access, const VecI& index, At at) const {
    return element(first_ + checked(a, access, index) + at.column * column_stride_);
  }

  template <class V>
  SINTER_INLINE void store(const V& x) const {
    wait_for_team();  // others may have to load what was there
    if (threadIdx.x == 0) Stored::store(x, first_);
  }
  template <class V>
  SINTER_INLINE void store(const V& x, At at) const {
    Stored::store(x, first_ + at.column);
  }
  template <class V>
  SINTER_INLINE void store_strided(const V& x, At at) const {
    Stored::store(x, first_ + at.column * column_stride_);
  }

  /// Adds the term of one more row of a unit to the sums of the columns; the first row's starts
  /// them.
  SINTER_INLINE void add_row(const Row& row, const Compute& x, At at) const {
    store(row.first ? x : load(at) + x, at);
  }

 private:
  SINTER_INLINE static Compute element(const Element* at) {
    return to(Stored::load(at), Compute());
  }
  /// Elements that `index` is on, after a check.
  SINTER_INLINE std::int64_t checked(const LoopArguments& a, int access, const VecI& index) const {
    if (index.lane < 0 || index.lane >= index_extent_) [[unlikely]] {
      refuse_index(a, access, index.lane);
      return 0;
    }
    return index.lane * index_stride_;
  }
  /// The first to come is the one that is told of.
  SINTER_INLINE static void refuse_index(const LoopArguments& a, int access, std::int64_t index) {
    auto* const fault = reinterpret_cast<unsigned long long*>(a.device.fault);
    if (atomicCAS(fault, 0ull, static_cast<unsigned long long>(access) + 1) == 0)
      fault[1] = static_cast<unsigned long long>(index);
  }

  Element* first_;
  std::int64_t column_stride_, index_stride_, index_extent_;
};

/// A number of the user's, rounded to the type it is computed in.
template <class V>
SINTER_INLINE V number(const LoopArguments& a, int index) {
  using C = typename V::Element;
  if constexpr (m::is_integer<V>) return V(a.numbers[index].integer);
  else return V(static_cast<C>(a.numbers[index].real));
}

/// Where the elements of an access without memory would be: of the row, or of its columns.
SINTER_INLINE VecI coordinate(const Row& row, int access) { return row.offset[access]; }
SINTER_INLINE VecI coordinate(const LoopArguments& a, const Row& row, int access, At at) {
  return row.offset[access] + at.column * a.accesses[access].column_stride;
}

/// The column of the row in which start + step * coordinate is `value`, if there is one.
/// Coordinates are those of an access that differ from column to column; step is not 0.
class Match {
 public:
  SINTER_INLINE Match(const LoopArguments& a, const Row& row, int access, const VecI& value,
                      const VecI& start = 0, const VecI& step = 1)
      : way_((value - (start + step * row.offset[access])).lane),
        each_((step * a.accesses[access].column_stride).lane) {}

  /// 1 in that column, 0 in others.
  template <class V>
  SINTER_INLINE V in(At at) const {
    return m::truth<V>(at.column * each_ == way_);
  }

 private:
  std::int64_t way_, each_;
};

/// Random numbers at the places of an access without memory.
class UniformDraw {
 public:
  SINTER_INLINE UniformDraw(const LoopArguments& a, RowI64 seed, RowI64 ordinal)
      : arguments_(a),
        seed_(static_cast<std::uint64_t>(seed.lane)),
        ordinal_(static_cast<std::uint64_t>(ordinal.lane)) {}

  SINTER_INLINE VecF element(const Row& row, int access, const VecI& column = 0) const {
    const std::int64_t stride = arguments_.accesses[access].column_stride;
    return random_uniform(seed_, ordinal_, coordinate(row, access) + column * stride);
  }
  SINTER_INLINE VecF element(const Row& row, int access, At at) const {
    return random_uniform(seed_, ordinal_, coordinate(arguments_, row, access, at));
  }

 private:
  const LoopArguments& arguments_;
  std::uint64_t seed_, ordinal_;
};

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
