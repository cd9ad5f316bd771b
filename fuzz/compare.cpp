#include "fuzz/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fuzz/vary.h"
#include "jit/statistics.h"
#include "runtime/element.h"

namespace sinter::fuzz {
namespace {

struct Name {
  Check check;
  std::string_view text;
};
constexpr Name names[] = {{Check::meaning, "meaning"}, {Check::eager_threads, "eager-threads"},
                          {Check::first, "first"},     {Check::later, "later"},
                          {Check::sizes, "sizes"},     {Check::rounds, "rounds"},
                          {Check::threads, "threads"}};

template <typename T>
T item_of(const Reading& reading, std::size_t i) {
  T item;
  std::memcpy(&item, reading.bytes.data() + i * sizeof(T), sizeof(T));
  return item;
}

bool same_item(double a, double b, bool bits) { return bits || (std::isnan(a) && std::isnan(b)); }

/// The first element that has other bits; NaNs are alike.
std::optional<std::string> find_other_bits(const Reading& left, const Reading& right) {
  if (left.bytes == right.bytes) return std::nullopt;
  return with_storage_type(left.dtype, [&]<typename T>(T) -> std::optional<std::string> {
    const std::size_t count = left.bytes.size() / sizeof(T);
    std::size_t differing = 0, first = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const T a = item_of<T>(left, i), b = item_of<T>(right, i);
      const std::size_t at = i * sizeof(T);
      const bool bits = std::memcmp(&left.bytes[at], &right.bytes[at], sizeof(T)) == 0;
      if (same_item(converted<double>(a), converted<double>(b), bits)) continue;
      if (differing++ == 0) first = i;
    }
    if (differing == 0) return std::nullopt;
    return fmt::format("{} of {} elements, first element {}: {:.17g} and {:.17g}", differing, count,
                       first, converted<double>(item_of<T>(left, first)),
                       converted<double>(item_of<T>(right, first)));
  });
}

/// A rough bound on what matrix products and attention may differ by: it finds a wrong kernel, not
/// a rounding; the ops' own tests have the exact ones.
std::optional<std::string> find_far_element(const Reading& left, const Reading& right) {
  if (!is_floating(left.dtype)) return find_other_bits(left, right);
  return with_storage_type(left.dtype, [&]<typename T>(T) -> std::optional<std::string> {
    const std::size_t count = left.bytes.size() / sizeof(T);
    double largest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double a = std::abs(converted<double>(item_of<T>(left, i)));
      // Near an overflow the order of additions decides; so it does where infinities meet.
      if (!(a < 1e30) || (left.dtype == f16 && a > 1e4)) return std::nullopt;
      largest = std::max(largest, a);
    }
    const double allowed = 0.05 * largest + 1e-3;
    for (std::size_t i = 0; i < count; ++i) {
      const double a = converted<double>(item_of<T>(left, i));
      const double b = converted<double>(item_of<T>(right, i));
      if (!(std::abs(a - b) <= allowed))
        return fmt::format("element {}: {:.17g} and {:.17g} (largest {:.3g})", i, a, b, largest);
    }
    return std::nullopt;
  });
}

/// Which steps a matrix product or an attention is part of.
std::vector<bool> library_steps(const Script& script) {
  std::vector<bool> library;
  for (const Step& step : script.steps) {
    bool is = step.kind == StepKind::op && info(step.op).kind == OpKind::library;
    for (const std::size_t operand : step.operands) is = is || library[operand];
    library.push_back(is);
  }
  return library;
}

enum class Rule { bits, close, nothing };

/// What is asked of each reading where the library class may differ.
std::vector<Rule> loose_rules(const Script& script) {
  const std::vector<bool> library = library_steps(script);
  const auto rule = [&](std::size_t i) {
    if (!library[i]) return Rule::bits;
    const Step& step = script.steps[i];
    if (step.kind != StepKind::op || info(step.op).kind != OpKind::library) return Rule::nothing;
    for (const std::size_t operand : step.operands)
      if (library[operand]) return Rule::nothing;
    return Rule::close;
  };
  std::vector<Rule> rules;
  for (const std::size_t output : script.outputs) rules.push_back(rule(output));
  // A failed write takes all others back, so Variables say no more than all steps together.
  const bool any = std::find(library.begin(), library.end(), true) != library.end();
  rules.resize(script.outputs.size() + written_leaves(script).size(),
               any ? Rule::nothing : Rule::bits);
  return rules;
}

std::optional<std::string> compare(const Reading& left, const Reading& right, Rule rule) {
  if (rule == Rule::nothing) return std::nullopt;
  if (left.error != right.error)
    return fmt::format("errors '{}' and '{}'", left.error, right.error);
  if (left.dtype != right.dtype || left.shape != right.shape)
    return fmt::format("{} {} and {} {}", to_string(left.dtype), to_string(left.shape),
                       to_string(right.dtype), to_string(right.shape));
  return rule == Rule::bits ? find_other_bits(left, right) : find_far_element(left, right);
}

std::optional<std::string> compare_runs(const Script& script, const RunOptions& left,
                                        const RunOptions& right) {
  const bool library_exact = left.level != Level::interpret && right.level != Level::interpret;
  const std::vector<Reading> one = run(script, left), other = run(script, right);
  return find_difference(script, one, other, library_exact);
}

}  // namespace

std::string_view to_string(Check check) { return names[static_cast<std::size_t>(check)].text; }

std::optional<Check> parse_check(std::string_view text) {
  for (const Name& name : names)
    if (name.text == text) return name.check;
  return std::nullopt;
}

std::optional<std::string> find_difference(const Script& script, const std::vector<Reading>& left,
                                           const std::vector<Reading>& right, bool library_exact) {
  const std::vector<Rule> loose = loose_rules(script);
  const std::vector<std::size_t> leaves = written_leaves(script);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const std::size_t place = i % loose.size(), outputs = script.outputs.size();
    const auto problem = compare(left[i], right[i], library_exact ? Rule::bits : loose[place]);
    if (!problem) continue;
    const std::string what = place < outputs
                                 ? fmt::format("step {}", script.outputs[place])
                                 : fmt::format("Variable of step {}", leaves[place - outputs]);
    const std::size_t round = i / loose.size();
    return fmt::format("{}{}: {}", what, round > 0 ? fmt::format(", round {}", round) : "",
                       *problem);
  }
  return std::nullopt;
}

std::optional<Script> second_call(const Script& script, Check check) {
  if (check == Check::later) return with_other_numbers(script);
  if (check == Check::sizes) return with_other_sizes(script);
  return std::nullopt;
}

std::optional<std::string> find_difference(const Script& script, Check check) {
  const RunOptions eager{Level::eager, 1, 0}, fused{Level::fused, 2, 0};
  if (check == Check::meaning) return compare_runs(script, {Level::interpret, 1, 0}, eager);
  if (check == Check::eager_threads) return compare_runs(script, eager, {Level::eager, 2, 0});
  reset_programs();
  if (check == Check::first) return compare_runs(script, eager, fused);
  if (check == Check::rounds && written_leaves(script).empty()) return std::nullopt;
  if (check == Check::rounds)
    return compare_runs(script, {Level::eager, 1, 0, rounds}, {Level::fused, 2, 0, rounds});
  if (check == Check::threads) return compare_runs(script, {Level::fused, 1, 0}, fused);
  const std::optional<Script> other = second_call(script, check);
  if (!other) return std::nullopt;
  run(script, fused);
  const std::uint64_t turn = check == Check::later ? 1 : 0;
  return compare_runs(*other, {Level::eager, 1, turn}, {Level::fused, 2, turn});
}

}  // namespace sinter::fuzz
