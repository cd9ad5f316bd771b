#include "tools/simgpu/machine/call_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tools/simgpu/code/call_targets.h"
#include "tools/simgpu/machine/fault.h"

namespace simgpu {
namespace {

/// Calls body(address, bytes) for each register of a lane.
template <class Body>
void each_register(const Warp& warp, int lane, const Instruction& call, Body body) {
  const std::uint32_t* pair = call.operands + 3;
  for (std::uint32_t k = 0; k < call.operands[0]; ++k, pair += 2)
    body(warp.registers + pair[0] + static_cast<std::size_t>(lane) * pair[1], std::size_t{pair[1]});
}

/// Calls body(predicate of all lanes) for each predicate.
template <class Body>
void each_predicate(const Warp& warp, const Instruction& call, Body body) {
  const std::uint32_t* numbers = call.operands + 3 + std::size_t{call.operands[0]} * 2;
  for (std::uint32_t k = 0; k < call.operands[1]; ++k) body(warp.predicates[numbers[k]]);
}

template <class Body>
void each_lane(std::uint32_t lanes, Body body) {
  for (; lanes != 0; lanes &= lanes - 1) body(std::countr_zero(lanes));
}

}  // namespace

void CallStack::clear() {
  for (auto& each : kept_) each.clear();
  frames_.fill(0);
}

void CallStack::keep(const Warp& warp, std::uint32_t lanes, const Instruction& call) {
  each_lane(lanes, [&](int lane) {
    std::vector<std::byte>& kept = kept_[static_cast<std::size_t>(lane)];
    each_register(warp, lane, call, [&](const std::byte* from, std::size_t bytes) {
      kept.insert(kept.end(), from, from + bytes);
    });
    each_predicate(warp, call, [&](std::uint32_t predicate) {
      kept.push_back(static_cast<std::byte>(predicate >> lane & 1));
    });
    const std::size_t most = std::max(warp.block->grid->stack_bytes, least_stack_bytes);
    std::size_t& frames = frames_[static_cast<std::size_t>(lane)];
    frames += call.operands[2];
    const bool is_framed = frames > most_frame_bytes;
    if (is_framed || kept.size() > most)
      throw Fault(FaultKind::out_of_bounds, lane, 0,
                  fmt::format("functions have called themselves until their stack was full: {} "
                              "bytes a thread ({})",
                              is_framed ? most_frame_bytes : most,
                              is_framed ? "of local variables" : "CU_LIMIT_STACK_SIZE"));
  });
}

void CallStack::give_back(const Warp& warp, std::uint32_t lanes, const Instruction& call) {
  each_lane(lanes, [&](int lane) {
    std::vector<std::byte>& kept = kept_[static_cast<std::size_t>(lane)];
    std::size_t bytes = call.operands[1];
    each_register(warp, lane, call, [&](const std::byte*, std::size_t each) { bytes += each; });
    const std::byte* from = kept.data() + (kept.size() - bytes);
    each_register(warp, lane, call, [&](std::byte* to, std::size_t each) {
      std::copy_n(from, each, to);
      from += each;
    });
    each_predicate(warp, call, [&](std::uint32_t& predicate) {
      const std::uint32_t bit = 1u << lane;
      predicate = *from++ == std::byte{0} ? predicate & ~bit : predicate | bit;
    });
    kept.resize(kept.size() - bytes);
    frames_[static_cast<std::size_t>(lane)] -= call.operands[2];
  });
}

std::uint32_t find_function(int lane, const std::vector<std::uint32_t>& targets,
                            std::uint64_t pointer) {
  const std::uint64_t number = pointer / function_address_step - 1;
  if (pointer % function_address_step != 0 || number >= targets.size() ||
      targets[number] == no_target)
    fail(FaultKind::illegal_instruction, lane, pointer,
         "a call through a pointer to nothing that it could call");
  return static_cast<std::uint32_t>(number);
}

}  // namespace simgpu
