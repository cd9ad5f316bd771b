#include "kernels/gemm_onednn.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/cpu/probe.h"
#include "runtime/error.h"
#include "runtime/memory.h"

// Of the OpenMP runtime that oneDNN uses; its header is not there for every compiler.
extern "C" int omp_get_max_threads(void);
extern "C" void omp_set_num_threads(int);

namespace sinter::kernels {
namespace {

using Dims = dnnl::memory::dims;

/// Lets oneDNN use only the calling thread: its own threads and a pool that spins would take each
/// other's cores.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

void check(dnnl_status_t status, const char* call) {
  if (status != dnnl_success)
    throw DeviceError(
        fmt::format("oneDNN: {} failed with status {}", call, static_cast<int>(status)));
}

/// Never destroyed: products may be computed by destructors of static objects.
const dnnl::engine& engine() {
  static const dnnl::engine* const forever = [] {
    // A path chosen by the user also holds for the library; later it can no longer be told.
    if (cpu::instruction_set() == cpu::InstructionSet::avx2 &&
        cpu::processor().best != cpu::InstructionSet::avx2)
      dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2);
    return new dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return *forever;
}

/// What a primitive depends on.
struct Key {
  DType dtype, out;
  Block block;
  friend bool operator==(const Key&, const Key&) = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash =
        static_cast<std::uint64_t>(key.dtype) * 16 + static_cast<std::uint64_t>(key.out);
    const auto add = [&hash](std::int64_t value) {
      hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    };
    const Block& b = key.block;
    for (const std::int64_t value : {b.outer, b.inner, b.m, b.n, b.k}) add(value);
    for (const auto& strides : {b.a, b.b, b.c})
      for (const std::int64_t value : strides) add(value);
    return hash;
  }
};

dnnl::memory::data_type library_type(DType dtype) {
  return dtype == DType::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

/// A batch axis of stride 0 has size 1 for the library.
dnnl::memory::desc description(DType dtype, const Block& block, std::int64_t rows,
                               std::int64_t columns, const std::array<std::int64_t, 4>& strides) {
  Dims sizes, steps;
  const auto add = [&](std::int64_t size, std::int64_t step) {
    sizes.push_back(step == 0 ? 1 : size);
    steps.push_back(step == 0 ? rows * columns : step);
  };
  if (block.outer > 1) add(block.outer, strides[0]);
  if (block.outer > 1 || block.inner > 1) add(block.inner, strides[1]);
  sizes.insert(sizes.end(), {rows, columns});
  // The library wants for axes of size 1 the strides that a dense matrix would have.
  if (columns > 1 && strides[3] != 1) steps.insert(steps.end(), {1, strides[3]});
  else steps.insert(steps.end(), {rows == 1 ? columns : strides[2], 1});
  return {sizes, library_type(dtype), steps};
}

/// One created primitive with all it needs but the operands; used by several threads at once.
class Primitive {
 public:
  explicit Primitive(const Key& key) {
    const OneThread one_thread;
    const Block& b = key.block;
    a_ = description(key.dtype, b, b.m, b.k, b.a);
    b_ = description(key.dtype, b, b.k, b.n, b.b);
    c_ = description(key.out, b, b.m, b.n, b.c);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    try {
      const dnnl::matmul::primitive_desc plan({a_, b_, c_}, attributes, engine());
      scratch_ = plan.scratchpad_desc();
      primitive_ = dnnl::matmul(plan);
    } catch (const dnnl::error& error) {
      throw DeviceError(fmt::format("oneDNN: creating a {} product {} x {} x {} failed: {}",
                                    to_string(key.dtype), b.m, b.n, b.k, error.what()));
    }
  }

  void run(const void* a, const void* b, void* c) const {
    thread_local dnnl::stream stream(engine());
    std::unique_ptr<Operands> operands = take_operands();
    BufferRef scratch;
    if (scratch_.get_size() > 0) scratch = Buffer::allocate(scratch_.get_size());
    operands->a.set_data_handle(const_cast<void*>(a));
    operands->b.set_data_handle(const_cast<void*>(b));
    operands->c.set_data_handle(c);
    operands->scratch.set_data_handle(scratch ? scratch->data() : nullptr);
    const OneThread one_thread;
    primitive_.execute(stream, operands->arguments);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(operands));
  }

 private:
  /// The library's handles of memory, which take longer to make than a small product.
  struct Operands {
    dnnl::memory a, b, c, scratch;
    std::unordered_map<int, dnnl::memory> arguments;
  };

  std::unique_ptr<Operands> take_operands() const {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<Operands> last = std::move(free_.back());
        free_.pop_back();
        return last;
      }
    }
    auto made = std::make_unique<Operands>();
    made->a = dnnl::memory(a_, engine(), nullptr);
    made->b = dnnl::memory(b_, engine(), nullptr);
    made->c = dnnl::memory(c_, engine(), nullptr);
    made->scratch = dnnl::memory(scratch_, engine(), nullptr);
    made->arguments = {{DNNL_ARG_SRC, made->a},
                       {DNNL_ARG_WEIGHTS, made->b},
                       {DNNL_ARG_DST, made->c},
                       {DNNL_ARG_SCRATCHPAD, made->scratch}};
    return made;
  }

  dnnl::memory::desc a_, b_, c_, scratch_;
  dnnl::matmul primitive_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Operands>> free_;  ///< Not in use by a thread.
};

/// Creating a primitive takes some 200 us, running a small one a few: the last thousand are kept.
class PrimitiveCache {
 public:
  std::shared_ptr<const Primitive> get(const Key& key) {
    const std::lock_guard lock(mutex_);
    if (const auto found = places_.find(key); found != places_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->second;
    }
    entries_.emplace_front(key, std::make_shared<const Primitive>(key));
    places_.emplace(key, entries_.begin());
    if (entries_.size() > limit) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return entries_.front().second;
  }

 private:
  static constexpr std::size_t limit = 1024;
  using Entries = std::list<std::pair<Key, std::shared_ptr<const Primitive>>>;
  std::mutex mutex_;
  Entries entries_;  ///< the one used last first
  std::unordered_map<Key, Entries::iterator, KeyHash> places_;
};

PrimitiveCache& primitives() {
  static auto* const forever = new PrimitiveCache;
  return *forever;
}

/// Whether the strides are those of some order of the axes without gaps, or of one matrix for all.
bool is_dense(const Block& block, std::int64_t rows, std::int64_t columns,
              const std::array<std::int64_t, 4>& strides) {
  std::array<std::pair<std::int64_t, std::int64_t>, 4> axes = {{{strides[0], block.outer},
                                                                {strides[1], block.inner},
                                                                {strides[2], rows},
                                                                {strides[3], columns}}};
  std::sort(axes.begin(), axes.end());
  std::int64_t expected = 1;
  for (const auto& [stride, size] : axes) {
    if (size == 1 || stride == 0) continue;
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

/// Whether calling a primitive takes noticeably longer than dnnl_sgemm, which does nothing before
/// it multiplies but also copies what is transposed.
bool is_small(const Block& block) {
  return block.outer * block.inner == 1 && block.a[3] == 1 && block.b[3] == 1 &&
         block.m * block.n * block.k < (1 << 21);
}

/// The library's own f32 product: as fast for parts of matrices, for which primitives use it too,
/// and with less to do around it.
void multiply_parts(const Block& x, const float* a, const float* b, float* c) {
  const OneThread one_thread;
  const bool a_rows = x.a[3] == 1 || x.k == 1, b_rows = x.b[3] == 1 || x.n == 1;
  const std::int64_t a_step =
      std::max<std::int64_t>({a_rows ? x.a[2] : x.a[3], 1, a_rows ? x.k : x.m});
  const std::int64_t b_step =
      std::max<std::int64_t>({b_rows ? x.b[2] : x.b[3], 1, b_rows ? x.n : x.k});
  for (std::int64_t outer = 0; outer < x.outer; ++outer)
    for (std::int64_t inner = 0; inner < x.inner; ++inner)
      check(dnnl_sgemm(a_rows ? 'N' : 'T', b_rows ? 'N' : 'T', x.m, x.n, x.k, 1.0f,
                       a + outer * x.a[0] + inner * x.a[1], a_step,
                       b + outer * x.b[0] + inner * x.b[1], b_step, 0.0f,
                       c + outer * x.c[0] + inner * x.c[1], std::max(x.c[2], x.n)),
            "dnnl_sgemm");
}

}  // namespace

void library_multiply(DType dtype, DType out, const Block& block, const void* a, const void* b,
                      void* c) {
  // The library has no batch axis along which both operands repeat.
  for (const std::size_t axis : {0u, 1u}) {
    const std::int64_t size = axis == 0 ? block.outer : block.inner;
    if (size == 1 || block.a[axis] != 0 || block.b[axis] != 0) continue;
    Block one = block;
    (axis == 0 ? one.outer : one.inner) = 1;
    const std::int64_t step = block.c[axis] * static_cast<std::int64_t>(item_size(out));
    for (std::int64_t i = 0; i < size; ++i)
      library_multiply(dtype, out, one, a, b, static_cast<std::byte*>(c) + i * step);
    return;
  }
  const bool dense = is_dense(block, block.m, block.k, block.a) &&
                     is_dense(block, block.k, block.n, block.b) &&
                     is_dense(block, block.m, block.n, block.c);
  engine();  // before the first call of the library
  if (dtype == DType::f32 && (!dense || is_small(block)))
    return multiply_parts(block, static_cast<const float*>(a), static_cast<const float*>(b),
                          static_cast<float*>(c));
  primitives().get({dtype, out, block})->run(a, b, c);
}

}  // namespace sinter::kernels
