#include "tests/simulated_gpu.h"

#include <ucontext.h>

#include <memory>
#include <vector>

#include "runtime/error.h"

namespace sinter::tests {

SimulatedThread simulated_thread;

namespace {

constexpr std::size_t stack_bytes = std::size_t{64} << 10;

struct Fiber {
  ucontext_t context{};
  std::unique_ptr<char[]> stack;
  Index3 index;
  SimulatedWait wait = SimulatedWait::none;
  bool done = false;
  std::uint64_t words[2] = {};  // exchanged, the last one and the one before
  unsigned exchanges = 0;
};

/// The block that runs.
struct Block {
  const std::function<void()>* kernel = nullptr;
  ucontext_t scheduler{};
  std::vector<Fiber> fibers;
  Fiber* current = nullptr;
  std::vector<std::uint64_t> shared;
};
Block block;

void run_fiber() {
  (*block.kernel)();
  block.current->done = true;
}

void start(Fiber& fiber, Index3 index) {
  if (!fiber.stack) fiber.stack.reset(new char[stack_bytes]);
  fiber.index = index;
  fiber.done = false;
  fiber.wait = SimulatedWait::none;
  fiber.exchanges = 0;
  ::getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = stack_bytes;
  fiber.context.uc_link = &block.scheduler;
  ::makecontext(&fiber.context, run_fiber, 0);
}

/// A turn for each thread. All threads of a team walk the same way, so they wait for the same.
bool run_turns(unsigned threads) {
  bool running = false;
  for (Fiber& fiber : block.fibers) {
    if (!fiber.done) {
      block.current = &fiber;
      simulated_thread.thread = fiber.index;
      fiber.wait = SimulatedWait::none;
      ::swapcontext(&block.scheduler, &fiber.context);
    }
    const Fiber& first = block.fibers[fiber.index.y * threads];
    invariant(fiber.wait == first.wait && fiber.done == first.done,
              "threads of a team wait for different things");
    running = running || !fiber.done;
  }
  return running;
}

}  // namespace

void simulated_wait(SimulatedWait kind) {
  block.current->wait = kind;
  ::swapcontext(&block.current->context, &block.scheduler);
}

std::uint64_t simulated_exchange(std::uint64_t word, unsigned lane) {
  Fiber& own = *block.current;
  const unsigned turn = own.exchanges++ % 2;
  own.words[turn] = word;
  simulated_wait(SimulatedWait::exchange);
  const std::size_t place = static_cast<std::size_t>(&own - block.fibers.data());
  return block.fibers[place / 32 * 32 + lane].words[turn];
}

char* simulated_shared_memory() { return reinterpret_cast<char*>(block.shared.data()); }

void simulate(unsigned blocks, unsigned threads, unsigned teams, std::size_t shared_bytes,
              const std::function<void()>& kernel) {
  block.kernel = &kernel;
  block.fibers.resize(std::size_t{threads} * teams);
  block.shared.assign(shared_bytes / 8 + 1, 0);
  simulated_thread.block_size = {threads, teams, 1};
  simulated_thread.grid_size = {blocks, 1, 1};
  for (unsigned number = 0; number < blocks; ++number) {
    simulated_thread.block = {number, 0, 0};
    for (unsigned i = 0; i < threads * teams; ++i)
      start(block.fibers[i], {i % threads, i / threads, 0});
    while (run_turns(threads)) {
    }
  }
}

}  // namespace sinter::tests
