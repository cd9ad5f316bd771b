/// \file
/// Which buffer each value of a foreach body lives in, and until when.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/foreach.h"
#include "kernels/tiles.h"

namespace sinter::kernels {

struct ForeachPlan {
  explicit ForeachPlan(const ForeachBody& body);

  /// A step with its functions; null where there is nothing to do.
  struct Step {
    TileFunction function;                   ///< of a cast: null
    std::array<ConvertFunction, 3> convert;  ///< operand's compute type to the step's
    ConvertFunction round;                   ///< the step's compute type to the result's dtype
    ConvertFunction load;                    ///< the result's dtype to its compute type
    bool checked;                            ///< integer division and the like
    bool plain;                              ///< only `function` is to be called
    std::size_t arity;
    std::size_t item;    ///< bytes of an element of the result's compute type
    std::size_t buffer;  ///< of the result
  };

  std::vector<DType> dtypes;  ///< of each value
  std::vector<Step> steps;
  std::vector<std::size_t> last_use;  ///< the last step that reads a value; results: steps.size()
  std::vector<std::size_t> list_buffers;
  std::vector<bool> list_is_result;
  std::size_t buffers = 0;

  std::size_t value_of_step(std::size_t step) const { return dtypes.size() - steps.size() + step; }

 private:
  void find_dtypes(const ForeachBody& body);
  void find_last_uses(const ForeachBody& body);
  void choose_functions(const ForeachBody& body);
  void assign_buffers(const ForeachBody& body);
};

}  // namespace sinter::kernels
