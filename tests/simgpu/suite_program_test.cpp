// What makes a program: tests/simgpu/kernels/program.cu.
#include <array>

#include "tests/simgpu/captured.h"
#include "tests/simgpu/kernel_suite.h"

namespace simgpu {
namespace {

using S32 = std::int32_t;
using S64 = std::int64_t;
constexpr std::size_t count = 96;

/// What a thread gives by its number.
template <class T, class F>
Expected<T> of_threads(F f, std::size_t threads = count) {
  std::vector<T> made;
  for (std::size_t t = 0; t < threads; ++t) made.push_back(static_cast<T>(f(static_cast<S32>(t))));
  return exactly(made);
}

S32 descended(S32 above, S32 depth, S32 by) {
  std::array<S32, 3> here{depth, by, 0};
  if (depth > 0) {
    S32& below = here[static_cast<std::size_t>(depth % 2)];
    below = descended(below, depth - 1, by + 1);
  }
  return above + here[0] * 10 + here[1] + here[2];
}

struct Node {
  S32 value, left, right;
};
S64 walked(const std::vector<Node>& nodes, S32 at, S32 depth) {
  if (at < 0) return depth;
  const Node& node = nodes[static_cast<std::size_t>(at)];
  return 3 * walked(nodes, node.left, depth + 1) + 5 * walked(nodes, node.right, depth + 1) +
         node.value;
}
S32 moved(S32 discs, S32 from, S32 to) {
  if (discs == 0) return 0;
  const S32 by = 6 - from - to;
  return moved(discs - 1, from, by) + moved(discs - 1, by, to) + from * discs;
}

std::vector<KernelRow> recursion_rows() {
  const S32 fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  std::vector<Node> nodes;
  for (S32 i = 0; i < 96; ++i) {
    const S32 left = 2 * i + 1, right = 2 * i + 2;
    nodes.push_back({i * 7 % 31, left < 96 ? left : -1, right < 96 && i % 5 != 0 ? right : -1});
  }
  std::vector<S32> towers(count), untouched(count, -1);
  for (S32 t = 0; t < 96; ++t)
    towers[static_cast<std::size_t>(t)] = t % 3 == 0 ? -1 : moved(t % 8, 1, 3);
  return {
      row("recursion", threads(count), of_threads<S32>([&](S32 t) { return fibonacci[t % 12]; }),
          12),
      row("mutual_recursion", threads(count),
          of_threads<S32>([](S32 t) { return (t % 13 % 2 == 0 ? 1 : 0) + (t % 7 % 2) * 2; })),
      row("recursion_with_memory", threads(count),
          of_threads<S32>([](S32 t) { return descended(t, t % 6, 3); })),
      row("tree_walk", threads(count), of_threads<S64>([&](S32 t) { return walked(nodes, t, 0); }),
          nodes),
      row("towers", threads(count), exactly(towers, untouched)),
      row("chain", threads(count), of_threads<S32>([](S32 t) {
            S32 made = 0;
            for (S32 n = 1; n <= t; ++n) made = made * 3 ^ n;
            return made;
          }),
          1),
  };
}

S32 operated(S32 which, S32 a, S32 b) { return which == 0 ? a + b : which == 1 ? a - b : a * b; }
S32 folded(S32 which, const S32* values, S32 size) {
  if (size == 1) return values[0];
  const S32 half = size / 2;
  return operated(which, folded(which, values, half), folded(which, values + half, size - half));
}

std::vector<KernelRow> pointer_rows() {
  std::vector<S32> values;
  for (S32 i = 0; i < 16; ++i) values.push_back(i * 5 % 7 - 2);
  return {
      row("function_pointers", threads(count), of_threads<S32>([](S32 t) {
            const S32 a = t % 5;
            return operated(t % 3, t, 3) * 1000 + (t % 2 == 1 ? a * a * a : a + 3);
          }),
          1),
      row("null_pointer", threads(count), of_threads<S32>([](S32 t) { return t + 1; }), 96),
      row("folds", threads(count),
          of_threads<S32>([&](S32 t) { return folded(t % 3, values.data() + t % 4, 11); }), values,
          11),
      row("virtual_functions", threads(count),
          of_threads<S32>([](S32 t) { return t % 3 == 0 ? t * t * 50 + 4 : (t * 7 + 5) * 10; })),
      row("lambdas", threads(count), of_threads<S32>([](S32 t) {
            const auto step = [=](S32 x) { return x * 3 + t; };
            return t % 2 == 0 ? step(step(3)) : step(step(3) - t) - t;
          }),
          3),
      row("templates", threads(count), of_threads<S64>([](S32 t) {
            const S64 x = t - 40, cube = x * x * x;
            return cube - cube * cube * x / (x * x + 1);
          })),
  };
}

S32 run_machine(S32 t, const std::vector<std::uint8_t>& text) {
  S32 state = t % 4, tally = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::uint8_t letter = text[(i + static_cast<std::size_t>(t)) % text.size()];
    if (letter == 0) state = (state + 1) % 4;
    else if (letter == 1) state ^= 3;
    else if (letter == 2) tally += state;
    else if (letter == 3 && state == 2) break;
    else if (letter == 4) tally -= 7, state = 0;
    else if (letter == 5) tally *= 3;
    else if (letter == 6) tally ^= static_cast<S32>(i);
    else if (letter == 7) state = tally & 3;
    else if (letter > 7) ++tally;
  }
  return tally * 4 + state;
}

std::array<S32, 2> first_pair(S32 t, const std::vector<S32>& values, S32 wanted) {
  const auto n = static_cast<S32>(values.size());
  const auto at = [&](S32 i) { return values[static_cast<std::size_t>(i)]; };
  S32 looked = 0;
  for (S32 i = t % n; i < n; ++i) {
    if (at(i) > wanted) continue;
    for (S32 k = i + 1; k < n; ++k) {
      ++looked;
      if (at(i) + at(k) == wanted + t % 3) return {i * n + k, looked};
    }
  }
  return {-1, looked};
}

std::vector<KernelRow> jump_rows() {
  std::vector<std::uint8_t> text = words<std::uint8_t>(60, 1);
  for (std::uint8_t& letter : text) letter %= 10;
  std::vector<S32> values = words<S32>(40, 2);
  for (S32& each : values) each = (each % 50 + 50) % 50;
  std::vector<S32> pairs;
  for (S32 t = 0; t < 96; ++t)
    for (const S32 each : first_pair(t, values, 44)) pairs.push_back(each);
  const auto a = words<std::uint32_t>(count, 3);
  std::vector<S32> left(96 * 5, -1);
  for (S32 b = 0; b <= 2; ++b)
    for (S32 t = 0; t < 80; ++t)
      left[static_cast<std::size_t>(b * 96 + t)] = t < 64 ? (63 - t) * (63 - t) : 8;
  return {
      row("state_machine", threads(count),
          of_threads<S32>([&](S32 t) { return run_machine(t, text); }), text, 60),
      row("first_pair", threads(count), exactly(pairs), values, 40, 44),
      row("scoped_assembly", threads(count),
          exactly(each<std::uint32_t>(
              [](std::uint32_t x) {
                return 100 * std::countr_zero(x | 0x8000'0000u) +
                       std::countr_zero(~x | 0x4000'0000u);
              },
              a)),
          a),
      row("early_exits", grid(5, 96), exactly(left, std::vector<S32>(96 * 5, -1)), 2),
      row("bounded", grid(2, 64), of_threads<S32>([](S32 t) { return t; }, 128)),
  };
}

struct Matrix {
  double cells[3][3];
};

std::vector<KernelRow> other_rows() {
  constexpr Matrix given{{{1, 2, 0.5}, {-3, 0.25, 1}, {2, 0, -1}}};
  const auto cell_of = [&](S32 t) {
    Matrix power = given;
    for (S32 k = 0; k < t % 4; ++k) {
      Matrix made{};
      for (int cell = 0; cell < 27; ++cell)
        made.cells[cell / 9][cell / 3 % 3] +=
            given.cells[cell / 9][cell % 3] * power.cells[cell % 3][cell / 3 % 3];
      power = made;
    }
    return power.cells[t % 3][t / 3 % 3];
  };
  return {
      row("structures", threads(count), of_threads<double>(cell_of), given),
      row("clocks", threads(count), of_threads<S64>([](S32) { return 7; })),
  };
}

/// The kernel prints, and nothing else of it is to be seen.
KernelRow print_row() {
  return {"printed", [](SimulatedDevice& device) {
            const double* values = device.upload(std::vector<double>{1, -2.125, 3});
            const char* name = device.upload(std::vector<char>{'t', 'h', 'r', 'e', 'a', 'd', 0});
            Captured out(stdout);
            check_ran(device.launch("printed", grid(1, 32), values, name));
            CHECK(out.text() == "thread 1: -2.12 1099511627776 x%\n");
          }};
}

/// Deep in frames, and not so deep with the stack that a context has without more.
std::vector<KernelRow> stack_rows() {
  LaunchConfiguration small = threads(count);
  small.stack_bytes = 1024;
  return {row("large_frames", threads(count), exactly(std::vector<S32>(count, 500 * 501 / 2)), 500),
          row("large_frames", small, exactly(std::vector<S32>(count, 30 * 31 / 2)), 30)};
}

/// A launch that ends with a fault of this kind, whose report has these words.
template <class... Arguments>
KernelRow fault_row(const char* name, FaultKind kind, const std::vector<std::string>& words,
                    Arguments... arguments) {
  return {name, [=](SimulatedDevice& device) {
            Checks checks;
            Captured err(stderr);
            const auto fault =
                device.launch(name, threads(count), place(device, checks, arguments)...);
            REQUIRE(fault);
            CHECK(fault->kind == kind);
            for (const std::string& each : words) {
              CAPTURE(fault->text);
              CHECK(fault->text.find(each) != std::string::npos);
            }
          }};
}

std::vector<KernelRow> fault_rows() {
  std::vector<S32> values(count, 3);
  values[41] = 5;
  const auto unwritten = exactly(std::vector<S32>(count));
  return {
      print_row(),
      fault_row("asserted", FaultKind::asserted,
                {"`values[place()] < most && \"too great\"`", "kernels.cu:", "thread (41, 0, 0)"},
                values, 5),
      row("asserted", threads(count), values, 6),
      fault_row("trapped", FaultKind::trapped, {"thread (41, 0, 0)"}, values),
      fault_row("null_pointer", FaultKind::illegal_instruction,
                {"a call through a pointer to nothing", "thread (50, 0, 0)", "kernels.cu:"},
                unwritten, 50),
      // Functions that never come back.
      fault_row("chain", FaultKind::out_of_bounds, {"stack was full: 65536 bytes", "kernels.cu:"},
                unwritten, 0),
      fault_row("large_frames", FaultKind::out_of_bounds,
                {"stack was full: 65536 bytes", "kernels.cu:"}, unwritten, 1500),
  };
}

}  // namespace

TEST_CASE("simgpu suite: what makes a program" * doctest::skip(!has_nvrtc())) {
  std::vector<KernelRow> rows;
  for (auto make : {recursion_rows, pointer_rows, jump_rows, other_rows, stack_rows, fault_rows})
    for (KernelRow& each : make()) rows.push_back(std::move(each));
  check_kernels("program.cu", rows, {}, {"sm_80"});
  const auto a = numbers<float>(count, 4, -1, 1);
  rows.push_back(
      row("dependent", threads(count), exactly(each<float>([](float x) { return x + 1; }, a)), a));
  check_kernels("program.cu", rows, {}, {"sm_90", "sm_100"});
}

}  // namespace simgpu
