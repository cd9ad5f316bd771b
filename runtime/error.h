/// \file
/// The error types, and how an error names the line of the caller.
///
/// Grammar of a message: `op: what is wrong: the shapes or values (file.cpp:41)`. A function that
/// can refuse its input takes a trailing `Where where = Where::current()`, for the user's line.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sinter {

/// The place in the user's source that made a call. Eight bytes, valid for the whole program.
using Where = std::source_location;

/// Base of everything sinter throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller passed something that has no meaning: shapes, dtypes, indices, options, files.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A device library failed. The message names the library, its code and the call.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// A file could not be read or written, or its content is not what its format says.
class FileError : public Error {
 public:
  using Error::Error;
};

/// The compiler of the machine failed on generated code, which is kept for a report.
class CompileError : public Error {
 public:
  /// `source_path` is empty where the source could not be kept.
  CompileError(const std::string& message, std::string log, std::string source_path);

  const std::string& log() const { return log_; }  ///< What the compiler printed.
  const std::string& source_path() const { return source_path_; }

 private:
  std::string log_;
  std::string source_path_;
};

/// An invariant of sinter itself is broken: please report.
class InternalError : public Error {
 public:
  using Error::Error;
};

/// Throws UsageError `op: problem (file.cpp:41)`; inside a CallScope the outermost scope's line
/// follows: `(layers.cpp:12, called from train.cpp:41)`.
[[noreturn]] void usage_error(std::string_view op, std::string_view problem, Where where);

/// Throws InternalError with the place in sinter's own source.
[[noreturn]] void internal_error(std::string_view problem, Where where = Where::current());

/// Checks an invariant that no input of a user can break.
inline void invariant(bool holds, std::string_view problem, Where where = Where::current()) {
  if (!holds) [[unlikely]]
    internal_error(problem, where);
}

/// `file.cpp:41`, the file without its directory.
std::string to_string(Where where);

/// While alive, errors of this thread also name `where`: a layer opens one with its caller's line.
/// Scopes nest; the outermost one is the user's and is the one that is named.
class CallScope {
 public:
  explicit CallScope(Where where);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /// The outermost open scope's line, or `inner` when none is open.
  static Where outermost(Where inner);
};

}  // namespace sinter
