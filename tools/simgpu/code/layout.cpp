#include "tools/simgpu/code/layout.h"

#include <algorithm>
#include <string>
#include <variant>

#include "tools/simgpu/code/round_up.h"
#include "tools/simgpu/code/specials.h"
#include "tools/simgpu/machine/call_stack.h"

namespace simgpu {
namespace {

/// Whatever the GPU has. CUDA C++ programming guide, technical specifications: more than 48 KB of
/// shared memory is dynamic.
constexpr std::uint64_t most_shared = 48 << 10, most_local = 512 << 10;

/// Bytes one after the other.
struct Heap {
  std::uint64_t most;
  const char* what;
  std::uint64_t used = 0;

  std::uint32_t add(const ptx::Variable& variable) {
    const std::uint64_t offset =
        round_up(used, static_cast<std::uint64_t>(variable.alignment_bytes()));
    used = offset + variable.bytes();
    if (used > most)
      throw ptx::Error(variable.position,
                       std::string(what) + " takes more than " + std::to_string(most) + " bytes");
    return static_cast<std::uint32_t>(offset);
  }
};

class LayoutMaker {
 public:
  LayoutMaker(const ModuleNames& names, Kernel& kernel) : kernel_(kernel) {
    for (const auto& [name, variable] : names.variables)
      if (variable->space == ptx::Space::shared) shared_of_module_[name] = variable;
  }

  /// The variables of a recursive function lie in a frame of their own for each call.
  void add(const ptx::Function& function, bool recursive) {
    Heap frame{most_local, "the local memory of a function"};
    for (const ptx::Statement& statement : function.body)
      if (const auto* variable = std::get_if<ptx::Variable>(&statement))
        add(*variable, recursive ? frame : local_);
    function.each_instruction([this](const ptx::Instruction& made) {
      for (const ptx::Operand& operand : made.operands)
        operand.each_name([this](const std::string& name) { add_named(name); });
    });
    if (frame.used != 0) layout_.frames[&function] = static_cast<std::uint32_t>(frame.used);
  }

  Layout finish() {
    const auto end_of = [](Heap& heap, std::uint64_t alignment) {
      return static_cast<std::uint32_t>(heap.used = round_up(heap.used, alignment));
    };
    kernel_.static_shared_bytes = static_cast<std::uint32_t>(shared_.used);
    if (kernel_.reserved_shared_bytes != 0) {
      kernel_.reserved_shared_offset = end_of(shared_, largest_access);
      shared_.used += kernel_.reserved_shared_bytes;
    }
    kernel_.dynamic_shared_offset = end_of(shared_, dynamic_alignment_);
    layout_.stack_offset = end_of(local_, local_alignment_);
    kernel_.local_bytes = layout_.stack_offset + (layout_.frames.empty() ? 0 : most_frame_bytes);
    // Beside the frames of functions that wait there is room for one of each.
    for (auto& [function, bytes] : layout_.frames) {
      bytes = static_cast<std::uint32_t>(round_up(bytes, local_alignment_));
      kernel_.local_bytes += bytes;
    }
    return std::move(layout_);
  }

 private:
  void add(const ptx::Variable& variable, Heap& local) {
    const auto alignment = static_cast<std::uint64_t>(variable.alignment_bytes());
    if (variable.space == ptx::Space::shared && variable.external)
      dynamic_alignment_ = std::max(dynamic_alignment_, alignment);
    else if (variable.space == ptx::Space::shared && !layout_.offsets.contains(&variable))
      layout_.offsets[&variable] = shared_.add(variable);
    else if (variable.space == ptx::Space::local) {
      layout_.offsets[&variable] = local.add(variable);
      local_alignment_ = std::max(local_alignment_, alignment);
    }
  }

  /// Shared variables of the module are laid out in the kernels that name them.
  void add_named(const std::string& name) {
    if (const auto found = shared_of_module_.find(name); found != shared_of_module_.end())
      add(*found->second, local_);
    if (name.starts_with(reserved_shared_prefix))
      kernel_.reserved_shared_bytes = reserved_shared_bytes;
  }

  std::unordered_map<std::string_view, const ptx::Variable*> shared_of_module_;
  Layout layout_;
  Heap shared_{most_shared, "shared memory that is not dynamic"};
  Heap local_{most_local, "the local memory of a thread"};
  Kernel& kernel_;
  static constexpr std::uint64_t largest_access = 16;
  std::uint64_t dynamic_alignment_ = largest_access, local_alignment_ = largest_access;
};

}  // namespace

Layout lay_out(const ReachedFunctions& functions, const ModuleNames& names, Kernel& kernel) {
  LayoutMaker maker(names, kernel);
  for (const ptx::Function* function : functions.order)
    maker.add(*function, functions.recursive.contains(function));
  return maker.finish();
}

}  // namespace simgpu
