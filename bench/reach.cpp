#include "bench/reach.h"

#include <algorithm>
#include <barrier>
#include <cstring>
#include <functional>
#include <thread>

#include "bench/op_case.h"

namespace sinter {
namespace {

/// Of a thread's second-level cache; most have at least twice as much.
constexpr double cached_bytes = 512 * 1024;

struct MovingCase {
  std::string name;
  double bytes_a_row;
  std::function<OpCase(std::int64_t rows)> of_rows;
};

std::vector<MovingCase> moving_cases(std::int64_t width) {
  const auto of_x = [width](auto apply) {
    return [width, apply](std::int64_t rows) {
      Generator generator(1);
      const Tensor x = normal({rows, width}, generator).evaluate();
      return OpCase{"", apply(x, generator)};
    };
  };
  const double row = 4.0 * static_cast<double>(width);
  return {
      {"softmax", 2 * row,
       of_x([](const Tensor& x, Generator&) { return [=] { return std::vector{softmax(x)}; }; })},
      {"layer_norm", 2 * row, of_x([width](const Tensor& x, Generator& generator) {
         const Tensor gain = normal({width}, generator).evaluate(),
                      bias = normal({width}, generator).evaluate();
         return [=] { return std::vector{layer_norm(x, gain, bias)}; };
       })},
      {"gelu", 2 * row,
       of_x([](const Tensor& x, Generator&) { return [=] { return std::vector{gelu(x)}; }; })},
      {"cross_entropy with gradient", 2 * row + 8,
       of_x([width](const Tensor& x, Generator& generator) {
         const Tensor targets = random_integers({x.size(0)}, 0, width, generator).evaluate();
         return [=] {
           const Tensor loss = cross_entropy(x, targets);
           const Tensor gradient = vjp({loss}, {ones_like(loss)}, {x})[0];
           return std::vector{gradient, loss};
         };
       })},
      {"Adam", 7 * row,
       [width](std::int64_t rows) {
         return adam_case("", 1, {rows, width});
       }},
  };
}

/// The time of one copy of `bytes` / 2, which moves `bytes`, by as many threads as ops use. This
/// thread is one of them: were it to wait for the others only, it might be woken too late to see
/// them begin.
double copy_microseconds(double bytes, int repeats) {
  const auto parts = static_cast<std::size_t>(threads());
  const std::size_t each = static_cast<std::size_t>(bytes) / 2 / parts;
  std::vector<std::vector<char>> from(parts, std::vector<char>(each, 1)), to = from;
  std::barrier step(static_cast<std::ptrdiff_t>(parts));
  const auto copy = [&](std::size_t part) {
    step.arrive_and_wait();
    std::memcpy(to[part].data(), from[part].data(), each);
    step.arrive_and_wait();
  };
  std::vector<std::thread> others;
  for (std::size_t part = 1; part < parts; ++part)
    others.emplace_back([&, part] {
      for (int i = 0; i < repeats; ++i) copy(part);
    });
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const Clock::time_point start = Clock::now();
    copy(0);
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  for (std::thread& thread : others) thread.join();
  return median(times);
}

/// The time that one row more takes while all of them stay in the caches: of many rows less that of
/// few, so that what a call costs is not counted.
double cached_microseconds_a_row(const MovingCase& moving, int repeats) {
  const auto many = std::max<std::int64_t>(
      4, static_cast<std::int64_t>(threads() * cached_bytes / moving.bytes_a_row));
  const std::int64_t few = many / 4;
  const double more = microseconds(moving.of_rows(many), 20 * repeats) -
                      microseconds(moving.of_rows(few), 20 * repeats);
  return more / static_cast<double>(many - few);
}

}  // namespace

std::vector<Reach> measure_reach(std::int64_t rows, std::int64_t width, int repeats) {
  std::vector<Reach> reached;
  for (const MovingCase& moving : moving_cases(width)) {
    const double bytes = moving.bytes_a_row * static_cast<double>(rows);
    const double us = microseconds(moving.of_rows(rows), repeats);
    reached.push_back(
        {.name = moving.name,
         .microseconds = us,
         .rate = bytes / us / 1e3,
         .copy_rate = bytes / copy_microseconds(bytes, repeats) / 1e3,
         .cached_rate = moving.bytes_a_row / cached_microseconds_a_row(moving, repeats) / 1e3});
  }
  return reached;
}

}  // namespace sinter
