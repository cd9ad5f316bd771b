#include "kernels/gemm.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "kernels/by_isa.h"
#include "kernels/elementwise.h"
#include "kernels/gemm_blocks.h"
#include "kernels/gemm_onednn.h"
#include "kernels/gemm_product.h"
#include "runtime/cpu/pool.h"
#include "runtime/error.h"
#include "runtime/memory.h"

namespace sinter::kernels {

SINTER_DECLARE_BY_ISA(const GemmFunctions& gemm_table();)

const GemmFunctions& gemm_functions() { return SINTER_CALL_BY_ISA(gemm_table); }

namespace {

/// A view and the memory it is in, where that is not the caller's.
struct Operand {
  ConstView view;
  BufferRef memory;
};

/// A copy of `view` in `dtype` without gaps; leading axes that repeat a matrix still do.
Operand packed(const ConstView& view, DType dtype) {
  ConstView once = view;
  for (int axis = 0; axis < view.shape.rank() - 2; ++axis)
    if (view.strides[axis] == 0) once.shape[axis] = 1;
  const auto items = static_cast<std::size_t>(element_count(once.shape));
  Operand copy{{nullptr, dtype, view.shape, contiguous_strides(once.shape)},
               Buffer::allocate(items * item_size(dtype))};
  copy.view.data = copy.memory->data();
  kernels::copy(once, {copy.memory->data(), dtype, once.shape, copy.view.strides});
  for (int axis = 0; axis < view.shape.rank() - 2; ++axis)
    if (once.shape[axis] != view.shape[axis]) copy.view.strides[axis] = 0;
  return copy;
}

MatrixStrides matrix_strides(const ConstView& view) {
  return {view.strides[view.shape.rank() - 2], view.strides.back()};
}

/// Whether the library multiplies the matrices of this dtype; others are the blocked code's.
bool by_library(DType dtype) { return dtype == DType::f32 || dtype == DType::bf16; }

bool forward_batch(const ConstView& view) {
  for (int axis = 0; axis < view.shape.rank() - 2; ++axis)
    if (view.strides[axis] < 0) return false;
  return true;
}

/// Whether each axis, in order of strides, steps over all that lies inside of it: the library
/// refuses axes that interleave, though no two elements share a place.
bool is_nested(const ConstView& view) {
  const auto walks = [&](int axis) { return view.shape[axis] > 1 && view.strides[axis] != 0; };
  for (int inner = 0; inner < view.shape.rank(); ++inner)
    for (int outer = 0; outer < view.shape.rank(); ++outer) {
      if (inner == outer || !walks(inner) || !walks(outer)) continue;
      if (view.strides[inner] <= view.strides[outer] &&
          view.strides[outer] < view.strides[inner] * view.shape[inner])
        return false;
    }
  return true;
}

bool library_takes(const ConstView& view) {
  const Shape& shape = view.shape;
  return forward_batch(view) && is_nested(view) &&
         is_plain(shape[shape.rank() - 2], shape.back(), matrix_strides(view));
}

/// The view in the dtype that is multiplied, laid out as its code takes it.
Operand operand(const ConstView& view, DType dtype) {
  const bool as_it_is = view.dtype == dtype && (!by_library(dtype) || library_takes(view));
  return as_it_is ? Operand{view, {}} : packed(view, dtype);
}

/// Memory of one thread for what lives during a task.
class Scratch {
 public:
  std::byte* get(std::size_t bytes) {
    if (bytes > bytes_) {
      buffer_ = Buffer::allocate(bytes);
      bytes_ = bytes;
    }
    return buffer_->data();
  }

 private:
  BufferRef buffer_;
  std::size_t bytes_ = 0;
};

/// A whole call: the operands in the dtypes they are used in, and what follows the sums.
struct Call {
  Operand a, b;
  ConstView bias{};
  ConstView residual{};
  View out;
  DType multiplied = DType::f32;  ///< of a and b
  DType summed = DType::f32;
  LinearActivation activation = LinearActivation::none;

  /// Whether f32 is summed in f64.
  bool is_wide() const { return multiplied == DType::f32 && summed == DType::f64; }
  bool by_library() const { return kernels::by_library(multiplied) && !is_wide(); }
  bool has_epilogue() const {
    return bias.data || residual.data || activation != LinearActivation::none;
  }
};

template <typename T>
T* at(T* base, std::int64_t offset, DType dtype) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return static_cast<Byte*>(base) + offset * static_cast<std::int64_t>(item_size(dtype));
}

template <typename C>
void multiply_blocked(const Block& block, const void* a, const void* b, void* c, C* panel,
                      void (*multiply)(const BlockedOperands<C>&)) {
  for (std::int64_t outer = 0; outer < block.outer; ++outer)
    for (std::int64_t inner = 0; inner < block.inner; ++inner)
      multiply({static_cast<const C*>(a) + outer * block.a[0] + inner * block.a[1],
                static_cast<const C*>(b) + outer * block.b[0] + inner * block.b[1],
                static_cast<C*>(c) + outer * block.c[0] + inner * block.c[1], block.m, block.n,
                block.k, block.a[2], block.a[3], block.b[2], block.b[3], block.c[2], panel});
}

void multiply_wide(const Block& block, const void* a, const void* b, void* c, Scratch& scratch) {
  const auto work = static_cast<std::size_t>(wide_work(block.m, block.n, block.k));
  void* const room = scratch.get(work * sizeof(double));
  for (std::int64_t outer = 0; outer < block.outer; ++outer)
    for (std::int64_t inner = 0; inner < block.inner; ++inner)
      gemm_functions().multiply_wide(
          {static_cast<const float*>(a) + outer * block.a[0] + inner * block.a[1],
           static_cast<const float*>(b) + outer * block.b[0] + inner * block.b[1],
           static_cast<double*>(c) + outer * block.c[0] + inner * block.c[1], block.m, block.n,
           block.k, block.a[2], block.a[3], block.b[2], block.b[3], static_cast<double*>(room)});
}

void multiply(const Call& call, DType out, const Block& block, const void* a, const void* b,
              void* c, Scratch& scratch) {
  if (call.by_library()) return library_multiply(call.multiplied, out, block, a, b, c);
  const GemmFunctions& functions = gemm_functions();
  if (call.multiplied == DType::f32) return multiply_wide(block, a, b, c, scratch);
  void* panel = scratch.get(panel_elements * sizeof(double));
  if (call.multiplied == DType::f64)
    return multiply_blocked(block, a, b, c, static_cast<double*>(panel), functions.multiply_f64);
  multiply_blocked(block, a, b, c, static_cast<std::int64_t*>(panel), functions.multiply_i64);
}

/// Bias, activation, residual and rounding of each matrix of the block, from `sums` to the output.
void finish(const Call& call, const Product& product, const Task& task, const void* sums,
            const Block& from) {
  const GemmFunctions& functions = gemm_functions();
  const auto epilogue = call.summed == DType::f32   ? functions.epilogue_f32
                        : call.summed == DType::f64 ? functions.epilogue_f64
                                                    : functions.epilogue_i64;
  const std::size_t axes = product.batch.size();
  const std::int64_t r_outer = axes >= 2 ? product.batch[axes - 2].r : 0;
  const std::int64_t r_inner = axes >= 1 ? product.batch[axes - 1].r : 0;
  const Block& to = task.block;
  for (std::int64_t outer = 0; outer < to.outer; ++outer)
    for (std::int64_t inner = 0; inner < to.inner; ++inner) {
      EpilogueOperands x{};
      x.sums = at(sums, outer * from.c[0] + inner * from.c[1], call.summed);
      x.sums_row = from.c[2];
      if (call.bias.data) x.bias = at(call.bias.data, task.column, call.summed);
      x.activation = static_cast<int>(call.activation);
      if (call.residual.data)
        x.residual =
            at(call.residual.data, task.r + outer * r_outer + inner * r_inner, call.out.dtype);
      x.residual_row = product.r.row;
      x.out = at(call.out.data, task.c + outer * to.c[0] + inner * to.c[1], call.out.dtype);
      x.out_row = product.c.row;
      x.dtype = call.out.dtype;
      x.rows = to.m;
      x.columns = to.n;
      epilogue(x);
    }
}

void run_task(const Call& call, const Product& product, const Task& task) {
  thread_local Scratch sums_scratch, panel_scratch;
  const void* a = at(call.a.view.data, task.a, call.multiplied);
  const void* b = at(call.b.view.data, task.b, call.multiplied);
  void* c = at(call.out.data, task.c, call.out.dtype);
  const bool residual_is_out = call.residual.data == call.out.data;
  // The sums go to the output at once where they have its dtype: there they are finished in place.
  if (call.by_library() && call.out.dtype == call.summed && !residual_is_out) {
    multiply(call, call.summed, task.block, a, b, c, panel_scratch);
    if (call.has_epilogue()) finish(call, product, task, c, task.block);
    return;
  }
  if (call.multiplied == call.out.dtype && call.by_library() && !call.has_epilogue())
    return multiply(call, call.out.dtype, task.block, a, b, c, panel_scratch);
  Block sums = task.block;
  const std::int64_t width = call.is_wide() ? wide_columns(sums.n) : sums.n;
  sums.c = {sums.inner * sums.m * width, sums.m * width, width, 1};
  const std::int64_t items = sums.outer * sums.c[0];
  void* to = sums_scratch.get(static_cast<std::size_t>(items) * item_size(call.summed));
  multiply(call, call.summed, sums, a, b, to, panel_scratch);
  finish(call, product, task, to, sums);
}

/// With nothing to sum over, the sums are zeros: one column of zeros on both sides says so.
void use_zeros(Call& call) {
  static constexpr std::int64_t zero[1] = {0};
  for (Operand* side : {&call.a, &call.b}) {
    ConstView& view = side->view;
    view.data = zero;
    const int rank = view.shape.rank();
    view.shape[side == &call.a ? rank - 1 : rank - 2] = 1;
    view.strides = Strides::filled(rank, 0);
  }
}

void run(Call& call) {
  if (element_count(call.out.shape) == 0) return;
  if (call.a.view.shape.back() == 0) use_zeros(call);
  call.a = operand(call.a.view, call.multiplied);
  call.b = operand(call.b.view, call.multiplied);
  const Product product = make_product(call.a.view, call.b.view, call.out,
                                       call.residual.data ? &call.residual : nullptr);
  const Tiling tiling(product);
  cpu::parallel_for(tiling.tasks(),
                    [&](std::int64_t task) { run_task(call, product, tiling.task(task)); });
}

/// The dtype a and b are multiplied in.
DType multiplied_dtype(DType dtype) {
  if (dtype == DType::bf16 && cpu::has_bf16_products()) return dtype;
  return compute_dtype(dtype);
}

/// Up to so many products of f32 are summed in f64: the step they belong to is mostly calls. More
/// of linear's, as what it is off by goes through everything that follows.
constexpr std::int64_t most_wide_matmul = 1 << 21, most_wide_linear = 1 << 23;

/// The dtype of the sums. With few rows, converting w would be most of the work of wide ones.
DType summed_dtype(const ConstView& x, std::int64_t columns, std::int64_t most_wide) {
  constexpr std::int64_t least_rows = 8;
  const std::int64_t rows = element_count(x.shape) / std::max<std::int64_t>(1, x.shape.back());
  const bool wide =
      x.dtype == DType::f32 && rows >= least_rows && element_count(x.shape) * columns <= most_wide;
  return wide ? DType::f64 : compute_dtype(x.dtype);
}

bool rows_contiguous(const ConstView& view) {
  return view.strides.back() == 1 || view.shape.back() == 1;
}

/// `view` repeated along the leading axes of `shape` that it lacks.
ConstView with_rank(const ConstView& view, const Shape& shape) {
  ConstView wide = view;
  const int added = shape.rank() - view.shape.rank();
  wide.shape = Shape{};
  wide.strides = Strides{};
  for (int axis = 0; axis < shape.rank(); ++axis) {
    wide.shape.push_back(axis < added ? shape[axis] : view.shape[axis - added]);
    wide.strides.push_back(axis < added ? 0 : view.strides[axis - added]);
  }
  return wide;
}

/// Runs the call with an output whose rows are contiguous, one after the other.
void run_with_rows(Call& call) {
  if (rows_contiguous(call.out) && library_takes(call.out)) return run(call);
  const View out = call.out;
  const auto items = static_cast<std::size_t>(element_count(out.shape));
  const BufferRef memory = Buffer::allocate(items * item_size(out.dtype));
  call.out = {memory->data(), out.dtype, out.shape, contiguous_strides(out.shape)};
  run(call);
  kernels::copy(call.out, out);
}

}  // namespace

void matmul(const ConstView& a, const ConstView& b, const View& out) {
  invariant(a.dtype == b.dtype, "matmul of two dtypes");
  Call call;
  call.a.view = a;
  call.b.view = b;
  call.out = out;
  call.multiplied = multiplied_dtype(a.dtype);
  call.summed = summed_dtype(a, out.shape.back(), most_wide_matmul);
  run_with_rows(call);
}

void linear(const ConstView& x, const ConstView& w, const ConstView* bias,
            LinearActivation activation, const ConstView* residual, const View& out) {
  Call call;
  call.a.view = x;
  call.b.view = with_rank(w, x.shape);
  call.out = out;
  call.activation = activation;
  call.multiplied = multiplied_dtype(x.dtype);
  call.summed = summed_dtype(x, out.shape.back(), most_wide_linear);
  Operand bias_operand, residual_operand;
  if (bias) {
    bias_operand = packed(*bias, call.summed);
    call.bias = bias_operand.view;
  }
  if (residual) {
    const bool as_it_is = residual->dtype == out.dtype && rows_contiguous(*residual);
    residual_operand = as_it_is ? Operand{*residual, {}} : packed(*residual, out.dtype);
    call.residual = residual_operand.view;
  }
  run_with_rows(call);
}

}  // namespace sinter::kernels
