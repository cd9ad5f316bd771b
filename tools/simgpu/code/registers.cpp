#include "tools/simgpu/code/registers.h"

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
  kernel_.register_bytes =
      static_cast<std::uint32_t>((end + alignment - 1) / alignment * alignment);
  return static_cast<std::uint32_t>(offset);
}

std::uint32_t RegisterFile::add(int bytes, ptx::Position position) {
  const std::uint32_t offset = add_slot(static_cast<std::uint64_t>(bytes), position);
  words_[offset] = (bytes + 3) / 4;
  return offset;
}

std::uint32_t RegisterFile::add_predicate(ptx::Position position) {
  if (kernel_.predicates > most_predicates) throw ptx::Error(position, "too many predicates");
  return kernel_.predicates++;
}

std::uint32_t RegisterFile::sink(ptx::Position position) {
  constexpr std::uint64_t widest = 16;
  if (sink_ == no_sink) sink_ = add_slot(widest, position);
  return sink_;
}

std::uint32_t RegisterFile::predicate_sink(ptx::Position position) {
  if (predicate_sink_ == no_sink) predicate_sink_ = add_predicate(position);
  return predicate_sink_;
}

std::uint32_t RegisterFile::add_preset(Preset preset, ptx::Position position) {
  preset.offset = add_slot(static_cast<std::uint64_t>(preset.bytes), position);
  kernel_.presets.push_back(preset);
  return preset.offset;
}

std::uint32_t RegisterFile::find_preset(const Preset& preset, bool dynamic,
                                        ptx::Position position) {
  const PresetKey key{preset.kind, preset.bytes, preset.value, dynamic};
  const auto [found, is_new] = presets_.try_emplace(key, 0);
  if (is_new) {
    if (dynamic) dynamic_.push_back(kernel_.presets.size());
    found->second = add_preset(preset, position);
  }
  return found->second;
}

std::uint32_t RegisterFile::preset(const Preset& preset, ptx::Position position) {
  return find_preset(preset, false, position);
}

std::uint32_t RegisterFile::dynamic_shared_address(int bytes, std::uint64_t added,
                                                   ptx::Position position) {
  return find_preset({Preset::Kind::constant, 0, bytes, added}, true, position);
}

void RegisterFile::place_dynamic_shared(std::uint32_t offset) {
  for (const std::size_t which : dynamic_) kernel_.presets[which].value += offset;
}

int RegisterFile::words(std::uint32_t offset) const {
  const auto found = words_.find(offset);
  return found == words_.end() ? 0 : found->second;
}

}  // namespace simgpu
