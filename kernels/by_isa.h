/// \file
/// How code compiled once reaches what kernels/ compiles for each instruction set.
#pragma once

#include <utility>

#include "runtime/cpu/probe.h"

/// Declares something in the namespace of each instruction set this library is compiled for.
/// Not for files that see kernels/isa.h.
#if defined __x86_64__
#define SINTER_DECLARE_BY_ISA(...) \
  namespace portable {             \
  __VA_ARGS__                      \
  }                                \
  namespace avx2 {                 \
  __VA_ARGS__                      \
  }                                \
  namespace avx512 {               \
  __VA_ARGS__                      \
  }
/// Calls function() of the instruction set in use.
#define SINTER_CALL_BY_ISA(function)                                                              \
  (::sinter::cpu::instruction_set() == ::sinter::cpu::InstructionSet::avx512 ? avx512::function() \
   : ::sinter::cpu::instruction_set() == ::sinter::cpu::InstructionSet::avx2                      \
       ? avx2::function()                                                                         \
       : portable::function())
#else
#define SINTER_DECLARE_BY_ISA(...) \
  namespace portable {             \
  __VA_ARGS__                      \
  }
#define SINTER_CALL_BY_ISA(function) portable::function()
#endif
