// foreach_map at the level fused: the bits of the level eager, one launch for all positions, in the
// memory of what ends.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "models/adam.h"
#include "tests/each_level.h"

namespace sinter::tests {
namespace {

using Tensors = std::vector<Tensor>;
using Lists = std::vector<Tensors>;
using Bytes = std::vector<std::vector<std::byte>>;

Tensor made(const Shape& shape, std::uint64_t seed, DType dtype = f32) {
  Generator generator(seed);
  return cast(normal(shape, generator) * 3, dtype).evaluate();
}

Bytes bytes_of(const Lists& lists) {
  Bytes all;
  for (const Tensors& list : lists)
    for (const Tensor& tensor : list) {
      all.emplace_back(static_cast<std::size_t>(tensor.element_count()) *
                       item_size(tensor.dtype()));
      tensor.read_bytes(all.back());
    }
  return all;
}

Bytes bytes_at(Level level, const std::function<Lists()>& record) {
  const AtLevel at(level);
  return bytes_of(record());
}

void check_bits(const std::function<Lists()>& record) {
  CHECK(bytes_at(Level::eager, record) == bytes_at(Level::fused, record));
}

std::uint64_t kernels_of(const std::function<void()>& run) {
  const std::uint64_t before = evaluation_statistics().kernels_run;
  run();
  return evaluation_statistics().kernels_run - before;
}

/// One list of each size: no elements, one, odd ones, more than a unit of work has.
Tensors of_many_sizes(std::uint64_t seed, DType dtype) {
  Tensors list;
  for (const Shape& shape :
       {Shape{0}, Shape{1}, Shape{1, 1}, Shape{7, 3}, Shape{16}, Shape{8193}, Shape{3, 1, 20000}})
    list.push_back(made(shape, seed++, dtype));
  return list;
}

/// Numbers for each position.
Tensors scalars(std::size_t count, std::uint64_t seed, DType dtype) {
  Tensors list;
  for (std::size_t i = 0; i < count; ++i) list.push_back(made({}, seed + i, dtype));
  return list;
}

/// What is the same for all elements beside what is not, in types that differ.
Tensors mixed_body(const Tensors& x, const Tensor& shared) {
  const Tensor rate = sqrt(abs(x[2])) / 3.0 + shared;
  const Tensor y = x[0] * rate + x[1];
  return {y, cast(where(x[0] > x[1], y, rate), x[1].dtype()), cast(x[0] > 0.0, i64), x[2] * 2.0};
}

}  // namespace

TEST_CASE("fused maps: the bits of eager, of any size and dtype") {
  struct Types {
    DType first, second, scalar;
  };
  for (const Types& types : {Types{f32, f32, f32}, Types{bf16, f32, f64}, Types{f64, f16, bf16}}) {
    CAPTURE(to_string(types.first));
    const Tensors a = of_many_sizes(1, types.first), b = of_many_sizes(20, types.second);
    const Tensors s = scalars(a.size(), 40, types.scalar);
    const Tensor shared = made({}, 60);
    check_bits([&] {
      return foreach_map([&](const Tensors& x) { return mixed_body(x, shared); }, {a, b, s});
    });
  }
  const Tensors n = of_many_sizes(1, i32), m = of_many_sizes(9, u8), p = of_many_sizes(3, boolean);
  check_bits([&] {
    return foreach_map(
        [](const Tensors& x) {
          return Tensors{x[0] * 3 + cast(x[1], i32), where(x[2], x[1], x[1] + 1), !x[2], x[0]};
        },
        {n, m, p});
  });
}

TEST_CASE("fused maps: tensors that are views, and several times the same") {
  const Tensor square = made({40, 30}, 1), other = made({30, 40}, 2);
  const Lists lists{
      {square, transpose(other), slice(made({80, 30}, 3), 0, 1, 80, 2), square, square},
      {transpose(other), square, square, expand(made({30}, 4), {40, 30}), square}};
  const auto body = [](const Tensors& x) { return Tensors{x[0] - x[1] * 0.5, x[1] * x[0]}; };
  check_bits([&] { return foreach_map(body, lists); });
  check_bits([&] {  // of values that end here
    Lists pending = lists;
    for (Tensors& list : pending)
      for (Tensor& tensor : list) tensor = tensor * 2;
    pending[0][4] = pending[1][3] = pending[0][3];
    return foreach_map(body, pending);
  });
}

TEST_CASE("fused maps: results that swap, repeat or pass through their operands") {
  const Tensors a = of_many_sizes(1, f32), b = of_many_sizes(20, f32);
  check_bits([&] {
    Lists pending{a, b};
    for (Tensors& list : pending)
      for (Tensor& tensor : list) tensor = tensor + 1;
    return foreach_map(
        [](const Tensors& x) {
          return Tensors{x[1], x[0], x[1] + x[0], x[1]};
        },
        pending);
  });
}

TEST_CASE("fused maps: one kernel for all positions, and no other program for other numbers") {
  const AtLevel fused(Level::fused);
  Tensors list;
  for (std::int64_t i = 0; i < 50; ++i) list.push_back(made({i + 2}, 1));
  const auto run = [&](double factor) {
    Lists scaled = foreach_map(
        [&](const Tensors& x) {
          return Tensors{x[0] * factor, cast(x[0], bf16)};
        },
        {list});
    scaled[0][0].evaluate();
    return scaled;
  };
  run(1);
  const std::uint64_t built = evaluation_statistics().programs_built;
  CHECK(kernels_of([&] { run(2); }) == 1);
  CHECK(run(3)[0][7].to_host<float>()[8] == list[7].to_host<float>()[8] * 3.0f);
  CHECK(evaluation_statistics().programs_built == built);
}

TEST_CASE("fused maps: nothing is overwritten that another operand shows in its own way") {
  const auto record = [] {
    const Tensor made_here = made({6, 6}, 3) + 1;  // ends in the map
    const Tensor other = made({12, 3}, 4) * 2;
    const Tensor turned = permute(made_here, {1, 0}), wide = reshape(made_here, {36});
    auto mapped = foreach_map(
        [](const Tensors& x) {
          return Tensors{x[0] + x[1], x[0] - x[1] * 2};
        },
        {{made_here, reshape(other, {36})}, {turned, wide}});
    return mapped;
  };
  CHECK(bytes_at(Level::fused, record) == bytes_at(Level::eager, record));
}

TEST_CASE("fused maps: an integer division by zero is the fault it is at eager") {
  at_each_level([] {
    const Tensor a = from_host(std::vector<std::int64_t>{4, 5}, {2});
    const Tensor zero = from_host(std::vector<std::int64_t>{1, 0}, {2});
    const auto quotients = foreach_map(
        [](const Tensors& x) { return Tensors{floor_divide(x[0], x[1])}; }, {{a, a}, {a, zero}});
    CHECK(contains(usage_message([&] { quotients[0][1].evaluate(); }), "division by zero"));
  });
}

TEST_CASE("fused maps: Adam has the bits of eager, and a step of it allocates nothing") {
  const auto steps = [](Level level, DType dtype, bool check_memory) {
    const AtLevel at(level);
    std::vector<Variable> parameters;
    Tensors gradients;
    std::uint64_t seed = 1;
    for (const Shape& shape : {Shape{300, 200}, Shape{70}, Shape{}, Shape{9000}}) {
      parameters.emplace_back(made(shape, seed, dtype), "p" + std::to_string(seed));
      gradients.push_back(made(shape, ++seed, dtype));
    }
    models::AdamOptions options{.weight_decay = 0.01, .decoupled = true, .amsgrad = true};
    models::Adam adam(parameters, options);
    for (int step = 0; step < 4; ++step) {
      adam.set_learning_rate(0.1 / (step + 1));
      reset_peak_memory();
      const std::int64_t before = memory_statistics().peak_bytes;
      adam.step(gradients);
      if (!check_memory || step < 2) continue;
      CHECK(memory_statistics().peak_bytes - before < 4096);  // numbers of positions
      CHECK(memory_statistics().bytes_in_use == before);
    }
    Lists all(1);
    for (const Variable& parameter : parameters) all[0].push_back(parameter.value());
    for (const auto& [name, tensor] : adam.state()) all[0].push_back(tensor);
    return bytes_of(all);
  };
  for (const DType dtype : {f32, bf16})
    CHECK(steps(Level::eager, dtype, false) == steps(Level::fused, dtype, true));
}

TEST_CASE("fused maps: what is clipped is clipped where it is read") {
  const auto steps = [](Level level, bool hold, bool halves) {
    const AtLevel at(level);
    std::vector<Variable> parameters;
    for (std::int64_t i = 0; i < 6; ++i)
      parameters.emplace_back(made({20 * i * i + 1, 3}, static_cast<std::uint64_t>(i)));
    const auto middle = parameters.begin() + (halves ? 2 : 0);
    models::Adam adam(
        {{{middle, parameters.end()}, {.weight_decay = 0.1}}, {{parameters.begin(), middle}, {}}});
    Lists all(1);
    for (int step = 0; step < 3; ++step) {
      Tensors gradients, scaled;
      for (const models::ParameterGroup& group : adam.groups())
        for (const Variable& parameter : group.parameters) gradients.push_back(parameter * 3.0);
      for (Tensor& list : gradients) scaled.push_back(list);
      const Tensor norm = models::clip_by_global_norm(scaled, 1 + step);
      gradients.clear();
      Tensors held;
      if (hold) held = {scaled.begin() + 1, scaled.end() - 1};
      adam.step(scaled);
      scaled.clear();
      all[0].push_back(norm);
      all[0].insert(all[0].end(), held.begin(), held.end());
    }
    for (const Variable& parameter : parameters) all[0].push_back(parameter.value());
    return bytes_of(all);
  };
  for (const bool hold : {false, true})
    for (const bool halves : {false, true}) {
      CAPTURE(hold);
      CAPTURE(halves);
      CHECK(steps(Level::eager, hold, halves) == steps(Level::fused, hold, halves));
    }
}

TEST_CASE("fused maps: the norms of a list of tensors, however large, are one kernel") {
  for (const DType dtype : {f32, bf16, f64}) {
    CAPTURE(to_string(dtype));
    Tensors list = of_many_sizes(1, dtype);
    list.erase(list.begin());  // the norm of no elements is another op
    for (const Shape& shape : {Shape{}, Shape{4096}, Shape{3, 4096}, Shape{70, 1000}})
      list.push_back(made(shape, 9, dtype));
    list.push_back(transpose(list.back()));
    const auto norms = [&] {
      Tensors all;
      for (const Tensor& tensor : list) all.push_back(cast(norm(tensor), f32));
      return stack(all);
    };
    check_bits([&] { return Lists{{norms(), sum(norms())}}; });
    const auto sums = [&] {
      Tensors all;
      for (const Tensor& tensor : list) all.push_back(unsqueeze(sum(tensor), 0));
      return Lists{{concatenate(all, 0)}};
    };
    check_bits(sums);
    list.push_back(zeros({0, 5}, dtype));
    check_bits(sums);
    list.pop_back();
    const AtLevel fused(Level::fused);
    const Tensor wanted = norms();
    CHECK(kernels_of([&] { wanted.evaluate(); }) == 1);
  }
  const Tensor a = made({40, 500}, 1), b = made({90}, 2);
  {
    const AtLevel fused(Level::fused);
    const Tensor c = exp(matmul(a, transpose(a))), d = matmul(a, transpose(a));
    const Tensor wanted = stack({norm(c), norm(d)});
    CHECK(kernels_of([&] { wanted.evaluate(); }) == 4);  // two products, exp, the norms
    const auto unheld = [&] { return stack({norm(matmul(a, transpose(a))), norm(b)}); };
    const Tensor other = unheld();
    CHECK(kernels_of([&] { other.evaluate(); }) > 2);  // nothing waits for its sum
  }
  check_bits([&] {  // one of them is held, and another is of something else
    const Tensor first = norm(a), second = norm(b);
    return Lists{{stack({first, second}), stack({norm(a), sum(b)}), second}};
  });
}

TEST_CASE("fused maps: Adam with clipping is four kernels") {
  const AtLevel fused(Level::fused);
  std::vector<Variable> parameters;
  for (const Shape& shape : {Shape{300, 200}, Shape{70}, Shape{}, Shape{9000}})
    parameters.emplace_back(made(shape, 1));
  models::Adam adam(parameters, models::AdamOptions{});
  for (const bool held : {false, true}) {
    Tensors gradients;
    for (const Variable& parameter : parameters) gradients.push_back(made(parameter.shape(), 2));
    const auto step = [&] {
      Tensors clipped = gradients;
      const Tensor norm = models::clip_by_global_norm(clipped, 1);
      if (held) adam.step(clipped);
      else adam.step(std::exchange(clipped, {}));
      CHECK(norm.item<float>() > 1);
    };
    step();
    CHECK(kernels_of(step) == 4);
  }
}

TEST_CASE("fused maps: one map that reads another's list is one kernel with it") {
  const AtLevel fused(Level::fused);
  const Tensors a{made({5}, 1), made({6}, 2)}, b{made({5}, 3), made({6}, 4)};
  const auto twice = [](const Tensors& x) { return Tensors{x[0] * 2, x[0] + 1}; };
  const auto sum = [](const Tensors& x) { return Tensors{x[0] + x[1] * x[2]}; };
  const auto kernels = [&](auto record) {
    std::vector<Tensors> kept;
    Lists last;
    record(kept, last);
    return kernels_of([&] { last[0][0].evaluate(); });
  };
  CHECK(kernels([&](auto&, Lists& last) {
          const Lists first = foreach_map(twice, {a});
          last = foreach_map(sum, {first[1], b, first[0]});
        }) == 1);
  CHECK(kernels([&](auto& kept, Lists& last) {  // what is kept of it is stored beside
          const Lists first = foreach_map(twice, {a});
          kept = {first[1]};
          last = foreach_map(sum, {first[1], b, first[0]});
        }) == 1);
  CHECK(kernels([&](auto&, Lists& last) {  // in another order, but all of it
          const Lists first = foreach_map(twice, {a});
          last = foreach_map(sum, {{first[0][1], first[0][0]}, {b[1], b[0]}, {b[1], b[0]}});
        }) == 1);
  CHECK(kernels([&](auto& kept, Lists& last) {  // something else reads it too
          const Lists first = foreach_map(twice, {a});
          last = foreach_map(sum, {first[1], b, first[0]});
          kept = {{softmax(first[1][1])}};
        }) == 3);
  CHECK(kernels([&](auto&, Lists& last) {  // lists of it and of others
          const Lists first = foreach_map(twice, {a});
          last = foreach_map(sum, {{first[1][0], b[1]}, b, a});
        }) == 2);
}

}  // namespace sinter::tests
