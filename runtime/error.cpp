#include "runtime/error.h"

#include <fmt/format.h>

#include <utility>

namespace sinter {
namespace {

struct OutermostCall {
  int depth = 0;
  Where where;
};

thread_local OutermostCall outermost_call;

}  // namespace

CompileError::CompileError(const std::string& message, std::string log, std::string source_path)
    : Error(message), log_(std::move(log)), source_path_(std::move(source_path)) {}

std::string to_string(Where where) {
  std::string_view file = where.file_name();
  if (auto slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return fmt::format("{}:{}", file, where.line());
}

void usage_error(std::string_view op, std::string_view problem, Where where) {
  const Where user = CallScope::outermost(where);
  const bool same = user.line() == where.line() &&
                    std::string_view(user.file_name()) == std::string_view(where.file_name());
  if (same) throw UsageError(fmt::format("{}: {} ({})", op, problem, to_string(where)));
  throw UsageError(
      fmt::format("{}: {} ({}, called from {})", op, problem, to_string(where), to_string(user)));
}

void internal_error(std::string_view problem, Where where) {
  throw InternalError(
      fmt::format("internal error, please report: {} ({})", problem, to_string(where)));
}

CallScope::CallScope(Where where) {
  if (outermost_call.depth++ == 0) outermost_call.where = where;
}

CallScope::~CallScope() { --outermost_call.depth; }

Where CallScope::outermost(Where inner) {
  return outermost_call.depth > 0 ? outermost_call.where : inner;
}

}  // namespace sinter
