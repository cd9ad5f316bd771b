/// \file
/// What foreach_map keeps of its body: a straight line of elementwise steps on numbered values.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/graph.h"

namespace sinter {

/// One elementwise op or cast of the body.
struct ForeachStep {
  Op op;
  DType dtype;                  ///< of the result
  std::array<int, 3> operands;  ///< value numbers; -1 where the op has fewer
  DType compute;                ///< the type the arithmetic is done in
};

/// Values are numbered: first one for each list, then the shared tensors of shape [] (inputs of the
/// node after those of the lists), then the host numbers (slots of the node, in order), then the
/// result of each step.
struct ForeachTrace final : Payload {
  int lists = 0;
  std::vector<DType> list_dtypes;    ///< the dtype of each list
  std::vector<DType> shared_dtypes;  ///< of each shared tensor
  std::vector<DType> number_dtypes;  ///< of each host number: the slot is real where floating
  std::vector<ForeachStep> steps;
  std::vector<int> results;  ///< value numbers

  int first_shared() const { return lists; }
  int first_number() const { return lists + static_cast<int>(shared_dtypes.size()); }
  int first_step() const { return first_number() + static_cast<int>(number_dtypes.size()); }
  DType dtype_of_value(int value) const;

  bool in_program() const override { return true; }
  bool same_program(const Payload& other) const override;
  std::uint64_t fingerprint() const override;
};

}  // namespace sinter
