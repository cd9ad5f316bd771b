// The level fused: how many kernels, and the same bits as without fusion.
#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include <sinter/sinter.h>

#include "tests/each_level.h"

namespace sinter::tests {
namespace {

using Recorded = std::function<std::vector<Tensor>()>;

/// The elements of all that `record` records, as bytes.
std::vector<std::vector<std::byte>> bytes_at(Level level, const Recorded& record) {
  const AtLevel at(level);
  std::vector<std::vector<std::byte>> all;
  for (const Tensor& tensor : record()) {
    all.emplace_back(static_cast<std::size_t>(tensor.element_count()) * item_size(tensor.dtype()));
    tensor.read_bytes(all.back());
  }
  return all;
}

/// The kernels that run for what `record` records.
std::uint64_t kernels_at(Level level, const Recorded& record) {
  const AtLevel at(level);
  const std::vector<Tensor> results = record();
  const std::uint64_t before = evaluation_statistics().kernels_run;
  results[0].evaluate();
  return evaluation_statistics().kernels_run - before;
}

/// The same bits as at eager, in so many kernels.
void check_fused(std::uint64_t kernels, const Recorded& record) {
  CHECK(bytes_at(Level::eager, record) == bytes_at(Level::fused, record));
  CHECK(kernels_at(Level::fused, record) == kernels);
}

Tensor made(const Shape& shape, std::uint64_t seed, DType dtype = f32) {
  Generator generator(seed);
  return cast(normal(shape, generator), dtype).evaluate();
}

constexpr DType tested[] = {f32, bf16, f64};

}  // namespace

TEST_CASE("fused: a chain of elementwise ops is one kernel") {
  for (const DType dtype : tested) {
    CAPTURE(to_string(dtype));
    const Tensor x = made({33, 70}, 1, dtype), w = made({70}, 2, dtype), b = made({70}, 3, dtype);
    check_fused(1, [&] { return std::vector{gelu_tanh(x * w + b) + x}; });
    check_fused(1, [&] {
      const Tensor e = exp(x);
      return std::vector{where(x > 0.5, e, -x) * x, e};
    });
    check_fused(1, [&] { return std::vector{transpose(x) * 2 + 1}; });
    check_fused(1,
                [&] { return std::vector{slice(x, 1, 3, 60, 2) * 2 + unsqueeze(b, 0).size(1)}; });
  }
}

TEST_CASE("fused: softmax, norms and losses are one kernel each way") {
  for (const DType dtype : tested) {
    CAPTURE(to_string(dtype));
    const Tensor x = made({37, 100}, 1, dtype), g = made({37, 100}, 2, dtype);
    const Tensor w = made({100}, 3, dtype), b = made({100}, 4, dtype);
    const Tensor y = softmax(x).evaluate();
    check_fused(1, [&] { return std::vector{softmax(x)}; });
    check_fused(1, [&] { return std::vector{log_softmax(x * 2)}; });
    check_fused(1, [&] { return std::vector{layer_norm(x + g, w, b)}; });
    check_fused(1, [&] { return std::vector{rms_norm(x, w) * g}; });
    const Tensor targets = from_host(std::vector<std::int64_t>(37, 99), {37});
    check_fused(
        1, [&] { return std::vector{cross_entropy(x, targets, {.reduction = Reduction::none})}; });
    check_fused(1, [&] { return std::vector{vjp({softmax(x)}, {g}, {x})[0]}; });
    check_fused(1, [&] { return std::vector{vjp({layer_norm(x, {}, {})}, {g}, {x})[0]}; });
  }
}

TEST_CASE("fused: the gradient of layer_norm, with its sums over rows, is one kernel") {
  const Tensor x = made({5, 26, 48}, 1), g = made({5, 26, 48}, 2), w = made({48}, 3),
               b = made({48}, 4);
  check_fused(1, [&] {
    const auto gradients = vjp({layer_norm(x, w, b)}, {g}, {x, w, b});
    return std::vector<Tensor>(gradients.begin(), gradients.end());
  });
}

TEST_CASE("fused: dropout, the residual and layer_norm after it are one kernel") {
  const Tensor x = made({64, 48}, 1), r = made({64, 48}, 2), w = made({48}, 3), b = made({48}, 4);
  check_fused(1, [&] {
    Generator generator(5);
    return std::vector{layer_norm(dropout(x, 0.25, generator) + r, w, b)};
  });
}

TEST_CASE("fused: an embedding, what is added to it and the norm after it are one kernel") {
  for (const DType dtype : tested) {
    CAPTURE(to_string(dtype));
    const Tensor table = made({50, 24}, 1, dtype), places = made({7, 24}, 2, dtype);
    const Tensor tokens =
        from_host(Integers{3, 49, 0, 7, 7, 1, 12, 48, 2, 5, 5, 9, 30, 31}, {2, 7});
    check_fused(1, [&] { return std::vector{embedding(table, tokens) + places}; });
    check_fused(1, [&] {
      const Tensor x = embedding(table, tokens) + places;
      return std::vector{layer_norm(x, made({24}, 3, dtype), made({24}, 4, dtype)), x};
    });
    // What is computed of a row says where the row is.
    check_fused(1, [&] { return std::vector{exp(take(table, minimum(tokens + 1, 40), 0)) * 2}; });
  }
}

TEST_CASE("fused: what is taken lies as it lies, and may be taken from a value") {
  const Tensor table = made({6, 9, 10}, 1), flat = made({30, 20}, 2);
  const Tensor tokens = from_host(Integers{3, 0, 5, 5}, {4}), one = from_host(Integers{2}, {1});
  int number = 0;
  const auto check_same = [&](const Recorded& record) {
    ++number;
    CAPTURE(number);
    CHECK(bytes_at(Level::eager, record) == bytes_at(Level::fused, record));
  };
  check_same([&] { return std::vector{take(table, tokens, 0) * 2 + 1}; });
  check_same([&] { return std::vector{sum(take(table, tokens, 0) * 2, {1, 2}) + 1}; });
  check_same([&] { return std::vector{sum(take(table, tokens, 0) * 2, {0}) + 1}; });
  check_same([&] { return std::vector{take(permute(table, {0, 2, 1}), tokens, 0) * 2 + 1}; });
  check_same([&] { return std::vector{take(transpose(flat), tokens, 0) * 2 + 1}; });
  check_same([&] { return std::vector{take(table, tokens, 1) * 2 + 1}; });
  check_same([&] { return std::vector{take(table, one, 0) * 2 + 1}; });
  check_same([&] { return std::vector{take(exp(flat), tokens, 0) * sum(exp(flat)) + 1}; });
  check_same([&] { return std::vector{take(flat * 2, tokens, 0) + slice(flat * 2, 0, 0, 1)}; });
  check_same([&] {
    const Tensor x = softmax(take(flat, tokens, 0) * 2, 1);
    return std::vector{gather(x, 1, from_host(Integers{1, 2, 19, 0}, {4, 1})) + 1, x};
  });
}

TEST_CASE("fused: an index of an embedding that is out of range is the fault it is at eager") {
  const Tensor table = made({5, 16}, 1), tokens = from_host(Integers{0, 4, 5, 1}, {4});
  std::vector<std::string> messages;
  for (const Level level : {Level::eager, Level::fused}) {
    const AtLevel at(level);
    messages.push_back(usage_message([&] { (embedding(table, tokens) * 2 + 1).evaluate(); }));
  }
  CHECK(contains(messages[0], "index 5 is out of range for 5"));
  CHECK(messages[0] == messages[1]);
}

TEST_CASE("fused: one program serves other sizes, other numbers and other draws") {
  struct Sizes {
    std::int64_t rows, columns;
    double scale;
  };
  constexpr Sizes first{10, 20, 1.5};
  const auto run = [](const Sizes& sizes, Level level) {
    const AtLevel here(level);
    const Tensor x = made({sizes.rows, sizes.columns}, 7);
    Generator generator(static_cast<std::uint64_t>(sizes.rows));
    const Tensor y = layer_norm(dropout(x * sizes.scale, 0.5, generator)) + sizes.scale;
    return y.to_host<float>();
  };
  for (const Sizes& other : {Sizes{10, 20, 2.5}, Sizes{3, 1000, 1.5}, Sizes{200, 7, -1.0}}) {
    reset_programs();
    run(first, Level::fused);
    const std::uint64_t before = evaluation_statistics().programs_built;
    const std::vector<float> fused = run(other, Level::fused);
    CHECK(evaluation_statistics().programs_built == before);
    CHECK(fused == run(other, Level::eager));
  }
}

TEST_CASE("fused: numbers that composites carry may change, and what they are made of too") {
  const Tensor x = made({6, 9}, 1);
  const Tensor targets = from_host(std::vector<std::int64_t>{0, 1, 8, 3, -100, 5}, {6});
  for (const double smoothing : {0.0, 0.1, 0.0, 0.25}) {
    CAPTURE(smoothing);
    const auto record = [&] {
      const Tensor loss = cross_entropy(x, targets, {.label_smoothing = smoothing});
      return std::vector{loss, layer_norm(x, {}, {}, 1e-5 + smoothing)};
    };
    CHECK(bytes_at(Level::eager, record) == bytes_at(Level::fused, record));
  }
}

TEST_CASE("fused: what a cast reads is broadcast along some of several columns") {
  for (const DType dtype : tested) {
    CAPTURE(to_string(dtype));
    const Tensor row = made({5}, 1, dtype), column = made({3, 1}, 2, dtype);
    for (const Tensor& x : {row, column}) {
      const auto record = [&] { return std::vector{mean(expand(x, {3, 5}), {0, 1}, true)}; };
      CHECK(bytes_at(Level::eager, record) == bytes_at(Level::fused, record));
    }
  }
}

TEST_CASE("fused: what is no neighbour in memory is read right") {
  const Tensor x = made({4, 6, 8}, 1);
  for (const auto& view : std::vector<std::function<Tensor()>>{
           [&] {
             return permute(x, {2, 0, 1});
           },
           [&] { return flip(x, {2}); }, [&] { return slice(x, 2, 1, 8, 3); },
           [&] { return transpose(x, 0, 2); },
           [&] {
             return expand(slice(x, 1, 2, 3), {4, 5, 8});
           },
           [&] {
             return reshape(transpose(x, 1, 2), {4, 48});
           }}) {
    const auto record = [&] {
      const Tensor seen = view();
      return std::vector{softmax(seen * 2) + seen, sum(exp(seen), {-1}), sum(seen * seen, {0})};
    };
    CHECK(bytes_at(Level::eager, record) == bytes_at(Level::fused, record));
    const auto evaluated_before = [&] {
      const Tensor seen = view().evaluate();
      return std::vector{softmax(seen * 2) + seen, tanh(seen) * seen};
    };
    CHECK(bytes_at(Level::eager, evaluated_before) == bytes_at(Level::fused, evaluated_before));
  }
}

TEST_CASE("fused: what is as long as another value today may be longer tomorrow") {
  const auto check = [](const Recorded& record) {
    CHECK(bytes_at(Level::eager, record) == bytes_at(Level::fused, record));
  };
  for (const std::int64_t other : {4, 70, 3}) {
    CAPTURE(other);
    const Tensor x = made({8, 4}, 1), y = made({8, other}, 2), z = made({other, 9}, 3);
    // A value of the rows, read by columns that belong to somebody else.
    check([&] { return std::vector{exp(y) * sum(x * 2, {1}, true)}; });
    check([&] { return std::vector{x * sum(x), exp(z) * sum(x)}; });
    check([&] { return std::vector{sqrt(reshape(logsumexp(x), {})) + z}; });
    // Two groups that meet in a value of their rows.
    check([&] { return std::vector{tanh(sum(exp(x), {1}) + sum(exp(y), {1}))}; });
    check([&] { return std::vector{sum(x * 2) * sum(z * 2)}; });
  }
}

TEST_CASE("fused: groups that meet do not join what one of them was refused") {
  const auto check = [](const Recorded& record) {
    CHECK(bytes_at(Level::eager, record) == bytes_at(Level::fused, record));
  };
  const Tensor x = made({6, 9}, 1), y = made({9}, 2);
  // The product reads a sum over the rows, and meets what was summed.
  check([&] {
    const Tensor e = exp(x);
    return std::vector{where(y > 0, e * sum(e, {0}), e)};
  });
  check([&] {
    const Tensor e = exp(x), scaled = tanh(sum(e, {0})) * 2;
    return std::vector{(e - scaled) * e, sum(e - scaled, {1})};
  });
  // The other reads values of rows along the columns.
  check([&] {
    const Tensor z = reshape(slice(x, 1, 0, 6), {6, 6}), e = exp(z), m = sum(e, {1}, true);
    return std::vector{(transpose(m, 0, 1) * e + e) * m};
  });
}

TEST_CASE("fused: a target's logit is dropped as it is in its row") {
  const Tensor logits = made({40, 9}, 1);
  std::vector<std::int64_t> classes;
  for (std::int64_t row = 0; row < 40; ++row) classes.push_back(row % 9);
  const Tensor targets = from_host(classes, {40});
  const auto record = [&] {
    Generator generator(5);
    return std::vector{cross_entropy(dropout(logits, 0.5, generator), targets)};
  };
  CHECK(bytes_at(Level::eager, record) == bytes_at(Level::fused, record));
}

TEST_CASE("fused: a sum over rows is rounded before it is cast to a wider type") {
  const Tensor x = cast(made({7, 5}, 1), bf16).evaluate();
  const auto record = [&] {
    const Tensor total = sum(tanh(x), {0});
    return std::vector{total, cast(total, f32), cast(total, f64), cast(cast(total, f32), bf16)};
  };
  CHECK(bytes_at(Level::eager, record) == bytes_at(Level::fused, record));
}

TEST_CASE("fused: one thread and two give the same bits") {
  const Tensor x = made({700, 90}, 1), g = made({700, 90}, 2);
  const auto record = [&] {
    const auto gradients = vjp({layer_norm(x * 2)}, {g}, {x});
    return std::vector{gradients[0], sum(x * g, {0}), sum(x * g)};
  };
  const int before = threads();
  set_threads(1);
  const auto one = bytes_at(Level::fused, record);
  set_threads(2);
  CHECK(one == bytes_at(Level::fused, record));
  set_threads(before);
}

TEST_CASE("fused: nothing is overwritten that another operand shows in its own way") {
  const auto at = [](Level level) {
    const AtLevel here(level);
    Generator generator(7);
    const Tensor x = normal({8, 8}, generator).evaluate();
    const Tensor ends = matmul(x, x);
    // An op of its own, a group, a part that is read beside the whole, and a view that is kept.
    const Tensor alone = matmul(ends, x) + permute(matmul(ends, x), {1, 0});
    const Tensor twice = matmul(x, ends);
    const Tensor chained = tanh(twice + permute(twice, {1, 0})) * narrow(twice, 0, 3, 1);
    const Tensor parts = matmul(ends, ends);
    const Tensor halves = concatenate({narrow(parts, 1, 4, 4), narrow(parts, 1, 0, 4)}, 1) + parts;
    const Tensor kept = reshape(permute(parts, {1, 0}), {4, 16});
    std::vector<std::vector<float>> all;
    for (const Tensor& tensor : {alone, chained, halves, kept})
      all.push_back(tensor.to_host<float>());
    return all;
  };
  CHECK(at(Level::fused) == at(Level::eager));
}

}  // namespace sinter::tests
