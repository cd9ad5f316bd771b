/// \file
/// What makes the machine code of a kernel what it is, all of it and as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "jit/digest.h"
#include "jit/host_compiler.h"
#include "runtime/cpu/probe.h"

namespace sinter::jit {

/// What the kernels of a batch share. Nothing here may differ from process to process: no address,
/// no number of a process, no time of day.
struct KernelIngredients {
  std::string version;        ///< Of this library: how it calls kernels.
  std::string abi;            ///< Architecture, sizes of a pointer and of a long.
  std::string cpu;            ///< The path of the kernels.
  std::string features;       ///< What else of the processor code may depend on.
  std::string precision;      ///< The mode of the precision contract.
  std::string compiler;       ///< Its identity.
  std::string compile_flags;  ///< One a line.
  std::string link_flags;     ///< One a line.
  std::string prelude;        ///< The text before every kernel.
};

KernelIngredients ingredients_of(const HostCompiler& compiler, cpu::InstructionSet set,
                                 std::string_view precision, std::string_view prelude);

/// All ingredients in one text, from which each can be read again: no two have the same.
std::string to_text(const KernelIngredients& ingredients);

/// One ingredient of such a text by the name of its member; nothing where the text is not one.
std::optional<std::string_view> ingredient(std::string_view text, std::string_view name);

/// The name of a kernel in the cache, for look-up alone: whoever finds it compares the texts.
/// \param shared the digest of the ingredients' text.
Digest kernel_digest(const Digest& shared, std::string_view body);

/// The symbol of a kernel: what of `hint` may stand in one, and the digest.
std::string kernel_symbol(std::string_view hint, const Digest& digest);

}  // namespace sinter::jit
