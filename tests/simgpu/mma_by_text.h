/// \file
/// mma.sync by its name, and what opcodes there are: PTX ISA 9.7.14.5.14.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "tests/simgpu/matrix_numbers.h"

namespace simgpu {

/// What a name says.
struct MmaText {
  int count = 1;  ///< of matrices
  int m = 0, n = 0, k = 0;
  by_text::Formula place_a = nullptr, place_b = nullptr, place_c = nullptr, place_d = nullptr;
  const NumberFormat *d = nullptr, *a = nullptr, *b = nullptr, *c = nullptr;
  bool saturates = false, is_xor = false;
  std::string rounding;  ///< of f64; empty where none is named

  /// Which of the matrices a lane has part in.
  int matrix_of(int lane) const { return count == 1 ? 0 : by_text::quad(lane); }
};

MmaText mma_by_text(std::string_view name);

/// All that the text lists for sm_80 to sm_100.
std::set<std::string_view> mma_names_of_the_text();

/// Runs it on a warp whose lanes hold the matrices as the formulas say.
Matrices run_mma(const HostIsa& isa, const Opcode& opcode, const MmaText& text, const Matrices& a,
                 const Matrices& b, const Matrices& c);

}  // namespace simgpu
