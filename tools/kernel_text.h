/// \file
/// A generated kernel of a trace as the text of a program.
#pragma once

#include <string>
#include <string_view>

#include "tools/trace_folder.h"

namespace sinter::tools {

struct KernelText {
  std::string name;     ///< of the files, without their endings
  std::string source;   ///< of NAME.cpp
  std::string data;     ///< of NAME.bin; empty where the memory is in the source
  std::string command;  ///< that compiles and runs it
};

/// `memory` is what launch.bin holds. \throws FileError where the records do not fit it.
KernelText kernel_text(const TraceFolder& folder, std::size_t kernel, std::string_view memory);

}  // namespace sinter::tools
