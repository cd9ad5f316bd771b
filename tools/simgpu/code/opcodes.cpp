#ifdef SIMGPU_WITH_AVX2
#include <cpuid.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#include <vector>

#include "tools/simgpu/code/pattern.h"
#include "tools/simgpu/code/plain_name.h"
#include "tools/simgpu/code/word_order.h"
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

using Table = std::unordered_map<std::string_view, std::vector<Opcode>>;

WordOrder make_order() {
  std::vector<std::string_view> names;
  for (const Family& family : families_here())
    for (const Opcode& opcode : family.opcodes) names.push_back(opcode.name);
  return WordOrder(names);
}

Table make_table() {
  Table table;
  for (const Family& family : families_here())
    for (const Opcode& opcode : family.opcodes) table[opcode.name].push_back(opcode);
  return table;
}

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
  static const Table table = make_table();
  auto found = table.find(name);
  if (found == table.end())
    if (const std::optional<std::string> plain = plain_name(name)) found = table.find(*plain);
  if (found == table.end()) return {};
  return found->second;
}

std::optional<std::string> usual_order(std::string_view opcode) {
  if (std::optional<std::string> memory = usual_order_of_memory(opcode)) return memory;
  static const WordOrder order = make_order();
  const std::string_view found = order.find(opcode);
  if (found.empty()) return std::nullopt;
  return std::string(found);
}

}  // namespace simgpu
