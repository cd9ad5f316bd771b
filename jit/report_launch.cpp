#include "jit/report_launch.h"

#include <algorithm>
#include <optional>

#include "jit/report_line.h"

namespace sinter::jit {
namespace {

constexpr std::ptrdiff_t most_bytes = 64 << 20;

/// What the statements of a loop do with an access.
struct Use {
  bool fetched = false, in_columns = false, written = false;
};

Use use_of(const Loop& loop, std::size_t access) {
  Use use;
  for (const Section& section : loop.sections)
    for (const Statement& s : section.statements) {
      const bool addresses = s.kind == StatementKind::load || s.kind == StatementKind::fetch ||
                             s.kind == StatementKind::store || s.kind == StatementKind::add_rows;
      if (!addresses || s.index != access) continue;
      use.fetched = use.fetched || s.kind == StatementKind::fetch;
      use.in_columns = use.in_columns || section.kind == SectionKind::columns;
      use.written =
          use.written || s.kind == StatementKind::store || s.kind == StatementKind::add_rows;
    }
  return use;
}

/// The lowest and the highest element that an access addresses, from its base.
struct Span {
  std::int64_t low, high;

  void extend(std::int64_t count, std::int64_t stride) {
    (stride < 0 ? low : high) += (count - 1) * stride;
  }
};

Span span_of(const Launch& launch, const kernels::LoopAccess& access, const Use& use) {
  Span span{access.origin, access.origin};
  if (access.sums_rows) span.extend(row_block_count(launch.rows), access.row_strides[0]);
  else
    for (int axis = 0; axis < launch.rows.rank(); ++axis)
      span.extend(launch.rows[axis], access.row_strides[axis]);
  if (use.in_columns) span.extend(launch.columns, access.column_stride);
  if (use.fetched) span.extend(access.index_extent, access.index_stride);
  return span;
}

/// An access as its arguments say, its base as a place in a piece of memory.
template <class Pieces>
Json access_json(const Loop& loop, const Launch& launch, std::size_t k, const Pieces& pieces) {
  const kernels::LoopAccess& access = launch.accesses[k];
  const auto* base = static_cast<const std::byte*>(access.base);
  Json entry{{"dtype", to_string(loop.accesses[k].dtype)},
             {"origin", access.origin},
             {"column_stride", access.column_stride},
             {"index_stride", access.index_stride},
             {"index_extent", access.index_extent},
             {"row_strides", std::vector(access.row_strides,
                                         access.row_strides + std::max(launch.rows.rank(), 1))},
             {"sums_rows", access.sums_rows}};
  if (!loop.accesses[k].memory) return entry;
  const Use use = use_of(loop, k);
  const std::byte* first = base + span_of(launch, access, use).low *
                                      static_cast<std::int64_t>(item_size(loop.accesses[k].dtype));
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    if (first < pieces[p].begin || first >= pieces[p].end) continue;
    entry["memory"] = p;
    entry["offset"] = base - pieces[p].begin;
  }
  entry["written"] = use.written;
  return entry;
}

}  // namespace

LaunchReport::LaunchReport(const std::string& folder, const LoweringRecord& record)
    : record_(record), folder_(folder) {}

LaunchReport::~LaunchReport() {
  if (folder_.empty()) return;
  try {
    append_line(lines_, {{"record", "stage"}, {"name", "launch"}, {"nanoseconds", ran_.count()}});
    if (memory_) memory_->done();
    ReportFile file(folder_ + "/launch.jsonl");
    file.write(lines_);
    file.done();
  } catch (const std::exception& problem) {
    give_up(problem);
  }
}

void LaunchReport::give_up(const std::exception& problem) {
  warn_of_report(problem.what());
  folder_.clear();
  memory_.reset();
}

void LaunchReport::lap(const char* kind, std::size_t number) {
  const Clock::time_point now = Clock::now();
  const std::chrono::nanoseconds took = now - last_ - keeping_;
  append_line(lines_, {{"record", "time"}, {kind, number}, {"nanoseconds", took.count()}});
  ran_ += took;
  last_ = now;
  keeping_ = {};
}

std::exception_ptr LaunchReport::after_step(std::size_t step, std::span<const kernels::ConstView>) {
  lap("step", step);
  return nullptr;
}

bool LaunchReport::after_operation(const LiveValues&, const Operation&) {
  lap("operation", operations_++);
  return true;
}

/// The number of a kernel that is launched for the first time.
std::optional<std::size_t> LaunchReport::new_kernel(kernels::LoopFunction function) {
  for (std::size_t k = 0; k < record_.kernels.size(); ++k)
    if (record_.kernels[k].function == function)
      return launched_.insert(k).second ? std::optional(k) : std::nullopt;
  return std::nullopt;
}

void LaunchReport::before_launch(std::span<const LaunchPart> parts) {
  const Clock::time_point begin = Clock::now();
  kept_.clear();
  for (std::size_t p = 0; p < parts.size() && !folder_.empty(); ++p) {
    const auto kernel = new_kernel(parts[p].function);
    if (!kernel) continue;
    Kept kept{p, *kernel, pieces_of(parts[p])};
    std::ptrdiff_t bytes = 0;
    for (const Piece& piece : kept.pieces) bytes += piece.end - piece.begin;
    if (bytes > most_bytes) continue;
    for (Piece& piece : kept.pieces) piece.before = keep(piece);
    kept_.push_back(std::move(kept));
  }
  begin_ = Clock::now();
  keeping_ += begin_ - begin;
}

/// Accesses that share memory, as those of a kernel that runs in place, share a piece.
std::vector<LaunchReport::Piece> LaunchReport::pieces_of(const LaunchPart& part) {
  const Loop& loop = *part.loop;
  std::vector<Piece> each, joined;
  for (std::size_t k = 0; k < loop.accesses.size(); ++k) {
    if (!loop.accesses[k].memory) continue;
    const Use use = use_of(loop, k);
    const Span span = span_of(part.launch, part.launch.accesses[k], use);
    const auto item = static_cast<std::int64_t>(item_size(loop.accesses[k].dtype));
    const auto* base = static_cast<const std::byte*>(part.launch.accesses[k].base);
    each.push_back({base + span.low * item, base + (span.high + 1) * item, use.written});
  }
  std::sort(each.begin(), each.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  for (const Piece& piece : each) {
    if (joined.empty() || joined.back().end <= piece.begin) {
      joined.push_back(piece);
      continue;
    }
    joined.back().end = std::max(joined.back().end, piece.end);
    joined.back().written = joined.back().written || piece.written;
  }
  return joined;
}

/// Where the bytes of the piece are in launch.bin.
std::uint64_t LaunchReport::keep(const Piece& piece) {
  const auto size = static_cast<std::size_t>(piece.end - piece.begin);
  const std::uint64_t place = memory_bytes_;
  if (folder_.empty()) return place;
  try {
    if (!memory_) memory_ = std::make_unique<ReportFile>(folder_ + "/launch.bin");
    memory_->write({reinterpret_cast<const char*>(piece.begin), size});
    memory_bytes_ += size;
  } catch (const std::exception& problem) {
    give_up(problem);
  }
  return place;
}

void LaunchReport::after_launch(std::span<const LaunchPart> parts) {
  const Clock::time_point end = Clock::now();
  for (Kept& kept : kept_) {
    for (Piece& piece : kept.pieces)
      if (piece.written) piece.after = keep(piece);
    append_launch(parts[kept.part], kept, end - begin_);
  }
  keeping_ += Clock::now() - end;
}

void LaunchReport::expect(const kernels::ConstView& given, const kernels::ConstView& meant) {
  const auto* first = static_cast<const std::byte*>(given.data);
  const std::string_view bytes(
      static_cast<const char*>(meant.data),
      static_cast<std::size_t>(element_count(meant.shape)) * item_size(meant.dtype));
  for (const Kept& kept : kept_)
    for (const Piece& piece : kept.pieces) try {
        const bool inside = first >= piece.begin && first + bytes.size() <= piece.end;
        if (memory_ && piece.written && inside)
          memory_->overwrite(piece.after + static_cast<std::uint64_t>(first - piece.begin), bytes);
      } catch (const std::exception& problem) {
        give_up(problem);
      }
}

void LaunchReport::append_launch(const LaunchPart& part, const Kept& kept,
                                 std::chrono::nanoseconds took) {
  const Loop& loop = *part.loop;
  const kernels::LoopArguments arguments = arguments_of(loop, part.launch);
  Json memory = Json::array(), accesses = Json::array(), numbers = Json::array();
  for (const Piece& piece : kept.pieces) {
    Json entry{{"bytes", piece.end - piece.begin}, {"before", piece.before}};
    if (piece.written) entry["after"] = piece.after;
    memory.push_back(std::move(entry));
  }
  for (std::size_t k = 0; k < loop.accesses.size(); ++k)
    accesses.push_back(access_json(loop, part.launch, k, kept.pieces));
  for (std::size_t k = 0; k < loop.numbers.size(); ++k)
    numbers.push_back(
        {{"compute", to_string(loop.numbers[k])}, {"bits", part.launch.numbers[k].integer}});
  append_line(lines_, {{"record", "launch"},
                       {"kernel", kept.kernel},
                       {"name", loop.name},
                       {"nanoseconds", took.count()},
                       {"rows", json_of(part.launch.rows)},
                       {"columns", part.launch.columns},
                       {"unit_rows", arguments.unit_rows},
                       {"unit_columns", arguments.unit_columns},
                       {"accesses", std::move(accesses)},
                       {"numbers", std::move(numbers)},
                       {"memory", std::move(memory)}});
}

}  // namespace sinter::jit
