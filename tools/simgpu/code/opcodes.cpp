#include "tools/simgpu/code/opcodes.h"

#ifdef SIMGPU_WITH_AVX2
#include <cpuid.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/simgpu/code/opcode_name.h"
#include "tools/simgpu/lanes/families.h"
#include "tools/simgpu/machine/settings.h"

namespace simgpu {
namespace {

template <void (*add_opcodes)(OpcodeTable&)>
const std::vector<Family>& families_of() {
  static const OpcodeTable table = [] {
    OpcodeTable made;
    add_opcodes(made);
    return made;
  }();
  return table.families();
}

const std::vector<Family>& families_here() {
  const std::vector<HostIsa> isas = host_isas();
  const std::string& asked = settings().cpu;
  if (asked.empty()) return isas.back().families();
  for (const HostIsa& isa : isas)
    if (isa.name == asked) return isa.families();
  std::fprintf(stderr, "simgpu: SIMGPU_CPU=%s: this machine or build has no such instructions\n",
               asked.c_str());
  std::abort();
}

class Table {
 public:
  Table() {
    for (const Family& family : families_here())
      for (const Opcode& each : family.opcodes) {
        entries_[each.name].push_back(each);
        // Where the same words make two names, these are one opcode.
        usual_order_.emplace(order_key(each.name), each.name);
      }
  }

  std::span<const Opcode> find(std::string_view name) const {
    auto found = entries_.find(name);
    if (found == entries_.end())
      if (const std::optional<std::string> plain = memory_name(name)) found = entries_.find(*plain);
    if (found != entries_.end()) return found->second;
    const auto usual = usual_order_.find(order_key(name));
    if (usual == usual_order_.end()) return {};
    return entries_.at(usual->second);
  }

 private:
  std::unordered_map<std::string_view, std::vector<Opcode>> entries_;
  std::unordered_map<std::string, std::string_view> usual_order_;
};

#ifdef SIMGPU_WITH_AVX2
bool has_avx2() {
  // No name of __builtin_cpu_supports says f16c to every compiler.
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

}  // namespace

void OpcodeTable::begin(const char* family) { families_.push_back({family, {}}); }

void OpcodeTable::add(Parts name, Parts pattern, Execute all, Execute some, Control control,
                      std::uint8_t members) {
  families_.back().opcodes.push_back({keep(name), keep(pattern), all, some, control, members});
}

void OpcodeTable::add(Parts name, Parts pattern, Execute run, Control control,
                      std::uint8_t members) {
  add(name, pattern, run, run, control, members);
}

std::string_view OpcodeTable::keep(Parts parts) {
  std::string text;
  for (const char* part : parts) text += part;
  return *texts_.insert(std::move(text)).first;
}

std::vector<HostIsa> host_isas() {
  std::vector<HostIsa> isas = {{"portable", families_of<portable::add_opcodes>}};
#ifdef SIMGPU_WITH_AVX2
  if (has_avx2()) isas.push_back({"avx2", families_of<avx2::add_opcodes>});
#endif
  return isas;
}

std::span<const Opcode> opcodes(std::string_view name) {
  static const Table table;
  return table.find(name);
}

}  // namespace simgpu
