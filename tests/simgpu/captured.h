/// \file
/// What a test writes to stdout or stderr, as text.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace simgpu {

/// What goes to a stream of the process while it lives.
class Captured {
 public:
  explicit Captured(std::FILE* stream) : stream_(stream), file_(std::tmpfile()) {
    std::fflush(stream);
    kept_ = dup(fileno(stream));
    dup2(fileno(file_), fileno(stream));
  }
  ~Captured() {
    std::fflush(stream_);
    dup2(kept_, fileno(stream_));
    close(kept_);
    std::fclose(file_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::string text() {
    std::fflush(stream_);
    std::string text;
    std::rewind(file_);
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) text += static_cast<char>(c);
    return text;
  }

 private:
  std::FILE* stream_;
  std::FILE* file_;
  int kept_ = -1;
};

}  // namespace simgpu
