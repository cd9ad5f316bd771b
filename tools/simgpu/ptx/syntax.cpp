#include "tools/simgpu/ptx/syntax.h"

namespace simgpu::ptx {

Error::Error(Position position, const std::string& problem)
    : std::runtime_error("PTX line " + std::to_string(position.line) + ", column " +
                         std::to_string(position.column) + ": " + problem),
      position_(position) {}

std::uint64_t Variable::bytes() const {
  if (open) return 0;
  return extent.value_or(1) * static_cast<std::uint64_t>(vector * type.bytes());
}

int Variable::alignment_bytes() const { return alignment != 0 ? alignment : vector * type.bytes(); }

}  // namespace simgpu::ptx
