#include <algorithm>

#include "kernels/by_isa.h"
#include "runtime/cpu/probe.h"
#include "runtime/error.h"
#include "tests/math_table.h"

namespace sinter {

SINTER_DECLARE_BY_ISA(MathTable math_table(); const char* vector_fault();)

const MathFunction& find(const MathTable& table, std::string_view name) {
  const MathFunction* const end = table.first + table.count;
  const auto* found =
      std::find_if(table.first, end, [&](const MathFunction& row) { return row.name == name; });
  invariant(found != end, "math_table.cpp has every function of math_reference.cpp");
  return *found;
}

std::span<const MathPath> math_paths() {
  using cpu::InstructionSet;
  const auto has = [](InstructionSet set) { return set <= cpu::processor().best; };
  static const MathPath paths[] = {
    {"portable", true, portable::math_table, portable::vector_fault},
#if defined __x86_64__
    {"avx2", has(InstructionSet::avx2), avx2::math_table, avx2::vector_fault},
    {"avx512", has(InstructionSet::avx512), avx512::math_table, avx512::vector_fault},
#endif
  };
  return paths;
}

}  // namespace sinter
