// Variables: their memory is overwritten below, and no reader of an old value may notice, in the
// first call of a region or in a later one that finds its program again.

#include "runtime/variable.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "tests/each_level.h"

namespace sinter::tests {
namespace {

const float e = std::exp(1.0f);

Tensor ramp(std::int64_t count) { return arange(count, f32).evaluate(); }

}  // namespace

TEST_CASE("a copy taken before a write keeps its value, call after call") {
  at_each_level([] {
    const Variable source(floats({0, 1, 2, 3}), "source", false);
    const Variable copy(zeros({4}), "copy", false);
    const std::uint32_t id = new_region();
    for (int i = 0; i < 20; ++i) {
      {
        const Region region(id);
        copy.set(source.value());
        source.set(source + 1);
      }
      const auto first = static_cast<float>(i);
      CHECK(copy.value().to_host<float>() == Floats{first, first + 1, first + 2, first + 3});
      CHECK(source.value().to_host<float>()[0] == first + 1);
    }
  });
}

TEST_CASE("which operands are one Variable is seen anew in every call") {
  at_each_level([] {
    const std::uint32_t id = new_region();
    const auto f = [&](const Variable& x, const Variable& y, const Variable& z) {
      const Region region(id);
      y.set(exp(y));
      return (y + x) + exp(z);
    };
    const auto cell = [] { return Variable(zeros({}), "cell", false); };
    for (int round = 0; round < 3; ++round) {
      CHECK(f(cell(), cell(), cell()).item<float>() == 2);
      const Variable t = cell(), u = cell(), v = cell(), w = cell();
      CHECK(f(t, t, t).item<float>() == doctest::Approx(2 + e));
      CHECK(f(u, u, cell()).item<float>() == 3);
      CHECK(f(cell(), v, v).item<float>() == doctest::Approx(1 + e));
      CHECK(f(w, cell(), w).item<float>() == 2);
    }
  });
}

TEST_CASE("parts of a Variable that overlap what is written") {
  at_each_level([] {
    const std::uint32_t id = new_region();
    for (int round = 0; round < 3; ++round) {
      const Variable row(zeros({7}), "row", false);
      const auto part = [&](std::int64_t start) { return narrow(row, 0, start, 3); };
      const Tensor before = part(1);
      Tensor result;
      {
        const Region region(id);
        row.set(slice_update(row, exp(part(2)), {2}));
        result = (part(2) + part(0)) + exp(part(4));
      }
      const Floats values = result.to_host<float>();
      CHECK(values[0] == doctest::Approx(1 + e));
      CHECK(values[1] == 2);
      CHECK(values[2] == 3);
      CHECK(before.to_host<float>() == Floats{0, 0, 0});
    }
  });
}

TEST_CASE("views of an old value that somebody keeps show it after the write") {
  using Show = std::function<Tensor(const Tensor&)>;
  const std::vector<Show> shows{[](const Tensor& a) { return slice(a, 0, 1, 3); },
                                [](const Tensor& a) { return flip(a, {0}); },
                                [](const Tensor& a) { return detach(a); },
                                [](const Tensor& a) {
                                  return expand(a, {2, 4});
                                },
                                [](const Tensor& a) {
                                  return reshape(a, {2, 2});
                                },
                                [](const Tensor& a) { return transpose(unsqueeze(a, 0)); }};
  at_each_level([&] {
    for (const Show& show : shows) {
      const Variable cell(ramp(4), "cell", false);
      const Floats before = show(ramp(4)).to_host<float>();
      const Tensor shown = show(cell.value());
      cell.set(exp(cell * 2 + 1));
      CHECK(cell.value().to_host<float>()[0] == doctest::Approx(e));
      CHECK(shown.to_host<float>() == before);
    }
  });
}

TEST_CASE("old values that are read under broadcast are read before the write") {
  at_each_level([] {
    const std::int64_t n = 4'000'000;
    const Tensor a = ramp(n), b = ramp(n);
    const Variable c(ones({}), "c", false);
    const Tensor old = a * c;
    Tensor result;
    {
      const Region region(new_region());
      c.set(c + 1);
      result = a + b * c;
    }
    CHECK(c.value().item<float>() == 2);
    CHECK(sum(old != a).item<int>() == 0);
    CHECK(sum(result != a * 3).item<int>() == 0);

    const Tensor start = reshape(arange(-10, 10, 1, f32), {10, 2}), t1 = full({2, 10, 2}, 100);
    const std::uint32_t id = new_region();
    for (int round = 0; round < 3; ++round) {
      const Variable t0(start, "t0", false);
      Tensor out;
      {
        const Region region(id);
        out = t0 + t1;
        t0.set(relu(t0));
      }
      CHECK(sum(out != start + 100).item<int>() == 0);
      CHECK(sum(t0 != relu(start)).item<int>() == 0);
    }
  });
}

TEST_CASE("a Variable whose first value was expanded is written as if it were whole") {
  at_each_level([] {
    const Variable rows(expand(zeros({1, 8}), {4, 8}), "rows", false);
    const Variable angle(expand(full({}, 0.785398163), {3}), "angle", false);
    const Tensor at = from_host(Integers{0, 1, 0}, {3});
    const std::uint32_t id = new_region();
    double expected = 0.785398163;
    for (int round = 1; round <= 3; ++round) {
      {
        const Region region(id);
        rows.set(index_add(rows, 0, at, ones({3, 8})));
        angle.set(cos(angle) * 2);
      }
      const auto times = static_cast<float>(round);
      for (std::int64_t column = 0; column < 8; ++column)
        CHECK(select(rows, 1, column).to_host<float>() == Floats{2 * times, times, 0, 0});
      expected = 2 * std::cos(expected);
      for (const double value : angle.value().to_host<double>())
        CHECK(value == doctest::Approx(expected));
    }
  });
}

TEST_CASE("a changed copy is no part of what it was copied from") {
  at_each_level([] {
    const Floats host{1, 2, 3};
    const Tensor borrowed = borrow(host.data(), f32, {3}, nullptr), x = floats(host);
    for (const Tensor& source : {x, borrowed, Tensor(Variable(x, "x", false))}) {
      const Variable u(slice_update(source, full({1}, 5), {0}), "u", false);
      const Variable whole(source, "whole", false);
      const std::uint32_t id = new_region();
      for (int i = 0; i < 3; ++i) {
        const Region region(id);
        u.set(u * 0.5);
        whole.set(whole * 0.5);
      }
      CHECK(u.value().to_host<float>() == Floats{0.625f, 0.25f, 0.375f});
      CHECK(whole.value().to_host<float>() == Floats{0.125f, 0.25f, 0.375f});
      CHECK(source.to_host<float>() == host);
    }
    CHECK(host == Floats{1, 2, 3});
  });
}

TEST_CASE("a value read between two writes is that of the first") {
  at_each_level([] {
    const Variable x(zeros({3}), "x", false);
    const std::uint32_t id = new_region();
    for (int i = 0; i < 3; ++i) {
      Tensor s, all;
      {
        const Region region(id);
        x.set(ones({3}));
        s = sum(narrow(x, 0, 0, 2));
        all = x;
        x.set(full({3}, 2));
      }
      CHECK(s.item<float>() == 2);
      CHECK(all.to_host<float>() == Floats{1, 1, 1});
      CHECK(x.value().to_host<float>() == Floats{2, 2, 2});
    }
  });
}

TEST_CASE("a moment is read after it was written and before it is written again") {
  at_each_level([] {
    const Variable m(zeros({3}), "m", false), p(zeros({3}), "p", false);
    const Tensor g = ones({3});
    const std::uint32_t id = new_region();
    float moment = 0, parameter = 0;
    for (int i = 0; i < 5; ++i) {
      {
        const Region region(id);
        m.set(lerp(m, g, 0.05));
        const Tensor noise = exp(g * 2) + sin(g * i);
        p.set(p - m * 0.01 + noise * 0);
      }
      moment += 0.05f * (1 - moment);
      parameter -= moment * 0.01f;
      CHECK(m.value().to_host<float>()[2] == doctest::Approx(moment));
      CHECK(p.value().to_host<float>()[2] == doctest::Approx(parameter));
    }
    CHECK(g.to_host<float>() == Floats{1, 1, 1});
  });
}

TEST_CASE("gradients are those of the values that were read, whatever is written later") {
  const auto columns = [](const Tensor& x) { return reshape(sum(x, {0}), {2, 1}); };
  using Use = std::function<Tensor(const Tensor& x, const Tensor& w)>;
  const std::vector<Use> uses{
      [](const Tensor& x, const Tensor& w) { return matmul(x, w); },
      [](const Tensor& x, const Tensor& w) {
        return matmul(expand(unsqueeze(x, 0), {1, 1, 2}), unsqueeze(w, 0));
      },
      [](const Tensor& x, const Tensor& w) {
        return linear(reshape(x, {1, 1, 2}), transpose(w));
      },
      [](const Tensor& x, const Tensor& w) {
        return narrow(x, 1, 0, 1) * narrow(w, 0, 0, 1) + narrow(x, 1, 1, 1) * narrow(w, 0, 1, 1);
      },
      [](const Tensor& x, const Tensor& w) { return sum(transpose(x) * w); }};
  at_each_level([&] {
    for (std::size_t i = 0; i < uses.size(); ++i)
      for (const bool evaluated : {false, true})
        for (int round = 0; round < 2; ++round) {
          CAPTURE(i);
          CAPTURE(evaluated);
          const Variable x(from_host(Floats{1, 2}, {1, 2}), "x"), w(ones({2, 1}), "w");
          const Tensor old_x = x, old_w = w, y = sum(uses[i](x, w));
          if (evaluated) y.evaluate();
          {
            const Region region(new_region());
            x.set(x * 2);
            w.set(w * 100);
          }
          CHECK(x.value().to_host<float>() == Floats{2, 4});
          const auto gradients = grad(y, std::vector<Tensor>{old_w, old_x});
          CHECK(gradients[0].to_host<float>() == Floats{1, 2});
          CHECK(gradients[1].to_host<float>() == Floats{1, 1});
          CHECK(columns(old_x).to_host<float>() == Floats{1, 2});
        }
  });
}

TEST_CASE("Variables whose values lie in memory in other orders are overwritten rightly") {
  at_each_level([] {
    const Tensor matrix = reshape(ramp(15), {3, 5});
    const Floats host = matrix.to_host<float>();
    const std::vector<std::function<Tensor()>> starts{
        [&] { return Tensor(matrix); },
        [&] { return transpose(matrix); },
        [&] {
          return flip(matrix, {0, 1});
        },
        [&] { return slice(matrix, 1, 0, 5, 2); },
        [&] { return narrow(matrix, 0, 1, 2); },
        [&] {
          return expand(narrow(matrix, 0, 1, 1), {4, 5});
        },
        [&] {
          return borrow_strided(host.data() + 14, f32, {3, 5}, {-5, -1}, nullptr);
        },
        [&] {
          return borrow_strided(host.data(), f32, {5, 3}, {1, 5}, nullptr);
        }};
    const std::uint32_t id = new_region();
    for (const auto& start : starts)
      for (int round = 0; round < 2; ++round) {
        const Tensor value = start().evaluate();
        Floats expected = value.to_host<float>();
        const Variable v(value, "v", false);
        for (int i = 0; i < 3; ++i) {
          const Region region(id);
          v.set(v * 2 + 1);
        }
        for (float& each : expected) each = 8 * each + 7;
        CHECK(v.value().to_host<float>() == expected);
      }
    CHECK(matrix.to_host<float>() == host);
    CHECK(host[14] == 14);
  });
}

}  // namespace sinter::tests
