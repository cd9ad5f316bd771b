#include "jit/kernel_cache.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <future>
#include <unordered_map>
#include <utility>

#include "jit/host_directory.h"
#include "jit/kernel_key.h"
#include "jit/kernel_unit.h"
#include "runtime/cpu/pool.h"
#include "runtime/error.h"
#include "runtime/log.h"

namespace sinter::jit {

/// A kernel of this process: ready, or being made by the thread that put it here.
struct KernelCache::Slot {
  KernelFunction function = nullptr;  ///< Guarded by the lock until `ready`.
  std::shared_future<void> ready;
};

/// The kernels that share all ingredients, found by their whole text.
struct KernelCache::Family {
  std::string ingredients;
  Digest digest;
  std::string prelude;
  std::vector<std::string> flags;
  std::unordered_map<std::string, std::shared_ptr<Slot>> slots;  ///< By body.
};

/// What one call has to make.
struct KernelCache::Batch {
  struct Wanted {
    const KernelSource* source;
    std::shared_ptr<Slot> slot;
    Digest digest;
    std::string reason = {};            ///< Why it was not found.
    KernelFunction function = nullptr;  ///< Once it was.
  };

  HostCompiler compiler;
  Family& family;
  std::vector<Wanted> wanted = {};
  std::promise<void> done = {};
  std::shared_future<void> ready = done.get_future().share();
};

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void record(std::string_view message, const std::string& symbol, std::string_view key,
            std::string value) {
  if (log_enabled(LogChannel::cache))
    write_log({LogChannel::cache,
               {},
               std::string(message),
               {{"kernel", symbol}, {std::string(key), std::move(value)}}});
}

}  // namespace

KernelCache::KernelCache(const Options& options) : options_(options), store_(options) {}

KernelCache::~KernelCache() = default;

std::optional<HostCompiler> KernelCache::compiler() {
  {
    const std::lock_guard lock(mutex_);
    if (compiler_ && is_unchanged(*compiler_)) return compiler_;
  }
  // Without the lock, which a fork waits for: two threads may both look, and find the same.
  std::optional<HostCompiler> found = find_host_compiler(options_);
  const std::lock_guard lock(mutex_);
  compiler_ = found;
  return found;
}

KernelCache::Family& KernelCache::family_of(const HostCompiler& compiler, std::string_view prelude,
                                            std::string_view precision) {
  const cpu::InstructionSet set = cpu::instruction_set();
  std::string text = to_text(ingredients_of(compiler, set, precision, prelude));
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Family>& family = families_[text];
  if (!family) {
    const Digest digest = digest_of(text);
    family = std::make_unique<Family>(
        Family{std::move(text), digest, std::string(prelude), compile_flags(set), {}});
  }
  return *family;
}

std::optional<std::vector<KernelFunction>> KernelCache::load(std::span<const KernelSource> sources,
                                                             std::string_view prelude,
                                                             std::string_view precision) {
  const std::optional<HostCompiler> found = compiler();
  if (!found) {
    warn("no compiler",
         "no C++ compiler on PATH (c++, g++, clang++) and none named by SINTER_CXX: nothing is "
         "fused, kernels compiled ahead of time run instead");
    return std::nullopt;
  }
  Batch batch{*found, family_of(*found, prelude, precision)};
  std::vector<std::shared_ptr<Slot>> slots;
  try {
    slots = claim(batch, sources);
    if (!batch.wanted.empty()) make(batch);
  } catch (...) {
    give_up(batch, std::current_exception());
    throw;
  }
  std::vector<KernelFunction> functions;
  for (const std::shared_ptr<Slot>& slot : slots) {
    slot->ready.get();
    functions.push_back(slot->function);
  }
  return functions;
}

std::vector<std::shared_ptr<KernelCache::Slot>> KernelCache::claim(
    Batch& batch, std::span<const KernelSource> sources) {
  std::vector<std::shared_ptr<Slot>> slots;
  for (const KernelSource& source : sources) {
    const Digest digest = kernel_digest(batch.family.digest, source.body);
    std::unique_lock lock(mutex_);
    std::shared_ptr<Slot>& slot = batch.family.slots[source.body];
    const bool known = slot != nullptr;
    if (!known) {
      slot = std::make_shared<Slot>(Slot{nullptr, batch.ready});
      batch.wanted.push_back({&source, slot, digest});
    }
    statistics_.process_hits += known;
    slots.push_back(slot);
    lock.unlock();
    if (known) record("hit", kernel_symbol(source.name_hint, digest), "where", "in the process");
  }
  return slots;
}

void KernelCache::make(Batch& batch) {
  read_disk(batch);
  compile(batch);
  {
    const std::lock_guard lock(mutex_);
    for (const Batch::Wanted& kernel : batch.wanted) kernel.slot->function = kernel.function;
  }
  batch.done.set_value();
}

void KernelCache::give_up(Batch& batch, std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    for (const Batch::Wanted& kernel : batch.wanted) batch.family.slots.erase(kernel.source->body);
  }
  batch.done.set_exception(std::move(error));
}

void KernelCache::read_disk(Batch& batch) {
  const Clock::time_point start = Clock::now();
  std::vector<Digest> digests;
  for (const Batch::Wanted& kernel : batch.wanted) digests.push_back(kernel.digest);
  const KernelLookup lookup = store_.find(digests);
  std::vector<std::optional<KernelImage>> images(lookup.files.size());
  for (std::size_t i = 0; i < batch.wanted.size(); ++i) {
    Batch::Wanted& kernel = batch.wanted[i];
    kernel.reason = lookup.places[i].reason;
    if (!lookup.places[i].file) continue;
    const std::size_t number = *lookup.places[i].file;
    const KernelFile& file = lookup.files[number];
    kernel.reason = "its batch holds other kernels";
    if (file.ingredients != batch.family.ingredients) continue;
    const auto stored = std::find_if(
        file.kernels.begin(), file.kernels.end(),
        [&](const StoredKernel& candidate) { return candidate.body == kernel.source->body; });
    if (stored == file.kernels.end()) continue;
    try {
      if (!images[number]) images[number] = load_image(file.image);
      kernel.function = images[number]->find(stored->symbol);
    } catch (const FileError& error) {
      kernel.reason = error.what();
    }
    if (kernel.function != nullptr) record("hit", stored->symbol, "where", "on disk");
  }
  const std::lock_guard lock(mutex_);
  for (const Batch::Wanted& kernel : batch.wanted)
    statistics_.disk_hits += kernel.function != nullptr;
  statistics_.refused += lookup.refused;
  statistics_.load_milliseconds += milliseconds_since(start);
}

KernelImage KernelCache::load_image(const std::string& bytes) const {
  // Under the lock, which a fork waits for: the child of one in the middle of the loader's work
  // would find the loader's own lock taken for ever.
  const std::lock_guard lock(mutex_);
  return KernelImage(bytes);
}

void KernelCache::compile(Batch& batch) {
  KernelFile file{std::int64_t{::time(nullptr)}, batch.family.ingredients, {}, {}};
  std::vector<Batch::Wanted*> missing;
  std::vector<Digest> digests;
  for (Batch::Wanted& kernel : batch.wanted) {
    if (kernel.function != nullptr) continue;
    missing.push_back(&kernel);
    digests.push_back(kernel.digest);
    file.kernels.push_back(
        {kernel_symbol(kernel.source->name_hint, kernel.digest), kernel.source->body});
    record("miss", file.kernels.back().symbol, "reason", kernel.reason);
  }
  if (missing.empty()) return;
  const Clock::time_point start = Clock::now();
  const std::vector<std::string> units = split_into_units(batch.family.prelude, file.kernels,
                                                          static_cast<std::size_t>(cpu::threads()));
  file.image = build_shared_object(batch.compiler, units, batch.family.flags);
  const double took = milliseconds_since(start);
  const KernelImage image = load_image(file.image);
  for (std::size_t i = 0; i < missing.size(); ++i) {
    missing[i]->function = image.find(file.kernels[i].symbol);
    invariant(missing[i]->function != nullptr, "a kernel's body defines no SINTER_KERNEL_NAME");
  }
  {
    const std::lock_guard lock(mutex_);
    statistics_.misses += static_cast<std::int64_t>(missing.size());
    ++statistics_.compiles;
    statistics_.compile_milliseconds += took;
  }
  if (log_enabled(LogChannel::cache))
    write_log({LogChannel::cache,
               {},
               "compiled",
               {{"kernels", fmt::to_string(missing.size())},
                {"units", fmt::to_string(units.size())},
                {"ms", fmt::format("{:.1f}", took)},
                {"bytes", fmt::to_string(file.image.size())}}});
  store_.keep(file, digests);
}

KernelStatistics KernelCache::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void KernelCache::after_fork_in_child() {
  // The threads that were making the rest are not here.
  for (auto& [ingredients, family] : families_)
    std::erase_if(family->slots, [](const auto& item) { return item.second->function == nullptr; });
  mutex_.unlock();
}

KernelCache& kernel_cache() {
  static KernelCache* const cache = [] {
    // Never destroyed: a thread may still be loading when the program ends.
    auto* const forever = new KernelCache(options());
    // What the work uses is made now: the child of a fork that met another thread while it makes
    // one of these would wait for that thread for ever. Handlers of a fork run in reverse order.
    HostDirectory::wait_for_all_at_exit();
    log_enabled(LogChannel::cache);
    cpu::instruction_set();
    cpu::threads();
    ::pthread_atfork([] { kernel_cache().before_fork(); },
                     [] { kernel_cache().after_fork_in_parent(); },
                     [] { kernel_cache().after_fork_in_child(); });
    return forever;
  }();
  return *cache;
}

}  // namespace sinter::jit
