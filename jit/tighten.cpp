#include "jit/tighten.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace sinter::jit {
namespace {

class Tightening {
 public:
  explicit Tightening(const Loop& loop) : loop_(loop) {}

  Loop run() {
    for (const Section& section : loop_.sections) {
      place_ = 2 * sections_++ + 1;
      in_columns_ = section.kind == SectionKind::columns;
      of_columns_.clear();
      for (const Statement& s : section.statements) value_of_.push_back(made(s));
    }
    find_used();
    return assembled();
  }

 private:
  /// A statement of the new loop; its operands are positions in `made_`.
  struct Made {
    Statement statement;
    std::size_t place;  ///< 2 i + 1 for section i of the old loop, 2 i for a row section before it
    bool of_row;        ///< whether later sections may read it
    bool used = false;
  };
  using Key = std::tuple<StatementKind, DType, Op, DType, std::array<ValueId, 3>, std::uint32_t>;

  bool is_of_row(ValueId value) const { return value == no_value || made_[value].of_row; }
  const Statement& at(ValueId value) const { return made_[value].statement; }

  /// The value that stands for the old statement's.
  ValueId made(Statement s) {
    for (ValueId& operand : s.operands)
      if (operand != no_value) operand = value_of_[operand];
    if (s.kind == StatementKind::cast) {
      // What is of the type already, or a truth in any type.
      if (s.dtype == s.compute && at(s.operands[0]).compute == s.compute) return s.operands[0];
      if (at(s.operands[0]).kind == StatementKind::is_match)
        return is_match(at(s.operands[0]).operands[0], s.compute);
    }
    if (in_columns_ && s.kind == StatementKind::apply && s.op == Op::equal) {
      const ValueId match = matched(s);
      if (match != no_value) return is_match(match, s.compute);
    }
    return shared(s);
  }

  /// A statement that gives the same value wherever it stands is not made twice.
  ValueId shared(const Statement& s) {
    const bool pure = s.kind == StatementKind::apply || s.kind == StatementKind::cast ||
                      s.kind == StatementKind::match || s.kind == StatementKind::is_match;
    if (s.kind == StatementKind::number) return add(s, in_columns_ ? place_ - 1 : place_, true);
    if (!pure) return add(s, place_, !in_columns_ || s.kind == StatementKind::reduce);
    const bool of_row =
        s.kind != StatementKind::is_match &&
        std::all_of(s.operands.begin(), s.operands.end(), [&](ValueId v) { return is_of_row(v); });
    auto& known = of_row ? of_rows_ : of_columns_;
    const Key key{s.kind, s.compute, s.op, s.dtype, s.operands, s.index};
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    const ValueId value = add(s, of_row && in_columns_ ? place_ - 1 : place_, of_row);
    known.emplace(key, value);
    return value;
  }
  ValueId add(const Statement& s, std::size_t place, bool of_row) {
    made_.push_back({s, place, of_row});
    return static_cast<ValueId>(made_.size() - 1);
  }

  // A range along the columns that is compared with a value of the row.

  /// The `match` for the comparison; nothing where it is another comparison.
  ValueId matched(const Statement& equal) {
    const auto [a, b, none] = equal.operands;
    if (equal.compute != DType::i64 || is_of_row(a) == is_of_row(b)) return no_value;
    Statement match{.kind = StatementKind::match, .compute = DType::i64};
    match.operands[0] = is_of_row(a) ? a : b;
    const ValueId place = without_range(is_of_row(a) ? b : a, match);
    if (at(place).kind != StatementKind::coordinate) return no_value;
    match.index = at(place).index;
    return shared(match);
  }
  /// The place of which `value` is start + step * place, with both numbers put into the match.
  ValueId without_range(ValueId value, Statement& match) const {
    const Statement& sum = at(value);
    if (sum.kind != StatementKind::apply || sum.op != Op::add) return value;
    const auto [steps, start, none] = sum.operands;
    const Statement& product = at(steps);
    if (product.kind != StatementKind::apply || product.op != Op::mul) return value;
    const auto [place, step, nothing] = product.operands;
    if (!is_of_row(start) || !is_of_row(step)) return value;
    match.operands[1] = start;
    match.operands[2] = step;
    return place;
  }
  ValueId is_match(ValueId match, DType compute) {
    return shared({.kind = StatementKind::is_match,
                   .compute = compute,
                   .operands = {match, no_value, no_value}});
  }

  // The new loop.

  static bool does_something(StatementKind kind) {
    switch (kind) {
      case StatementKind::fetch:  // which checks the index
      case StatementKind::add_rows:
      case StatementKind::keep:
      case StatementKind::store: return true;
      default: return false;
    }
  }
  void find_used() {
    for (auto made = made_.rbegin(); made != made_.rend(); ++made) {
      made->used = made->used || does_something(made->statement.kind);
      if (!made->used) continue;
      for (const ValueId operand : made->statement.operands)
        if (operand != no_value) made_[operand].used = true;
    }
  }

  Loop assembled() const {
    Loop result{loop_.name, loop_.accesses, loop_.numbers, loop_.row_buffers, {}};
    std::vector<ValueId> number(made_.size(), no_value);
    ValueId next = 0;
    for (std::size_t place = 0; place < 2 * sections_; ++place) {
      const SectionKind kind = place % 2 == 0 ? SectionKind::row : loop_.sections[place / 2].kind;
      Section section{kind, {}};
      for (std::size_t i = 0; i < made_.size(); ++i) {
        if (made_[i].place != place || !made_[i].used) continue;
        number[i] = next++;
        section.statements.push_back(made_[i].statement);
        for (ValueId& operand : section.statements.back().operands)
          if (operand != no_value) operand = number[operand];
      }
      append(result, std::move(section));
    }
    return result;
  }
  /// Row sections that follow each other are one.
  static void append(Loop& loop, Section section) {
    if (section.statements.empty()) return;
    if (section.kind == SectionKind::row && !loop.sections.empty() &&
        loop.sections.back().kind == SectionKind::row) {
      auto& statements = loop.sections.back().statements;
      statements.insert(statements.end(), section.statements.begin(), section.statements.end());
    } else {
      loop.sections.push_back(std::move(section));
    }
  }

  const Loop& loop_;
  std::vector<Made> made_;
  std::vector<ValueId> value_of_;  // of each old statement, as a position in made_
  std::map<Key, ValueId> of_rows_, of_columns_;
  std::size_t sections_ = 0, place_ = 0;
  bool in_columns_ = false;
};

}  // namespace

Loop tighten(const Loop& loop) { return Tightening(loop).run(); }

}  // namespace sinter::jit
