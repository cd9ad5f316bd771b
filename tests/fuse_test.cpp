// How groups grow: what stands between units, and what is told about merges that are refused.

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <sinter/sinter.h>

#include "jit/fuse.h"
#include "jit/fuse_order.h"
#include "jit/layout.h"
#include "jit/plan.h"
#include "runtime/evaluate.h"
#include "tests/each_level.h"
#include "tests/log_recorder.h"

namespace sinter::tests {
namespace {

Tensor given(const Shape& shape) { return ones(shape).evaluate(); }

/// body(trace, primitives) of what is pending below the tensors.
template <typename Body>
void with_primitives(const std::vector<Tensor>& tensors, Body&& body) {
  std::vector<NodeRef> roots;
  for (const Tensor& tensor : tensors) roots.push_back(tensor.ref());
  const LaunchLock lock;
  const jit::Trace trace = jit::linearise(roots, Level::fused);
  body(trace, jit::make_layout(trace).primitives);
}

/// What is written to the channel while the tensors are fused and planned.
std::string fusion_log(const std::vector<Tensor>& tensors) {
  const LogRecorder log;
  set_logs("fusion");
  with_primitives(tensors, [&](const auto& trace, const auto& primitives) {
    jit::Fusion fusion = jit::fuse(trace, primitives);
    CHECK(std::count_if(log.records.begin(), log.records.end(), [](const LogRecord& record) {
            return contains(record.message, "does not join");
          }) == static_cast<std::ptrdiff_t>(fusion.refused.size()));
    jit::plan(trace, primitives, std::move(fusion));
  });
  std::string text;
  for (const std::string& line : log.texts(LogChannel::fusion)) text += line + "\n";
  return text;
}

/// Numbers that come out the same on every machine.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t count) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state_ >> 33) % count;
  }

 private:
  std::uint64_t state_;
};

/// Units as sets of primitives: the meaning of jit::FuseOrder.
class PlainOrder {
 public:
  explicit PlainOrder(const jit::Primitives& primitives) : primitives_(primitives) {}

  void append(jit::PrimitiveId i) {
    unit_of_.push_back(i);
    units_.push_back({i});
  }
  bool contract(jit::PrimitiveId a, jit::PrimitiveId b) {
    const std::size_t home = unit_of_[a], from = unit_of_[b];
    if (leads_back(home, from) || leads_back(from, home)) return false;
    for (const jit::PrimitiveId i : units_[from]) unit_of_[i] = home;
    units_[home].insert(units_[from].begin(), units_[from].end());
    units_[from].clear();
    return true;
  }
  std::size_t unit_of(jit::PrimitiveId i) const { return unit_of_[i]; }

 private:
  /// Whether unit `from` needs a third one that needs unit `to`.
  bool leads_back(std::size_t from, std::size_t to) const {
    std::set<std::size_t> seen{from};
    std::vector<std::size_t> open{from};
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      for (const jit::PrimitiveId i : units_[at])
        for (const jit::Operand o : primitives_.operands_of(i)) {
          if (o.leaf) continue;
          const std::size_t unit = unit_of_[o.index];
          if (unit == to && at != from) return true;
          if (unit != to && seen.insert(unit).second) open.push_back(unit);
        }
    }
    return false;
  }

  const jit::Primitives& primitives_;
  std::vector<std::size_t> unit_of_;
  std::vector<std::set<jit::PrimitiveId>> units_;
};

}  // namespace

TEST_CASE("fuse: units become one exactly where nothing has to run between") {
  int made = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    Draws draws(seed);
    std::vector<Tensor> known{given({4})};
    const std::size_t count = 10 + draws.below(150), reach = 1 + draws.below(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto any = [&] {
        return known[known.size() - 1 - draws.below(std::min(reach, known.size()))];
      };
      known.push_back(any() + any());
    }
    with_primitives(known, [&](const auto& trace, const auto& primitives) {
      jit::FuseOrder order(trace, primitives);
      PlainOrder plain(primitives);
      for (jit::PrimitiveId i = 0; i < primitives.steps.size(); ++i) {
        order.append(i);
        plain.append(i);
        for (int attempt = 0; attempt < 3; ++attempt) {
          const auto a = static_cast<jit::PrimitiveId>(draws.below(i + 1));
          const auto b = static_cast<jit::PrimitiveId>(draws.below(i + 1));
          if (plain.unit_of(a) == plain.unit_of(b)) continue;
          const bool expected = plain.contract(a, b);
          REQUIRE((order.contract(a, b) == jit::Between::nothing) == expected);
          (expected ? made : refused)++;
        }
      }
    });
  }
  CHECK(made > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("fuse: a search that gets too long ends") {
  // Two far ends of a trace, and what the later one reads beside is long and needs nothing.
  const Tensor a = given({4, 4}), w = given({4, 4});
  std::vector<Tensor> known{exp(a)};
  Tensor x = a;
  for (int i = 0; i < 5000; ++i) x = matmul(x, w);
  known.push_back(x + known[0]);
  with_primitives(known, [&](const auto& trace, const auto& primitives) {
    const jit::Fusion fusion = jit::fuse(trace, primitives);
    REQUIRE(fusion.refused.size() == 1);
    CHECK(fusion.refused[0].reason == "too much stands between them");
  });
}

TEST_CASE("fuse: refused merges are told with reason, op and line") {
  const Tensor a = given({8, 16}), b = given({16}), w = given({16, 16});
  const std::string between = fusion_log({[&] {
    const Tensor x = exp(a);
    return x * tanh(matmul(x, w));
  }()});
  CHECK(contains(between, "mul does not join the group of exp"));
  CHECK(contains(between, "reason=what it reads beside needs the group's results"));
  CHECK(contains(between, "fuse_test.cpp:"));
  const std::string rows = fusion_log({sum(layer_norm(a, b, b) * softmax(a), {0}) / exp(b)});
  CHECK(contains(rows, "does not join the group of"));
  CHECK(contains(rows, "reason=it reads a sum over the rows"));
}

TEST_CASE("fuse: a group that is too much for a kernel is dissolved, and told") {
  std::vector<Tensor> values;
  const Tensor x = exp(given({8, 16}));
  Tensor y = x;
  for (int i = 0; i < 40; ++i) values.push_back(y = tanh(y));
  const std::string text = fusion_log(values);
  CHECK(contains(text, "the group of exp is dissolved"));
  CHECK(contains(text, "reason=it reads and writes more than a kernel can"));
}

TEST_CASE("fuse: nothing is written where nobody listens") {
  const Tensor a = given({8, 16}), w = given({16, 16}), x = exp(a);
  const LogRecorder log;
  with_primitives({x * tanh(matmul(x, w))}, [&](const auto& trace, const auto& primitives) {
    CHECK(!jit::fuse(trace, primitives).refused.empty());
  });
  CHECK(log.records.empty());
}

}  // namespace sinter::tests
