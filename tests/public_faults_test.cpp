// What a process, its threads and its graphs can do to a runtime: forks, callbacks, wide graphs.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/each_level.h"
#include "tests/forking.h"

namespace sinter::tests {
namespace {

/// The exit status of a forked child that runs `body`; it is ended after twenty seconds.
template <typename Body>
int in_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("a sum and a concatenation of 1500 operands") {
  at_each_level([] {
    std::vector<Tensor> parts;
    Tensor total = zeros({1});
    for (int i = 0; i < 1500; ++i) {
      parts.push_back(full({1}, i));
      total += parts.back();
    }
    CHECK(total.item<float>() == 1124250);
    CHECK(sum(concatenate(parts)).item<float>() == 1124250);
    CHECK(stack(parts).to_host<float>()[1499] == 1499);
  });
}

TEST_CASE("a child forked while other threads evaluate can evaluate" *
          doctest::skip(child_has_no_allocator)) {
  at_each_level([] {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        while (!stop) sum(arange(20'000, f32) * 2).evaluate();
      });
    for (int i = 0; i < 10; ++i)
      CHECK(in_child([] { return sum(arange(100, f32)).item<float>() == 4950; }) == 0);
    stop = true;
    for (std::thread& thread : threads) thread.join();
  });
}

TEST_CASE("a program may end while its threads evaluate" * doctest::skip(child_has_no_threads)) {
  std::fflush(stdout);
  at_each_level([] {
    for (int round = 0; round < 5; ++round) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);
        std::freopen("/dev/null", "w", stdout);
        std::atomic<int> running{0};
        for (int t = 0; t < 3; ++t)
          std::thread([&running, t] {
            for (int i = 0;; ++i) {
              sum(sin(arange(10'000 + i % 7, f32) * t)).evaluate();
              ++running;
            }
          }).detach();
        while (running < 10) std::this_thread::yield();
        std::exit(0);  // with destructors of statics, as a return from main
      }
      int status = -1;
      waitpid(child, &status, 0);
      CHECK(status == 0);
    }
  });
}

TEST_CASE("threads write one Variable, read and drop values at once") {
  at_each_level([] {
    const Variable cell(zeros({100}), "cell", false);
    std::atomic<int> whole{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 30; ++i) {
          cell.set(full({100}, t));
          const Tensor dropped = cell * 2;
          const Floats seen = cell.value().to_host<float>();
          if (seen == Floats(100, seen[0])) ++whole;
        }
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(whole == 240);
  });
}

TEST_CASE("a Variable written twice in a region holds the last value, after an exception the old") {
  at_each_level([] {
    const Variable a(floats({1, 2}), "a");
    {
      const Region region(new_region());
      a.set(a * 10);
      a.set(a + 1);
    }
    CHECK(a.value().to_host<float>() == Floats{11, 21});
    const auto failing = [&] {
      const Region region(new_region());
      a.set(a * 2);
      a.set(take(a, full_integer({2}, 5), 0));
    };
    CHECK(contains(usage_message(failing), "index 5"));
    CHECK(a.value().to_host<float>() == Floats{11, 21});
  });
}

TEST_CASE("an evaluation inside of an evaluation is refused, not a hang") {
  at_each_level([] {
    reset_programs();
    std::string message;
    set_logs("all");
    const LogSink before = set_log_sink([&](const LogRecord&) {
      const std::string refused = usage_message([] { ones({2}).evaluate(); });
      if (!refused.empty()) message = refused;
    });
    const Tensor kept = cos(floats({1, 2, 3}) + 4);
    kept.evaluate();
    (sin(kept) * 3).evaluate();
    set_log_sink(before);
    set_logs("-all");
    CHECK(contains(message, "inside an evaluation"));
  });
}

}  // namespace sinter::tests
