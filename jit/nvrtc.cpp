#include "jit/nvrtc.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "jit/prelude.h"
#include "runtime/cuda/nvrtc_library.h"
#include "runtime/error.h"

namespace sinter::jit {
namespace {

using cuda::NvrtcLibrary;
using cuda::NvrtcProgram;
using cuda::NvrtcResult;

/// Keeps a source that failed, for a report; nothing where that fails too.
std::string keep_source(const std::string& source) {
  std::error_code error;
  std::string path = std::filesystem::temp_directory_path(error) / "sinter-failed-XXXXXX.cu";
  const int file = ::mkstemps(path.data(), 3);
  if (file < 0) return {};
  const auto written = ::write(file, source.data(), source.size());
  if (::close(file) == 0 && written == static_cast<ssize_t>(source.size())) return path;
  ::unlink(path.c_str());
  return {};
}

class Program {
 public:
  Program(const NvrtcLibrary& nvrtc, const std::string& source) : nvrtc_(nvrtc), source_(source) {
    check(nvrtc.CreateProgram(&program_, source.c_str(), "kernels.cu", 0, nullptr, nullptr));
  }
  ~Program() { nvrtc_.DestroyProgram(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  CudaCode compile(int architecture) {
    const std::string target = fmt::format("--gpu-architecture=sm_{}", architecture);
    const std::array options = {target.c_str(), "--std=c++20",
                                "--device-as-default-execution-space", "--fmad=false",
                                "--ftz=false", "--prec-div=true", "--prec-sqrt=true",
                                // Sets a limit of the whole process otherwise.
                                "--modify-stack-limit=false",
                                // Without the declarations that kernels do not use: half the time.
                                "--minimal", "--disable-warnings", "--ptxas-options=-v"};
    check(nvrtc_.CompileProgram(program_, static_cast<int>(options.size()), options.data()));
    std::string messages = log();
    auto kernels = parse_resources(messages);
    return {text(nvrtc_.GetPTXSize, nvrtc_.GetPTX), text(nvrtc_.GetCUBINSize, nvrtc_.GetCUBIN),
            std::move(messages), std::move(kernels)};
  }

 private:
  std::string text(NvrtcResult (*size)(NvrtcProgram*, std::size_t*),
                   NvrtcResult (*get)(NvrtcProgram*, char*)) const {
    std::size_t bytes = 0;
    check(size(program_, &bytes));
    std::string result(bytes, '\0');
    check(get(program_, result.data()));
    return result;
  }
  std::string log() const {
    std::size_t bytes = 0;
    if (program_ == nullptr || nvrtc_.GetProgramLogSize(program_, &bytes) != 0 || bytes < 2)
      return {};
    std::string messages(bytes, '\0');
    if (nvrtc_.GetProgramLog(program_, messages.data()) != 0) return {};
    messages.pop_back();  // the terminating zero
    return messages;
  }
  void check(NvrtcResult result) const {
    if (result == 0) return;
    const std::string messages = log(), kept = keep_source(source_);
    const std::string place = kept.empty() ? "nowhere, since no file could be written" : kept;
    throw CompileError(
        fmt::format("NVRTC {}.{}: {}; the source is kept in {}; it printed:\n{}", nvrtc_.major,
                    nvrtc_.minor, nvrtc_.GetErrorString(result), place, messages),
        messages, kept);
  }

  const NvrtcLibrary& nvrtc_;
  const std::string& source_;
  NvrtcProgram* program_ = nullptr;
};

/// The number before `what` in a line, or 0: `12 bytes spill stores`.
int number_before(std::string_view line, std::string_view what) {
  const std::size_t end = line.find(what);
  if (end == std::string_view::npos || end == 0) return 0;
  const std::size_t space = line.find_last_not_of("0123456789", end - 1);
  const std::size_t begin = space == std::string_view::npos ? 0 : space + 1;
  int number = 0;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

}  // namespace

std::string cuda_source(std::string_view kernels) {
  return fmt::format("{}namespace sinter::kernels {{\n{}}}\n", cuda_prelude(), kernels);
}

std::vector<KernelResources> parse_resources(const std::string& log) {
  static constexpr std::string_view entry = "Compiling entry function '";
  std::vector<KernelResources> kernels;
  std::string_view rest = log;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (const std::size_t at = line.find(entry); at != std::string_view::npos) {
      const std::string_view name = line.substr(at + entry.size());
      kernels.push_back({.name = std::string(name.substr(0, name.find('\'')))});
    } else if (!kernels.empty()) {
      KernelResources& kernel = kernels.back();
      kernel.spilled +=
          number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
      kernel.registers += number_before(line, " registers");
      kernel.stack += number_before(line, " bytes cumulative stack size");
      kernel.shared_memory += number_before(line, " bytes smem");
    }
  }
  return kernels;
}

std::optional<CudaCode> compile_cuda(const std::string& source, int architecture) {
  const NvrtcLibrary* nvrtc = cuda::nvrtc_library();
  if (nvrtc == nullptr) return std::nullopt;
  return Program(*nvrtc, source).compile(architecture);
}

}  // namespace sinter::jit
