/// \file
/// Report: how values are written as JSON. For the sources of reports alone.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "jit/trace.h"

namespace sinter::jit {

using Json = nlohmann::ordered_json;

/// One line. What is no UTF-8, as a path may be, is replaced.
inline void append_line(std::string& lines, const Json& record) {
  lines += record.dump(-1, ' ', false, Json::error_handler_t::replace);
  lines += '\n';
}

inline Json json_of(const Dims& dims) { return Json(std::vector(dims.begin(), dims.end())); }

/// `path/file.cpp:41`.
inline std::string place_text(Where where) {
  return std::string(where.file_name()) + ":" + std::to_string(where.line());
}

/// `{"leaf":3}`, or `{"step":3}` where `kind` is that.
inline Json json_of(Source source, const char* kind) {
  return {{source.leaf ? "leaf" : kind, static_cast<std::uint32_t>(source.index)}};
}

/// Op, dtype and shape.
inline void append_node(Json& record, const Node& node) {
  record["op"] = to_string(node.op);
  record["dtype"] = to_string(node.dtype);
  record["shape"] = json_of(node.shape);
}

}  // namespace sinter::jit
