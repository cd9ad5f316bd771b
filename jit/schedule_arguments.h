/// \file
/// Schedule: the arguments of a group's loop, each declared once.
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "jit/loop_builder.h"
#include "jit/schedule.h"

namespace sinter::jit {

class LoopArgumentList {
 public:
  explicit LoopArgumentList(LoopBuilder& builder) : builder_(builder) {}

  /// The number of an access to memory.
  std::uint32_t memory(LoopOperand::Kind kind, const Reading& reading, DType dtype,
                       Columns columns);
  /// The number of an access without memory, to where elements lie.
  std::uint32_t position(const Reading& reading);
  /// A slot of a primitive as a value.
  ValueId number(PrimitiveId primitive, std::uint32_t slot, DType compute);
  /// Start and step of a range, which are numbers of the user's.
  std::pair<ValueId, ValueId> range(PrimitiveId i);

  LoopOperand& operand(std::uint32_t access) { return operands_[access]; }
  std::vector<LoopOperand> take_operands() { return std::move(operands_); }
  std::vector<LoopSlot> take_slots() { return std::move(slots_); }

 private:
  using Key = std::tuple<LoopOperand::Kind, Operand, Axes>;
  struct Before {
    bool operator()(const Key& a, const Key& b) const;
  };

  template <class Declare>
  std::uint32_t once(LoopOperand::Kind kind, const Reading& reading, Declare declare);

  LoopBuilder& builder_;
  std::vector<LoopOperand> operands_;
  std::vector<LoopSlot> slots_;
  std::map<Key, std::uint32_t, Before> accesses_;
  std::map<PrimitiveId, std::pair<ValueId, ValueId>> ranges_;
};

}  // namespace sinter::jit
