#include "tests/kernel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "jit/launch.h"
#include "tests/simulated_gpu.h"

namespace sinter::tests {
namespace {

constexpr std::int64_t gap = 2;  // from one element of a strided access to the next
constexpr std::int64_t first_place = 5, place_step = 3;

bool adds_to(const jit::Loop& loop, std::size_t access) {
  for (const jit::Section& section : loop.sections)
    for (const jit::Statement& s : section.statements)
      if (s.kind == jit::StatementKind::add_rows && s.index == access) return true;
  return false;
}
/// Whether it is an element of the row.
bool loaded_by_row(const jit::Loop& loop, std::size_t access) {
  for (const jit::Section& section : loop.sections)
    for (const jit::Statement& s : section.statements)
      if (section.kind == jit::SectionKind::row && s.kind == jit::StatementKind::load &&
          s.index == access)
        return true;
  return false;
}

std::int64_t step_of(const jit::Access& access) {
  if (!access.memory) return place_step;
  return access.columns == jit::Columns::strided ? gap : 1;
}

template <class T>
T made_up(std::mt19937_64& random, std::int64_t columns, bool special) {
  if constexpr (std::is_same_v<T, bool>) return random() % 2 != 0;
  // Not std::normal_distribution: its draws differ from one library to another.
  const double x = static_cast<double>(random() % 20001) / 5000.0 - 2.0;
  if constexpr (std::is_integral_v<T>) {
    if (special && random() % 2 != 0) return static_cast<T>(random() >> random() % 64);
    return static_cast<T>(random() % static_cast<std::uint64_t>(columns));
  } else {
    using Limits = std::numeric_limits<float>;
    static constexpr float rare[] = {0.0f,
                                     -0.0f,
                                     Limits::infinity(),
                                     -Limits::infinity(),
                                     Limits::quiet_NaN(),
                                     Limits::denorm_min(),
                                     -1e-40f,
                                     Limits::max(),
                                     1e20f,
                                     -88.0f,
                                     3e5f};
    if (special && random() % 4 == 0) return T(rare[random() % std::size(rare)]);
    return T(static_cast<float>(x));
  }
}

std::vector<std::byte> made_up_elements(DType dtype, std::size_t count, std::mt19937_64& random,
                                        std::int64_t columns, bool special) {
  std::vector<std::byte> bytes(count * item_size(dtype));
  with_storage_type(dtype, [&](auto kind) {
    using T = decltype(kind);
    for (std::size_t i = 0; i < count; ++i) {
      const T element = made_up<T>(random, columns, special);
      std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
    }
  });
  return bytes;
}

/// The threads of a block take turns on one of the host's.
class HostThreads final : public KernelGpu {
 public:
  explicit HostThreads(GoldenKernel kernel) : kernel_(kernel) {}

  void* place(std::span<const std::byte> bytes) override {
    return memory_.emplace_back(bytes.begin(), bytes.end()).data();
  }
  void read(const void* memory, std::span<std::byte> bytes) override {
    std::memcpy(bytes.data(), memory, bytes.size());
  }
  void run(const jit::CudaLaunch& shape, std::int64_t shared_bytes,
           const kernels::LoopArguments* arguments) override {
    simulate(static_cast<unsigned>(shape.blocks), static_cast<unsigned>(shape.team_threads),
             static_cast<unsigned>(shape.teams), static_cast<std::size_t>(shared_bytes),
             [&] { kernel_(arguments, 0, shape.units); });
  }

 private:
  GoldenKernel kernel_;
  KernelMemory memory_;
};

}  // namespace

KernelRun::KernelRun(const jit::Loop& loop, Shape rows, std::int64_t columns, bool special)
    : loop_(loop), rows_(rows), columns_(columns) {
  std::mt19937_64 random(17);
  for (const jit::Access& access : loop.accesses) {
    // A row more than there are: a whole row lies behind each index.
    const auto count = (element_count(rows) + 1) * columns * step_of(access);
    memory_.push_back(access.memory
                          ? made_up_elements(access.dtype, static_cast<std::size_t>(count), random,
                                             columns, special)
                          : std::vector<std::byte>());
  }
  static constexpr double reals[] = {0.25, 4.0 / 3.0, 0.0, 0.9, 0.1, 0.5, 0.7, 1e-8};
  std::size_t f32_numbers = 0, f64_numbers = 0;
  for (const DType number : loop.numbers) {
    kernels::LoopNumber value{};
    if (number == DType::i64) value.integer = 1234567890123;
    else if (number == DType::f32) value.real = reals[f32_numbers++];
    else value.real = f64_numbers++ == 0 ? static_cast<double>(columns) : 1e-5;
    numbers_.push_back(value);
  }
}

std::vector<kernels::LoopAccess> KernelRun::accesses_of(const std::vector<void*>& memory) const {
  std::vector<kernels::LoopAccess> accesses;
  for (std::size_t i = 0; i < loop_.accesses.size(); ++i) {
    const std::int64_t step = step_of(loop_.accesses[i]);
    kernels::LoopAccess access{};
    access.base = memory[i];
    access.origin = loop_.accesses[i].memory ? 0 : first_place;
    access.column_stride = loaded_by_row(loop_, i) ? 0 : step;
    access.index_stride = 1;
    access.index_extent = columns_;
    access.sums_rows = adds_to(loop_, i);
    std::int64_t stride = columns_ * step;
    for (int axis = rows_.rank() - 1; axis >= 0; --axis) {
      access.row_strides[axis] = stride;
      stride *= rows_[axis];
    }
    if (access.sums_rows) access.row_strides[0] = columns_;
    accesses.push_back(access);
  }
  return accesses;
}

KernelMemory KernelRun::on_host(GoldenKernel kernel) const {
  KernelMemory memory = memory_;
  std::vector<void*> bases;
  for (std::vector<std::byte>& bytes : memory) bases.push_back(bytes.data());
  jit::launch(loop_, kernel, {rows_, columns_, accesses_of(bases), numbers_});
  return memory;
}

KernelMemory KernelRun::on_gpu(GoldenKernel kernel, bool in_device_memory) {
  HostThreads gpu(kernel);
  return on_gpu(gpu, in_device_memory);
}

KernelMemory KernelRun::on_gpu(KernelGpu& gpu, bool in_device_memory) {
  std::vector<void*> bases;
  for (const std::vector<std::byte>& bytes : memory_)
    bases.push_back(bytes.empty() ? nullptr : gpu.place(bytes));
  const auto accesses = accesses_of(bases);
  const std::int64_t rows = element_count(rows_);
  const jit::CudaLaunch shape = jit::cuda_launch(loop_, rows, columns_);
  const bool global = shape.global_bytes != 0 || in_device_memory;
  const std::vector<std::byte> buffers(static_cast<std::size_t>(
      global ? shape.buffer_bytes * loop_.row_buffers * shape.teams * shape.blocks : 0));

  fault_[0] = fault_[1] = 0;
  void* const fault = gpu.place(std::as_bytes(std::span(fault_)));
  kernels::LoopArguments arguments{};
  arguments.accesses =
      static_cast<kernels::LoopAccess*>(gpu.place(std::as_bytes(std::span(accesses))));
  arguments.numbers =
      static_cast<kernels::LoopNumber*>(gpu.place(std::as_bytes(std::span(numbers_))));
  arguments.access_count = static_cast<std::int64_t>(accesses.size());
  arguments.axes = rows_.rank();
  for (int axis = 0; axis < rows_.rank(); ++axis) arguments.extents[axis] = rows_[axis];
  arguments.rows = rows;
  arguments.columns = columns_;
  arguments.unit_rows = shape.unit_rows;
  arguments.unit_columns = shape.unit_columns;
  arguments.device = {shape.pieces_of_row,
                      global ? static_cast<char*>(gpu.place(buffers)) : nullptr, shape.buffer_bytes,
                      loop_.row_buffers, static_cast<std::int64_t*>(fault)};
  gpu.run(shape, global ? 0 : shape.shared_bytes,
          static_cast<const kernels::LoopArguments*>(
              gpu.place(std::as_bytes(std::span(&arguments, 1)))));
  gpu.read(fault, std::as_writable_bytes(std::span(fault_)));
  KernelMemory memory = memory_;
  for (std::size_t i = 0; i < memory.size(); ++i)
    if (!memory[i].empty()) gpu.read(bases[i], memory[i]);
  return memory;
}

std::vector<KernelExtents> kernel_extents() {
  return {{{2, 3}, 5}, {{70}, 37}, {{2, 2, 3}, 96}, {{3}, 1000}, {{2}, 1501}, {{1}, 17000}};
}

bool sums_columns(const jit::Loop& loop) {
  for (const jit::Section& section : loop.sections)
    for (const jit::Statement& s : section.statements)
      if (s.kind == jit::StatementKind::reduce && (s.op == Op::sum || s.op == Op::prod) &&
          s.compute != DType::i64)
        return true;
  return false;
}

double gpu_tolerance(const NamedLoop& named) {
  if (!sums_columns(named.loop)) return 0;
  return named.name.ends_with("bf16") ? 0x1p-7 : 0x1p-18;
}

std::string first_difference(const jit::Loop& loop, const KernelMemory& a, const KernelMemory& b,
                             double tolerance) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const DType dtype = loop.accesses[i].dtype;
    for (std::size_t at = 0; at < a[i].size(); at += item_size(dtype)) {
      if (std::equal(&a[i][at], &a[i][at] + item_size(dtype), &b[i][at])) continue;
      const auto value = [&](const KernelMemory& memory) {
        return with_storage_type(dtype, [&](auto element) {
          std::memcpy(&element, &memory[i][at], sizeof element);
          if constexpr (std::is_same_v<decltype(element), Half> ||
                        std::is_same_v<decltype(element), BFloat16>)
            return static_cast<double>(static_cast<float>(element));
          else return static_cast<double>(element);
        });
      };
      const double x = value(a), y = value(b);
      if (std::isnan(x) && std::isnan(y)) continue;
      if (is_floating(dtype) && std::abs(x - y) <= tolerance * std::max(1.0, std::abs(x))) continue;
      return fmt::format("access {}, element {}: {} and {}", i, at / item_size(dtype), x, y);
    }
  }
  return {};
}

}  // namespace sinter::tests
