/// \file
/// The flags that kernels/ was compiled with, so that generated code gives the same bits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/cpu/probe.h"

namespace sinter::jit {

/// The flags of the precision contract.
std::vector<std::string> contract_flags();

/// The flags that choose an instruction set; none where this library was not built for it.
std::vector<std::string> instruction_flags(cpu::InstructionSet set);

/// The version of this library.
std::string_view library_version();

}  // namespace sinter::jit
