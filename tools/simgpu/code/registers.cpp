#include "tools/simgpu/code/registers.h"

#include <string>

#include "tools/simgpu/code/round_up.h"

namespace simgpu {
namespace {

constexpr std::uint64_t alignment = 64;  // of the vectors that hosts load
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28;
constexpr std::uint32_t most_predicates = 0xffff;  // Instruction::guard

}  // namespace

std::uint32_t RegisterFile::add_slot(std::uint64_t bytes, ptx::Position position) {
  const std::uint64_t offset = kernel_.register_bytes;
  if (bytes > most_bytes / warp_size || offset + bytes * warp_size > most_bytes - alignment)
    throw ptx::Error(position, "the registers of a warp take more than 256 MiB");
  const std::uint64_t end = offset + bytes * warp_size;
  kernel_.register_bytes = static_cast<std::uint32_t>(round_up(end, alignment));
  return static_cast<std::uint32_t>(offset);
}

Slot RegisterFile::slot_of(const ptx::Variable& variable) {
  const auto [found, is_new] = slots_.try_emplace(&variable);
  if (!is_new) return found->second;
  constexpr std::uint64_t most = 32764;  // as of the parameters of kernels
  const std::uint64_t bytes = variable.bytes();
  if (variable.type.name == "pred")
    throw ptx::Error(variable.position, "the parameter " + variable.name + " is a predicate");
  if (bytes > most)
    throw ptx::Error(variable.position, "the parameter " + variable.name + " takes more than " +
                                            std::to_string(most) + " bytes");
  return found->second = {add_slot(bytes, variable.position), static_cast<std::uint32_t>(bytes)};
}

std::uint32_t RegisterFile::add(int bytes, ptx::Position position) {
  const std::uint32_t offset = add_slot(static_cast<std::uint64_t>(bytes), position);
  bytes_[offset] = bytes;
  return offset;
}

std::uint32_t RegisterFile::add_predicate(ptx::Position position) {
  if (kernel_.predicates > most_predicates) throw ptx::Error(position, "too many predicates");
  return kernel_.predicates++;
}

std::uint32_t RegisterFile::sink(ptx::Position position) {
  constexpr std::uint64_t widest = 16;
  if (!sink_) sink_ = add_slot(widest, position);
  return *sink_;
}

std::uint32_t RegisterFile::predicate_sink(ptx::Position position) {
  if (!predicate_sink_) predicate_sink_ = add_predicate(position);
  return *predicate_sink_;
}

std::uint32_t RegisterFile::add_preset(Preset preset, ptx::Position position) {
  preset.offset = add_slot(static_cast<std::uint64_t>(preset.bytes), position);
  kernel_.presets.push_back(preset);
  return preset.offset;
}

std::uint32_t RegisterFile::preset(const Preset& preset, ptx::Position position) {
  const auto [found, is_new] = presets_.try_emplace({preset.kind, preset.bytes, preset.value}, 0);
  if (is_new) found->second = add_preset(preset, position);
  return found->second;
}

int RegisterFile::bytes(std::uint32_t offset) const {
  const auto found = bytes_.find(offset);
  return found == bytes_.end() ? 0 : found->second;
}

}  // namespace simgpu
