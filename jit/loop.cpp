#include "jit/loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kernels/loop_arguments.h"
#include "runtime/error.h"

namespace sinter::jit {
namespace {

bool makes_value(StatementKind kind) {
  switch (kind) {
    case StatementKind::add_rows:
    case StatementKind::keep:
    case StatementKind::store: return false;
    default: return true;
  }
}

bool is_compute_type(DType dtype) { return compute_dtype(dtype) == dtype; }

bool any_statement(const Loop& loop, bool (*test)(StatementKind)) {
  return std::any_of(loop.sections.begin(), loop.sections.end(), [&](const Section& section) {
    return std::any_of(section.statements.begin(), section.statements.end(),
                       [&](const Statement& statement) { return test(statement.kind); });
  });
}

std::string_view name_of(StatementKind kind) {
  switch (kind) {
    case StatementKind::load: return "load";
    case StatementKind::fetch: return "fetch";
    case StatementKind::number: return "number";
    case StatementKind::coordinate: return "coordinate";
    case StatementKind::match: return "match";
    case StatementKind::is_match: return "is_match";
    case StatementKind::uniform: return "uniform";
    case StatementKind::apply: return "apply";
    case StatementKind::cast: return "cast";
    case StatementKind::reduce: return "reduce";
    case StatementKind::add_rows: return "add_rows";
    case StatementKind::keep: return "keep";
    case StatementKind::recall: return "recall";
    default: return "store";
  }
}

int operand_count(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::load:
    case StatementKind::number:
    case StatementKind::coordinate:
    case StatementKind::recall: return 0;
    case StatementKind::apply: return info(statement.op).arity;
    case StatementKind::uniform: return statement.operands[2] == no_value ? 2 : 3;
    case StatementKind::match: return statement.operands[1] == no_value ? 1 : 3;
    default: return 1;
  }
}

bool uses_access(StatementKind kind) {
  switch (kind) {
    case StatementKind::load:
    case StatementKind::fetch:
    case StatementKind::coordinate:
    case StatementKind::match:
    case StatementKind::uniform:
    case StatementKind::add_rows:
    case StatementKind::store: return true;
    default: return false;
  }
}
/// Of a statement with an access.
bool has_memory(StatementKind kind) {
  return kind != StatementKind::coordinate && kind != StatementKind::match &&
         kind != StatementKind::uniform;
}
bool uses_buffer(StatementKind kind) {
  return kind == StatementKind::keep || kind == StatementKind::recall;
}
bool belongs_to_columns(StatementKind kind) {
  return kind == StatementKind::reduce || kind == StatementKind::add_rows ||
         kind == StatementKind::is_match || uses_buffer(kind);
}
bool is_reduction(Op op) {
  return op == Op::sum || op == Op::prod || op == Op::amax || op == Op::amin;
}

/// The checks of one statement after the other.
class Checker {
 public:
  explicit Checker(const Loop& loop) : loop_(loop) {}

  void run() {
    require(loop_.accesses.size() <= kernels::loop_max_accesses, "too many accesses");
    require(loop_.row_buffers <= kernels::loop_max_row_buffers, "too many row buffers");
    for (const DType number : loop_.numbers)
      require(is_compute_type(number), "a number of no compute type");
    for (section_ = 0; section_ < loop_.sections.size(); ++section_)
      for (const Statement& statement : loop_.sections[section_].statements) check(statement);
  }

 private:
  struct Made {
    DType compute;
    std::size_t section;
    bool of_row;  // readable from the sections after its own
    bool value;
    StatementKind kind;
  };

  void require(bool holds, std::string_view what) const {
    if (!holds)
      internal_error(fmt::format("loop {}, statement {}: {}", loop_.name, made_.size(), what));
  }

  void check(const Statement& s) {
    const bool columns = loop_.sections[section_].kind == SectionKind::columns;
    require(is_compute_type(s.compute), "a value of no compute type");
    require(columns || !belongs_to_columns(s.kind), "stands in a row section");
    if (s.kind == StatementKind::apply)
      require(info(s.op).kind == OpKind::elementwise, "no elementwise op");
    for (int k = 0; k < operand_count(s); ++k)
      check_operand(s, s.operands[static_cast<std::size_t>(k)]);
    if (s.kind == StatementKind::uniform) check_draw(s, columns);
    require(s.kind != StatementKind::match || !columns, "is of the row");
    check_index(s, columns);
    if (s.kind == StatementKind::reduce) require(is_reduction(s.op), "no reduction");
    if (s.kind == StatementKind::cast)
      require(s.compute == compute_dtype(s.dtype), "a cast to another compute type");
    made_.push_back({s.compute, section_, !columns || s.kind == StatementKind::reduce,
                     makes_value(s.kind), s.kind});
  }

  void check_operand(const Statement& s, ValueId operand) const {
    require(operand < made_.size() && made_[operand].value, "reads what is not made before");
    const Made& made = made_[operand];
    const bool later = made.section < section_;
    require(made.of_row ? later || loop_.sections[section_].kind == SectionKind::row
                        : made.section == section_,
            "reads a value of other columns, or a reduction before its end");
    require((made.kind == StatementKind::match) == (s.kind == StatementKind::is_match),
            "a match is for is_match");
    if (s.kind == StatementKind::is_match) return;
    if (s.kind == StatementKind::uniform || s.kind == StatementKind::fetch)
      require(made.compute == DType::i64, "is at an integer");
    else if (s.kind != StatementKind::cast)
      require(made.compute == s.compute, "reads another compute type");
  }

  void check_draw(const Statement& s, bool columns) const {
    const auto is_number = [&](ValueId id) { return made_[id].kind == StatementKind::number; };
    require(is_number(s.operands[0]) && is_number(s.operands[1]), "is named by two numbers");
    require(!columns || s.operands[2] == no_value, "each column is its own");
  }

  void check_index(const Statement& s, bool columns) const {
    if (s.kind == StatementKind::number) {
      require(s.index < loop_.numbers.size(), "no such number");
      require(loop_.numbers[s.index] == s.compute, "a number of another type");
    }
    if (uses_buffer(s.kind)) require(s.index < loop_.row_buffers, "no such row buffer");
    if (!uses_access(s.kind)) return;
    require(s.index < loop_.accesses.size(), "no such access");
    const Access& access = loop_.accesses[s.index];
    require(access.memory == has_memory(s.kind), "memory, or none, was due");
    const DType expected = s.kind == StatementKind::uniform ? DType::f32
                           : access.memory                  ? compute_dtype(access.dtype)
                                                            : DType::i64;
    require(s.kind == StatementKind::store || s.compute == expected, "reads another type");
    if (s.kind == StatementKind::add_rows)
      require(columns && access.columns == Columns::contiguous && is_compute_type(access.dtype),
              "sums go to contiguous memory of the compute type");
  }

  const Loop& loop_;
  std::size_t section_ = 0;
  std::vector<Made> made_;
};

std::string line_of(const Loop& loop, const Statement& s, ValueId id) {
  std::string line = makes_value(s.kind) ? fmt::format("v{} = ", id) : "";
  const bool named = s.kind == StatementKind::apply;
  line += named ? to_string(s.op) : name_of(s.kind);
  if (s.kind == StatementKind::reduce) line += fmt::format(" {}", to_string(s.op));
  if (s.kind == StatementKind::is_match) line += fmt::format(" {}", to_string(s.compute));
  if (s.kind == StatementKind::cast) line += fmt::format(" {}", to_string(s.dtype));
  for (int k = 0; k < operand_count(s); ++k)
    line += fmt::format(" v{}", s.operands[static_cast<std::size_t>(k)]);
  if (uses_access(s.kind))
    line += fmt::format(" a{}:{}", s.index, to_string(loop.accesses[s.index].dtype));
  else if (uses_buffer(s.kind)) line += fmt::format(" b{}", s.index);
  else if (s.kind == StatementKind::number) line += fmt::format(" n{}", s.index);
  return line;
}

}  // namespace

bool Loop::whole_rows() const {
  const auto stores = [](const Section& section) {
    return section.kind == SectionKind::row &&
           std::any_of(section.statements.begin(), section.statements.end(),
                       [](const Statement& s) { return s.kind == StatementKind::store; });
  };
  return std::any_of(sections.begin(), sections.end(), stores) ||
         any_statement(*this, [](StatementKind kind) {
           return kind == StatementKind::reduce || uses_buffer(kind);
         });
}

bool Loop::adds_rows() const {
  return any_statement(*this, [](StatementKind kind) { return kind == StatementKind::add_rows; });
}

void check_loop(const Loop& loop) { Checker(loop).run(); }

std::string to_string(const Loop& loop) {
  std::string text = loop.name + "\n";
  ValueId id = 0;
  for (const Section& section : loop.sections) {
    text += section.kind == SectionKind::row ? "  row\n" : "  columns\n";
    for (const Statement& statement : section.statements)
      text += fmt::format("    {}\n", line_of(loop, statement, id++));
  }
  return text;
}

}  // namespace sinter::jit
