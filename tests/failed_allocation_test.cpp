// Evaluation when memory runs out: at each allocation in turn, and at all from each on. No Variable
// ever shows anything but a value it had, a value it was given, or an error.
//
// A program of its own, since it replaces the global allocation functions.

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/each_level.h"

namespace {

std::atomic<std::int64_t> allocations_left{INT64_MAX};  // until one fails
std::atomic<bool> fails_on{false};                      // whether those after it fail too

bool refuses() {
  if (allocations_left.load(std::memory_order_relaxed) == INT64_MAX) return false;
  const std::int64_t left = allocations_left.fetch_sub(1);
  return left == 0 || (left < 0 && fails_on);
}

void* allocate_or_null(std::size_t bytes) { return refuses() ? nullptr : std::malloc(bytes); }

void* allocate(std::size_t bytes) {
  void* const memory = allocate_or_null(bytes);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void* allocate(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  void* const memory =
      refuses() ? nullptr : std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  if (!memory) throw std::bad_alloc();
  return memory;
}

/// Not inlined: g++ would take `free` for a mistake where it knows that `new` made the memory.
[[gnu::noinline]] void give_back(void* memory) { std::free(memory); }

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate_or_null(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate_or_null(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t unit) { return allocate(bytes, unit); }
void* operator new[](std::size_t bytes, std::align_val_t unit) { return allocate(bytes, unit); }
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }

namespace sinter::tests {
namespace {

/// What came of one evaluation with an allocation that failed.
struct Outcome {
  bool threw = false;
  bool short_of_memory = false;          // whether an allocation has failed at all
  int kept = 0, replaced = 0, lost = 0;  // Variables
};

/// Runs `read` with the allocation after `count` others failing, and maybe all that follow.
template <typename Read>
void run_short(std::int64_t count, bool all, Outcome& outcome, Read&& read) {
  fails_on = all;
  allocations_left = count;
  try {
    read();
  } catch (const std::exception&) {
    outcome.threw = true;
  }
  outcome.short_of_memory = allocations_left < 0;
  allocations_left = INT64_MAX;
}

/// A step that makes three Variables ten times what they were.
using Step = void (*)(const Variable& first, const Variable& second, const Variable& third,
                      const Tensor& ready);

/// Two Variables written, each from its own old value in its own memory, then steps that allocate:
/// a matrix product, a packed view, a sort, rows with scratch memory.
void write_one_by_one(const Variable& first, const Variable& second, const Variable& third,
                      const Tensor& ready) {
  const std::int64_t n = ready.size(0);
  first.set(first * 10);
  second.set(second * 10);
  const Tensor turned = reshape(transpose(ready * 0.5), {n * n});
  const Tensor ordered = softmax(reshape(sort(turned).first, {n, n}), 1);
  const Tensor product = cast(matmul(cast(ordered, bf16), cast(ready, bf16)), f32);
  third.set(third * 10 + product * 0);
}

/// All three written at once, one with a view that has to be packed, then another step.
void write_together(const Variable& first, const Variable& second, const Variable& third,
                    const Tensor& ready) {
  const Tensor turned = transpose(ready);
  const auto written =
      foreach_map([](const std::vector<Tensor>& x) { return std::vector{x[0] * 10 + x[1] * 0}; },
                  {{first, second, third}, {ready, turned, matmul(ready, turned)}});
  first.set(written[0][0]);
  second.set(written[0][1]);
  third.set(written[0][2] + sort(ready).first * 0);
}

Outcome step_when_short(Step step, std::int64_t count, bool all) {
  constexpr std::int64_t n = 16;
  const Variable first(full({n, n}, 1), "first", false), second(full({n, n}, 2), "second", false);
  const Variable third(full({n, n}, 3), "third", false);
  const Tensor ready = (first.value() + second.value() + third.value()).evaluate();
  release_cached_memory();
  step(first, second, third, ready);

  Outcome outcome;
  run_short(count, all, outcome, [&] { third.value().evaluate(); });
  float expected = 1;
  for (const Variable& variable : {first, second, third}) {
    try {
      const Floats seen = variable.value().to_host<float>();
      if (seen == Floats(n * n, expected)) ++outcome.kept;
      else if (seen == Floats(n * n, expected * 10)) ++outcome.replaced;
      else FAIL_CHECK("a Variable holds " << seen[0] << " in place of " << expected);
    } catch (const Error& error) {
      CHECK_MESSAGE(contains(error.what(), "failed_allocation_test.cpp:"), error.what());
      CHECK_MESSAGE(contains(error.what(), variable.name()), error.what());
      ++outcome.lost;
    } catch (const std::bad_alloc&) {
      CHECK(all);  // there was no memory for a message
      ++outcome.lost;
    }
    ++expected;
  }
  return outcome;
}

void check_each_failure(Step step) {
  at_each_level([&] {
    CHECK(step_when_short(step, INT64_MAX, false).replaced == 3);  // the program is built
    for (const bool all : {false, true}) {
      int kept = 0, lost = 0;
      for (std::int64_t count = 0;; ++count) {
        REQUIRE(count < 10'000);
        const Outcome outcome = step_when_short(step, count, all);
        CAPTURE(count);
        // All of the step is done, at once or at the next read, or none of it.
        CHECK((outcome.replaced == 3 || (outcome.threw && outcome.replaced == 0)));
        kept += outcome.kept;
        lost += outcome.lost;
        if (!outcome.short_of_memory) break;
      }
      CHECK(kept > 0);
      if (level() != Level::interpret) CHECK(lost > 0);  // in its own memory: only there
      else CHECK(lost == 0);
    }
  });
}

}  // namespace

TEST_CASE("memory that runs out during a step loses no value in silence") {
  SUBCASE("of Variables written one by one") { check_each_failure(write_one_by_one); }
  SUBCASE("of Variables written by one map") { check_each_failure(write_together); }
}

}  // namespace sinter::tests
