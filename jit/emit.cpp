#include "jit/emit.h"

#include <fmt/format.h>

#include <iterator>
#include <vector>

namespace sinter::jit {
namespace {

std::string_view value_type(DType compute) {
  switch (compute) {
    case DType::f32: return "F32";
    case DType::f64: return "F64";
    default: return "I64";
  }
}

std::string stored_type(DType dtype) {
  return fmt::format("stored_{}", dtype == DType::boolean ? "boolean" : to_string(dtype));
}

std::string_view combine_type(Op op) {
  switch (op) {
    case Op::sum: return "Sum";
    case Op::prod: return "Prod";
    case Op::amax: return "Amax";
    default: return "Amin";
  }
}

class Emitter {
 public:
  explicit Emitter(const Loop& loop) : loop_(loop) {
    for (const Section& section : loop.sections)
      for (const Statement& s : section.statements)
        values_.push_back({s.compute,
                           section.kind == SectionKind::row || s.kind == StatementKind::number ||
                               s.kind == StatementKind::reduce,
                           false});
  }

  std::string run(const std::string& name) {
    line("SINTER_KERNEL({}) {{", name);
    ++depth_;
    line("const LoopArguments& a = *arguments;");
    numbers();
    draws();
    line("each_row(a, first_unit, last_unit, [&](const Row& row) SINTER_LOOP_BODY {{");
    ++depth_;
    name_memory();
    for (const Section& section : loop_.sections) {
      if (section.kind == SectionKind::row) row_section(section);
      else column_section(section);
    }
    close("});");
    close("}");
    return std::move(text_);
  }

 private:
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    text_.append(2 * depth_, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '\n';
  }
  void close(std::string_view text) {
    --depth_;
    line("{}", text);
  }

  /// The user's numbers are the same for all rows.
  void numbers() {
    ValueId id = 0;
    for (const Section& section : loop_.sections)
      for (const Statement& s : section.statements) {
        if (s.kind == StatementKind::number)
          line("const Row{0} v{1} = number<Row{0}>(a, {2});", value_type(s.compute), id, s.index);
        ++id;
      }
  }

  /// A draw makes many numbers at once and keeps those that are not yet asked for.
  void draws() {
    ValueId id = 0;
    for (const Section& section : loop_.sections)
      for (const Statement& s : section.statements) {
        if (s.kind == StatementKind::uniform)
          line("UniformDraw d{}(a, v{}, v{});", id, s.operands[0], s.operands[1]);
        ++id;
      }
  }

  /// Elements of accesses are called e0 and on, row buffers b0 and on.
  void name_memory() {
    for (std::size_t i = 0; i < loop_.accesses.size(); ++i) {
      if (!loop_.accesses[i].memory) continue;
      line("const Elements<{}> e{}(a, row, {});", stored_type(loop_.accesses[i].dtype), i, i);
    }
    std::vector<DType> computes(loop_.row_buffers, DType::f32);
    for (const Section& section : loop_.sections)
      for (const Statement& s : section.statements)
        if (s.kind == StatementKind::keep) computes[s.index] = s.compute;
    for (std::size_t i = 0; i < computes.size(); ++i)
      line("const RowBuffer<{}> b{}(a, row, {});", value_type(computes[i]), i, i);
  }

  void row_section(const Section& section) {
    for (const Statement& s : section.statements) {
      if (s.kind == StatementKind::store) line("e{}.store(v{});", s.index, s.operands[0]);
      else if (s.kind == StatementKind::match) line("const Match v{}{};", next_, matched(s));
      else if (s.kind != StatementKind::number)
        line("const Row{} v{} = {};", value_type(s.compute), next_, row_value(s));
      ++next_;
    }
  }

  /// Reductions are called r and their lanes l, with the number of the value they give.
  void column_section(const Section& section) {
    std::string lanes, reductions;
    const ValueId first = next_;
    widen_row_values(section);
    for_reductions(section, first, [&](const Statement& s, ValueId id) {
      line("Reduction<{}, {}> r{}(row);", combine_type(s.op), value_type(s.compute), id);
      lanes += fmt::format(", auto& l{}", id);
      reductions += fmt::format(", r{}", id);
    });
    line("each_column(row, [&](auto at{}) SINTER_LOOP_BODY {{", lanes);
    ++depth_;
    for (const Statement& s : section.statements) {
      column_statement(s);
      ++next_;
    }
    close(fmt::format("}}{});", reductions));
    for_reductions(section, first, [&](const Statement& s, ValueId id) {
      line("const Row{} v{}(r{}.result());", value_type(s.compute), id, id);
    });
  }

  /// Values of the row that meet those of the columns are called w there.
  void widen_row_values(const Section& section) {
    for (const Statement& s : section.statements) {
      if (s.kind == StatementKind::fetch || s.kind == StatementKind::uniform ||
          s.kind == StatementKind::is_match)
        continue;
      for (const ValueId o : s.operands) {
        if (o == no_value || !values_[o].of_row || values_[o].is_wide) continue;
        values_[o].is_wide = true;
        line("const {} w{}(v{});", value_type(values_[o].compute), o, o);
      }
    }
  }

  template <class Body>
  static void for_reductions(const Section& section, ValueId first, Body body) {
    for (std::size_t i = 0; i < section.statements.size(); ++i)
      if (section.statements[i].kind == StatementKind::reduce)
        body(section.statements[i], first + static_cast<ValueId>(i));
  }

  void column_statement(const Statement& s) {
    const std::string a = in_columns(s.operands[0]);
    switch (s.kind) {
      case StatementKind::number: return;  // see numbers()
      case StatementKind::reduce: return line("l{}.add({}, at);", next_, a);
      case StatementKind::add_rows: return line("e{}.add_row(row, {}, at);", s.index, a);
      case StatementKind::keep: return line("b{}.keep({}, at);", s.index, a);
      case StatementKind::store: return line("e{}.store{}({}, at);", s.index, strided(s), a);
      default: line("const {} v{} = {};", value_type(s.compute), next_, column_value(s));
    }
  }

  std::string_view strided(const Statement& s) const {
    return loop_.accesses[s.index].columns == Columns::strided ? "_strided" : "";
  }

  std::string in_columns(ValueId value) const {
    if (value == no_value) return {};
    return fmt::format("{}{}", values_[value].of_row ? 'w' : 'v', value);
  }

  std::string column_value(const Statement& s) const {
    const ValueId a = s.operands[0], b = s.operands[1], c = s.operands[2];
    switch (s.kind) {
      case StatementKind::load: return fmt::format("e{}.load{}(at)", s.index, strided(s));
      case StatementKind::fetch:
        if (!values_[a].of_row) return fmt::format("e{0}.gather(a, {0}, v{1}, at)", s.index, a);
        return fmt::format("e{0}.fetch{1}(a, {0}, v{2}, at)", s.index, strided(s), a);
      case StatementKind::recall: return fmt::format("b{}.recall(at)", s.index);
      case StatementKind::coordinate: return fmt::format("coordinate(a, row, {}, at)", s.index);
      case StatementKind::is_match: return fmt::format("v{}.in<{}>(at)", a, value_type(s.compute));
      case StatementKind::uniform: return fmt::format("d{}.element(row, {}, at)", next_, s.index);
      case StatementKind::cast:
        return fmt::format("{}::cast({})", stored_type(s.dtype), in_columns(a));
      default: return applied(s.op, in_columns(a), in_columns(b), in_columns(c));
    }
  }

  std::string row_value(const Statement& s) const {
    const ValueId a = s.operands[0], b = s.operands[1], c = s.operands[2];
    switch (s.kind) {
      case StatementKind::load: return fmt::format("e{}.load()", s.index);
      case StatementKind::fetch: return fmt::format("e{0}.fetch(a, {0}, v{1})", s.index, a);
      case StatementKind::coordinate: return fmt::format("coordinate(row, {})", s.index);
      case StatementKind::uniform: {
        const std::string column = c == no_value ? "" : fmt::format(", v{}", c);
        return fmt::format("d{}.element(row, {}{})", next_, s.index, column);
      }
      case StatementKind::cast: return fmt::format("row_cast<{}>(v{})", stored_type(s.dtype), a);
      default: {
        const auto name = [](ValueId value) { return fmt::format("v{}", value); };
        return applied(s.op, name(a), name(b), name(c));
      }
    }
  }

  static std::string matched(const Statement& s) {
    const auto [value, start, step] = s.operands;
    const std::string range = start == no_value ? "" : fmt::format(", v{}, v{}", start, step);
    return fmt::format("(a, row, {}, v{}{})", s.index, value, range);
  }

  static std::string applied(Op op, const std::string& a, const std::string& b,
                             const std::string& c) {
    switch (info(op).arity) {
      case 1: return fmt::format("{}_op::apply({})", to_string(op), a);
      case 2: return fmt::format("{}_op::apply({}, {})", to_string(op), a, b);
      default: return fmt::format("{}_op::apply({}, {}, {})", to_string(op), a, b, c);
    }
  }

  struct Value {
    DType compute;
    bool of_row;
    bool is_wide;  // whether it has been widened for columns
  };

  const Loop& loop_;
  std::vector<Value> values_;  // of each statement of the loop
  ValueId next_ = 0;           // the statement
  std::string text_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string emit(const Loop& loop, const std::string& name) { return Emitter(loop).run(name); }

}  // namespace sinter::jit
