#include "tools/simgpu/code/load.h"

#include <algorithm>
#include <charconv>

#include "tools/simgpu/code/call_graph.h"
#include "tools/simgpu/code/decoder.h"
#include "tools/simgpu/code/function_code.h"
#include "tools/simgpu/code/layout.h"
#include "tools/simgpu/code/liveness.h"
#include "tools/simgpu/code/names.h"
#include "tools/simgpu/code/round_up.h"
#include "tools/simgpu/ptx/syntax.h"

namespace simgpu {
namespace {

/// PTX ISA 11.1.2: sm_90 runs there and later, sm_90a there alone, sm_100f in its family.
void check_target(const ptx::Module& module, int architecture) {
  const std::string& target = module.target;
  int asked = 0;
  const char* end = target.data() + target.size();
  const bool named = target.starts_with("sm_") && target.size() > 3;
  if (!named) throw ptx::Error({1, 1}, "the target " + target + " is no architecture");
  const auto [stop, error] = std::from_chars(target.data() + 3, end, asked);
  const std::string_view suffix(stop, static_cast<std::size_t>(end - stop));
  if (error != std::errc() || (!suffix.empty() && suffix != "a" && suffix != "f"))
    throw ptx::Error({1, 1}, "the target " + target + " is no architecture");
  const bool fits = suffix == "a"   ? asked == architecture
                    : suffix == "f" ? asked <= architecture && asked / 10 == architecture / 10
                                    : asked <= architecture;
  if (!fits)
    throw ptx::Error({1, 1},
                     "code for " + target + " does not run on sm_" + std::to_string(architecture));
}

void lay_out_parameters(const ptx::Function& entry, Kernel& kernel) {
  constexpr std::uint64_t most = 32764;  // PTX ISA 5.1.6.1
  std::uint64_t end = 0;
  for (const ptx::Variable& each : entry.parameters) {
    const auto alignment = static_cast<std::uint64_t>(each.alignment_bytes());
    const std::uint64_t offset = round_up(end, alignment);
    end = offset + each.bytes();
    if (each.space != ptx::Space::parameter)
      throw ptx::Error(each.position, "the parameter " + each.name + " of an entry is a register");
    if (end > most)
      throw ptx::Error(each.position, "the parameters of " + entry.name + " take more than " +
                                          std::to_string(most) + " bytes");
    kernel.parameters.push_back(
        {each.name, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(each.bytes())});
  }
  kernel.parameter_bytes = static_cast<std::uint32_t>(end);
}

void set_bounds(const ptx::Function& entry, Kernel& kernel) {
  kernel.exact_threads = entry.exact_threads.has_value();
  kernel.most_threads = entry.exact_threads.value_or(entry.most_threads.value_or(0));
  kernel.most_registers = entry.most_registers.value_or(0);
}

/// A compiler keeps to the bounds that the text sets: rather than take more, it spills.
int most_registers_of(const ptx::Function& entry) {
  std::uint64_t most = 255;                        // of a thread
  constexpr std::uint64_t file_registers = 65536;  // of a multiprocessor
  const std::uint64_t threads = entry.exact_threads.value_or(entry.most_threads.value_or(0));
  const auto blocks = static_cast<std::uint64_t>(std::max(entry.least_blocks.value_or(1), 1));
  if (threads > 0) most = std::clamp<std::uint64_t>(file_registers / (threads * blocks), 1, most);
  if (entry.most_registers)
    most = std::min(most, static_cast<std::uint64_t>(*entry.most_registers));
  return static_cast<int>(most);
}

Kernel make_kernel(const ReachedFunctions& functions, const ModuleNames& names) {
  const ptx::Function& entry = *functions.order.front();
  Kernel kernel;
  kernel.name = entry.name;
  lay_out_parameters(entry, kernel);
  set_bounds(entry, kernel);
  const Layout layout = lay_out(functions, names, kernel);
  KernelParts parts{kernel, names, functions, layout, RegisterFile(kernel), {}, {}, {}, {}};
  if (!layout.frames.empty())
    parts.stack_pointer = parts.registers.add_preset(
        {Preset::Kind::local_address, 0, 8, layout.stack_offset}, entry.position);
  std::vector<FunctionCode> codes;
  for (const ptx::Function* function : functions.order) {
    parts.first[function] = parts.here();
    codes.push_back(Decoder(parts, *function).decode());
  }
  for (const auto& [instruction, callee] : parts.calls)
    kernel.code[instruction].target = parts.first.at(callee);
  for (std::size_t k = 0; k < kernel.code.size(); ++k)
    kernel.code[k].operands = kernel.operands.data() + parts.operand_starts[k];
  for (const FunctionCode& code : codes)
    kernel.registers_per_thread =
        std::max(kernel.registers_per_thread, least_registers(kernel, code, parts.registers));
  kernel.registers_per_thread = std::min(kernel.registers_per_thread, most_registers_of(entry));
  return kernel;
}

std::vector<std::string> files_of(const ptx::Module& module) {
  std::vector<std::string> files;
  for (const auto& [number, name] : module.files) {
    files.resize(static_cast<std::size_t>(number) + 1);
    files.back() = name;
  }
  return files;
}

/// Of all kernels, in instructions and targets of jumps.
constexpr std::size_t most_code = 1 << 23;
constexpr const char* too_long = "the kernels of the module are too long";

std::size_t length_of(const Kernel& kernel) {
  std::size_t length = kernel.code.size();
  for (const auto& targets : kernel.targets) length += targets.size();
  return length;
}

/// Each entry with the functions that lie in its kernel, which is a copy for each.
std::vector<ReachedFunctions> entries_of(const ptx::Module& module, const ModuleNames& names) {
  constexpr std::size_t most_statements = 1 << 23;
  std::vector<ReachedFunctions> entries;
  const std::size_t files = files_of(module).size();
  std::size_t statements = 0;
  for (const ptx::Function& function : module.functions) {
    if (!function.entry || !function.defined) continue;
    entries.push_back(functions_of(function, names));
    statements += entries.back().calls;
    for (const ptx::Function* each : entries.back().order)
      statements += each->body.size() + files + 1;
    if (statements > most_statements) throw ptx::Error(function.position, too_long);
  }
  return entries;
}

}  // namespace

LoadedModule load(std::string_view text, int architecture, const PlaceVariable& place) {
  const ptx::Module module = ptx::parse(text);
  check_target(module, architecture);
  ModuleNames names = names_of(module);
  LoadedModule loaded;
  loaded.variables = place_variables(names, place);
  const std::vector<std::string> files = files_of(module);
  std::size_t code = 0;
  for (const ReachedFunctions& functions : entries_of(module, names)) {
    Kernel kernel = make_kernel(functions, names);
    code += length_of(kernel);
    if (code > most_code) throw ptx::Error(functions.order.front()->position, too_long);
    kernel.files = files;
    loaded.kernels[kernel.name] = std::move(kernel);
  }
  return loaded;
}

}  // namespace simgpu
